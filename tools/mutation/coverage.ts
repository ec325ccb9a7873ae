/** Which mutants a test file reached, and how often. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** By mutant. The counts are powers of two, rounded down, and end at 256 in each thread. */
export type Coverage = Record<string, number>;

/** Runs it with an empty folder for `hook.mjs` and answers what was recorded there. */
export async function recordCoverage<Result>(
  run: (folder: string) => Promise<Result>,
): Promise<{ result: Result; reached: Coverage }> {
  const folder = await mkdtemp(join(tmpdir(), "postern-mutation-"));
  try {
    const result = await run(folder);
    return { result, reached: await readCoverage(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Of all threads of all processes that a test file ran. */
async function readCoverage(folder: string): Promise<Coverage> {
  const sum: Coverage = {};
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), "utf8");
    // The last line of a mutant has its highest count. One that was cut off has no line break.
    const lines = [...text.matchAll(/^(\d+) (\d+)\n/gm)];
    const counts = new Map(lines.map(([, id = "", count = ""]) => [id, Number(count)]));
    for (const [id, count] of counts) sum[id] = (sum[id] ?? 0) + count;
  }
  return sum;
}
