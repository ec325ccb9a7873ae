/** What a command's `--help` prints. */
import { renderUsage, type ArgDef, type ArgsDef, type CommandDef, type CommandMeta } from "citty";
import { VERSION } from "../shared/version.ts";

/** Longer lists of choices are left out: citty indents every line by the longest option. */
const MAX_CHOICES_LENGTH = 60;

/** @param words the whole command line behind `postern`: citty names the group above a command alone */
export async function usageOf<T extends ArgsDef>(
  command: CommandDef<T>,
  words: readonly string[],
): Promise<string> {
  const args: ArgsDef = (await (typeof command.args === "function" ? command.args() : command.args)) ?? {};
  const shown = Object.entries(args).map(([name, arg]) => [name, withoutLongChoices(arg)] as const);
  const { subCommands } = command;
  const meta: CommandMeta =
    (await (typeof command.meta === "function" ? command.meta() : command.meta)) ?? {};
  const above = words
    .slice(0, Math.max(0, words.indexOf(meta.name ?? "")))
    .filter((word) => !word.startsWith("-"));
  const name = ["postern", ...above].join(" ");
  return renderUsage(
    { meta, ...(subCommands && { subCommands }), args: Object.fromEntries(shown) },
    meta.name === "postern" ? undefined : { meta: { name, version: VERSION } },
  );
}

function withoutLongChoices(arg: ArgDef): ArgDef {
  if (arg.type !== "enum" || (arg.options ?? []).join("|").length <= MAX_CHOICES_LENGTH) return arg;
  const { options: _, ...rest } = arg;
  return { ...rest, type: "string" };
}
