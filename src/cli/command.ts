/** Runs a command; prints an operator's mistake in a line or two, and any other fault whole. */
import { describeMistake } from "./mistakes.ts";

export async function withClearErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const mistake = describeMistake(error);
    if (mistake === null) console.error(error);
    else console.error(`postern:\n${indent(mistake)}`);
    // What was already started must not keep a process alive that cannot do its work.
    process.exit(1);
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
