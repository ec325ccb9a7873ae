/** What a command's `--help` prints. */
import { renderUsage, type ArgDef, type ArgsDef, type CommandDef } from "citty";

/** Longer lists of choices are left out: citty indents every line by the longest option. */
const MAX_CHOICES_LENGTH = 60;

export async function usageOf<T extends ArgsDef>(
  command: CommandDef<T>,
  parent?: CommandDef<T>,
): Promise<string> {
  const args: ArgsDef = (await (typeof command.args === "function" ? command.args() : command.args)) ?? {};
  const shown = Object.entries(args).map(([name, arg]) => [name, withoutLongChoices(arg)] as const);
  const { meta, subCommands } = command;
  return renderUsage(
    { ...(meta && { meta }), ...(subCommands && { subCommands }), args: Object.fromEntries(shown) },
    parent?.meta && { meta: parent.meta },
  );
}

function withoutLongChoices(arg: ArgDef): ArgDef {
  if (arg.type !== "enum" || (arg.options ?? []).join("|").length <= MAX_CHOICES_LENGTH) return arg;
  const { options: _, ...rest } = arg;
  return { ...rest, type: "string" };
}
