/** A command that tells an operator's mistake in a line or two, and every other fault whole. */
import { ConfigError } from "../shared/config-error.ts";

export async function withClearErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ConfigError) console.error(`postern cannot start:\n${indent(error.message)}`);
    else console.error(error);
    // What was already started must not keep a process alive that cannot do its work.
    process.exit(1);
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
