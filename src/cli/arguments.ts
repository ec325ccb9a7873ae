/**
 * Checks what was typed against what the command takes, before it runs. citty
 * drops options that it doesn't know, so `storage erase --objct …` would erase
 * everything: here a slip is refused, for every command, before anything happens.
 */
import { parseArgs } from "node:util";
import type { ArgDef, ArgsDef, CommandDef, Resolvable } from "citty";
import { nearName } from "../shared/near-name.ts";

type Given = { options: Map<string, string | undefined>; positionals: string[] };

/** What was typed is not what a command takes; the message says what it does take. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `help` and `version` as words, as other programs have them, are the options. */
export function withOptionsForWords(words: readonly string[]): readonly string[] {
  const [first, ...rest] = words;
  if (first === "help") return [...rest, "--help"];
  return first === "version" && rest.length === 0 ? ["--version"] : words;
}

/** True when a command's help, or behind `postern` alone its version, is asked for: citty shows it, and runs nothing. */
function asksForHelp(words: readonly string[]): boolean {
  return words.includes("--help") || words.includes("-h") || (words.length === 1 && words[0] === "--version");
}

/**
 * Throws UsageError when `words` name no command, or are not what it takes.
 *
 * @param words as typed behind `postern`
 */
export async function checkArguments(command: CommandDef, words: readonly string[]): Promise<void> {
  if (!asksForHelp(words)) await checkCommand(command, words);
}

async function checkCommand(command: CommandDef, words: readonly string[]): Promise<void> {
  const subCommands = await resolve(command.subCommands);
  if (subCommands === undefined) return checkOwn(await resolve(command.args), words);
  const [name, ...rest] = words;
  const names = Object.keys(subCommands);
  if (name === undefined) throw new UsageError(`which command? One of ${names.join(", ")}`);
  const subCommand = Object.hasOwn(subCommands, name) ? await resolve(subCommands[name]) : undefined;
  if (subCommand === undefined) throw new UsageError(`there is no command ${name}${orNearest(name, names)}`);
  return checkCommand(subCommand, rest);
}

function checkOwn(args: ArgsDef = {}, words: readonly string[]): void {
  const given = readWords(args, words);
  const places = Object.entries(args).filter(([, { type }]) => type === "positional");
  const [surplus] = given.positionals.slice(places.length);
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)} is one argument too many`);
  for (const [name, arg] of Object.entries(args)) {
    if (arg.type === "positional") continue;
    if (!given.options.has(name)) {
      if (arg.required === true) throw new UsageError(`--${name} is missing: ${arg.description}`);
      continue;
    }
    checkValue(name, arg, given.options.get(name));
  }
  const [missing] = places.filter(([, { required }]) => required === true).slice(given.positionals.length);
  if (missing !== undefined)
    throw new UsageError(`${missing[0].toUpperCase()} is missing: ${missing[1].description}`);
}

function readWords(args: ArgsDef, words: readonly string[]): Given {
  const names = Object.keys(args).filter((name) => args[name]?.type !== "positional");
  const options = Object.fromEntries(
    names.map((name) => [name, { type: args[name]?.type === "boolean" ? "boolean" : "string" } as const]),
  );
  const { tokens, positionals } = parseArgs({
    args: [...words],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    if (!names.includes(name)) {
      if (args[name]?.type === "positional")
        throw new UsageError(`${name.toUpperCase()} is given without ${rawName}`);
      throw new UsageError(`there is no option ${rawName}${orNearest(name, names, "--")}`);
    }
    if (given.has(name)) throw new UsageError(`${rawName} is given twice`);
    const isNextOption = inlineValue === false && value?.startsWith("-");
    if (isNextOption) throw new UsageError(`${rawName} needs a value, and ${value} looks like an option`);
    given.set(name, value);
  }
  return { options: given, positionals };
}

function checkValue(name: string, arg: ArgDef, value: string | undefined): void {
  if (arg.type === "boolean") {
    if (value !== undefined) throw new UsageError(`--${name} takes no value`);
    return;
  }
  if (value === undefined || value === "")
    throw new UsageError(`--${name} needs a value: ${arg.description}`);
  if (arg.type === "enum" && arg.options?.includes(value) === false) {
    throw new UsageError(`--${name} is one of ${arg.options.join(", ")}, not ${JSON.stringify(value)}`);
  }
}

/** The name that was most likely meant, or all there are. */
function orNearest(typed: string, names: readonly string[], prefix = ""): string {
  if (names.length === 0) return ": the command takes none";
  const meant = nearName(typed, names);
  return meant === null
    ? `; it takes ${names.map((name) => `${prefix}${name}`).join(", ")}`
    : `: did you mean ${prefix}${meant}?`;
}

async function resolve<T extends object>(value: Resolvable<T> | undefined): Promise<T | undefined> {
  return typeof value === "function" ? value() : value;
}
