/** One test file in a process of its own, stopped with all its children at the first failure or when its time is over. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export type FileResult =
  | { kind: "passed"; tookMs: number; longestTestMs: number }
  /** `isLate`: by a limit of time, which a busy machine may have caused. */
  | { kind: "failed"; tookMs: number; why: string; isLate: boolean }
  | { kind: "overdue"; tookMs: number };

const HOOK = import.meta.resolve("./hook.mjs");
const FAILED_TEST = /^ *not ok \d+ - (.*)$/m;
const LATE = /in vain for|timed? ?out|time limit|no end after/i;
// Enough for the hooks that follow a failed test to take down what they started.
const GRACE_MS = 300;

const running = new Set<number>();
// Stryker's process is gone, as after Ctrl-C: a group of its own does not end with it.
process.once("disconnect", () => {
  running.forEach(killGroup);
  process.exit();
});

export async function runTestFile(
  file: string,
  limitMs: number,
  env: Readonly<Record<string, string>>,
): Promise<FileResult> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--test-reporter=tap", file], {
    // Under node's own test runner, a file would report in another form.
    env: { ...process.env, ...env, NODE_OPTIONS: `--import=${HOOK}`, NODE_TEST_CONTEXT: undefined },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that the programs that it starts end with it.
    detached: true,
  });
  let isOverdue = false;
  let output = "";
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => killGroup(child.pid ?? 0);
  if (child.pid !== undefined) running.add(child.pid);
  const limit = setTimeout(() => {
    isOverdue = true;
    stop();
  }, limitMs);
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (grace === undefined && FAILED_TEST.test(output)) grace = setTimeout(stop, GRACE_MS);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const [code] = await once(child, "exit");
  stop();
  if (child.pid !== undefined) running.delete(child.pid);
  clearTimeout(limit);
  clearTimeout(grace);
  const tookMs = performance.now() - startedAt;
  const failed = FAILED_TEST.exec(output)?.[1];
  const isLate = LATE.test(output);
  if (failed !== undefined) return { kind: "failed", tookMs, why: failed, isLate };
  if (isOverdue) return { kind: "overdue", tookMs };
  return code === 0
    ? { kind: "passed", tookMs, longestTestMs: longestOf(output) }
    : { kind: "failed", tookMs, why: output.slice(-2000), isLate };
}

/** Of the tests that wait for something; a suite is as long as all of its tests. */
function longestOf(output: string): number {
  const times = [...output.matchAll(/^ *duration_ms: ([\d.]+)\n *type: 'test'$/gm)];
  return Math.max(0, ...times.map(([, ms = ""]) => Number(ms)));
}

function killGroup(pid: number): void {
  // 0 would be this process's own group.
  if (pid === 0) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended by itself.
  }
}
