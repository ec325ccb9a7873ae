/** A command of `postern` within this process: for what a program of its own would take half a second to say. */
import { mock } from "node:test";
import { runCommand } from "citty";
import { commands } from "../../src/cli/commands.ts";
import type { Environment } from "../../src/config.ts";

/** `printed` is standard output, `errors` standard error. */
export type Ran = { code: number; printed: string; errors: string };

class Exited extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`it ended with ${code}`);
    this.code = code;
  }
}

/** Runs work as the program runs a command: what it writes and how it ends. One at a time. */
export async function captured(work: () => Promise<unknown>, env: Environment = {}): Promise<Ran> {
  const [printed, errors]: [string[], string[]] = [[], []];
  const { env: former, exitCode: formerCode } = process;
  process.exitCode = undefined;
  const mocks = [
    mock.method(console, "log", (text: unknown) => void printed.push(`${String(text)}\n`)),
    mock.method(console, "error", (text: unknown) => void errors.push(`${String(text)}\n`)),
    mock.method(process.stderr, "write", (text: unknown) => errors.push(String(text)) > 0),
    mock.method(process, "exit", (code: number) => {
      throw new Exited(code);
    }),
  ];
  process.env = { ...former, ...env };
  let code: unknown = null;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    ({ code } = error);
  } finally {
    for (const { mock: one } of mocks) one.restore();
    process.env = former;
    code ??= process.exitCode;
    process.exitCode = formerCode;
  }
  return { code: Number(code ?? 0), printed: printed.join(""), errors: errors.join("") };
}

export function runHere(words: readonly string[], env: Environment): Promise<Ran> {
  return captured(() => runCommand(commands, { rawArgs: [...words] }), env);
}
