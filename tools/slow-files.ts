/** A reporter of node's test runner: at the end of a run, the tenth of the files that took longest. */
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

type FileTime = { file: string; seconds: number };

export async function* reportSlowFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: FileTime[] = [];
  for await (const { type, data } of events) {
    if (type !== "test:summary" || data.file === undefined) continue;
    files.push({ file: relative(process.cwd(), data.file), seconds: data.duration_ms / 1000 });
  }
  files.sort((one, other) => other.seconds - one.seconds);
  const slowest = files.slice(0, Math.ceil(files.length / 10));
  const share = totalOf(files) === 0 ? 0 : totalOf(slowest) / totalOf(files);
  const lines = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}\n`);
  yield `\nThe slowest ${slowest.length} of ${files.length} files took ${Math.round(share * 100)} % of ${Math.round(totalOf(files))} s:\n${lines.join("")}`;
}

function totalOf(files: readonly FileTime[]): number {
  return files.reduce((sum, { seconds }) => sum + seconds, 0);
}
