import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { ConfigError } from "../shared/config-error.ts";

/** Asks at a terminal; elsewhere, and for any answer but yes, it ends the command. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new ConfigError(`${question} Add --yes.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D reject the question. A terminal that is gone leaves it open.
  const isClosed = once(lines, "close").then(() => null);
  const asked = lines.question(`${question} Type yes: `).catch(() => null);
  const answer = await Promise.race([asked, isClosed]);
  lines.close();
  if (answer === null) process.stderr.write("\n");
  if (answer?.trim() !== "yes") throw new ConfigError("nothing was erased");
}
