/** Other processes of this machine, as Linux shows them in /proc. */
import { readdirSync, readFileSync } from "node:fs";

type Shown = {
  pid: number;
  parent: number;
  group: number;
  /** Its program and arguments. */
  words: string[];
};

export function childrenOf(pid: number): Shown[] {
  return processIds()
    .flatMap((one) => processOf(one) ?? [])
    .filter(({ parent }) => parent === pid);
}

/** Of all that run now. */
export function processIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Undefined where it has ended. */
export function processOf(pid: number): Shown | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name stands in parentheses and may hold some.
    const [, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return { pid, parent: Number(parent), group: Number(group), words };
  } catch {
    return undefined;
  }
}
