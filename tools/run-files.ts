import { constants } from "node:os";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { reportSlowFiles } from "./slow-files.ts";

type Limits = {
  /** Files that run at once. */
  concurrency: number;
  /** For a test and for a hook. */
  testMs: number;
  /** From a file's last test to the end of its process, its hooks included. */
  endMs: number;
};

/**
 * Runs test files in this order and prints what they tell, the summary and the
 * slowest files: by node's runner within this process, since its command line
 * would sort the files. Files are paths from `root`. Returns the exit status:
 * not 0 when a test failed, a file did not end, or its results are missing.
 */
export async function runFiles(root: string, files: readonly string[], limits: Limits): Promise<number> {
  const stopping = new AbortController();
  let status = 0;
  const stop = (signal: NodeJS.Signals): void => {
    status = 128 + constants.signals[signal];
    // The files that run are ended and reported, and then we stop the server.
    stopping.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const events = run({
    files: files.map((file) => join(root, file)),
    concurrency: limits.concurrency,
    timeout: limits.testMs,
    execArgv: [
      // Most files live for seconds and load hundreds of modules meanwhile: collecting that garbage took a seventh of their CPU.
      "--min-semi-space-size=16",
      ...["untracked-promises.ts", `left-open.ts?limit=${limits.endMs}`].flatMap((file) => [
        "--import",
        new URL(file, import.meta.url).href,
      ]),
    ],
    signal: stopping.signal,
    cwd: root,
  });
  const silent = new Set(files);
  events.on("test:fail", ({ file }) => {
    status ||= 1;
    if (file !== undefined) silent.delete(relative(root, file));
  });
  events.on("test:summary", ({ file, success }) => {
    if (file !== undefined) silent.delete(relative(root, file));
    // What goes wrong in this process is no test's: node notes it in the summary of the whole alone.
    else if (!success) status ||= 1;
  });
  const reports = [events.compose(spec), events.compose(reportSlowFiles)];
  try {
    await Promise.all(reports.map((report) => pipeline(report, process.stdout, { end: false })));
  } catch (error) {
    // Nobody reads the results any more.
    stopping.abort();
    throw error;
  }
  process.off("SIGINT", stop).off("SIGTERM", stop);
  if (silent.size === 0) return status;
  console.error(`\nNo results came from ${[...silent].join(", ")}.`);
  return status || 1;
}
