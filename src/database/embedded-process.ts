/**
 * Questions about other processes of this machine.
 *
 * A process id alone says little: after a reboot, or a container restart, the
 * same number is another process. So a process is remembered by its id together
 * with the time it started.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export type ProcessMark = { pid: number; startedAt: string };

/** The mark of this process, to be written where others look for it. */
export function ownMark(): ProcessMark {
  return { pid: process.pid, startedAt: startTimeOf(process.pid) ?? "" };
}

/** Whether the marked process still runs (and its id was not given to another since). */
export function isRunning(mark: ProcessMark): boolean {
  const startedAt = startTimeOf(mark.pid);
  return startedAt !== undefined && startedAt === mark.startedAt;
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
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("pid" in value) || !("startedAt" in value)) {
      return undefined;
    }
    const { pid, startedAt } = value;
    if (typeof pid !== "number" || typeof startedAt !== "string") return undefined;
    return { pid, startedAt };
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
  if (stat === "" || state === "Z" || state === "X") return undefined;
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
