/**
 * Questions about other processes of this machine.
 *
 * A process id alone says little: after a reboot, or a container restart, the
 * same number is another process. So a process is remembered by its id together
 * with the time it started.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as z from "zod";

const markSchema = z.object({ pid: z.number(), startedAt: z.string() });
export type ProcessMark = z.infer<typeof markSchema>;

/** The mark of this process, to be written where others look for it. */
export function ownMark(): ProcessMark {
  return { pid: process.pid, startedAt: startTimeOf(process.pid) ?? "" };
}

/** Whether the marked process still runs (and its id was not given to another since). */
export function isRunning(mark: ProcessMark): boolean {
  return startTimeOf(mark.pid) === mark.startedAt;
}

/** Whether `pid` runs and is the PostgreSQL server of the cluster folder. */
export function isServerOf(pid: number, cluster: string): boolean {
  if (startTimeOf(pid) === undefined) return false;
  if (process.platform === "linux") {
    return readOr(`/proc/${pid}/cmdline`, "").split("\0").includes(cluster);
  }
  return ps(pid, "command").includes(cluster);
}

/** Reads a mark back from JSON; undefined where the text is not one (a torn or foreign file). */
export function parseMark(text: string): ProcessMark | undefined {
  try {
    return markSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Undefined where no such process runs; one that only awaits its parent's `wait` does not run. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    const started = ps(pid, "lstart").trim();
    return started === "" ? undefined : started;
  }
  // The second field is the program's name in parentheses and may hold spaces: count from its end.
  const stat = readOr(`/proc/${pid}/stat`, "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined;
  return fields[19];
}

function ps(pid: number, column: string): string {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", `${column}=`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return fallback;
  }
}
