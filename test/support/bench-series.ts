/** Series of `bench/`, run short as a test. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Runs so many rounds, and answers all that was printed, of which the last line is the result. */
export async function runSeries(file: string, rounds: number, signal: AbortSignal) {
  const script = join(import.meta.dirname, "..", "..", "bench", file);
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(rounds)], { signal });
  return { stdout, result: stdout.trim().split("\n").at(-1) ?? "" };
}
