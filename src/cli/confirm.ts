import { createInterface } from "node:readline/promises";
import { ConfigError } from "../shared/config-error.ts";

/** Asks at a terminal; elsewhere, and for any answer but yes, it ends the command. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new ConfigError(`${question} Add --yes.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} Type yes: `);
  lines.close();
  if (answer.trim() !== "yes") throw new ConfigError("nothing was erased");
}
