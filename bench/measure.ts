/** What processes cost, read from /proc: CPU seconds and memory. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** CPU seconds of one process so far, user and system. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU seconds of a process and all that descend from it, those that have ended included. */
export function familyCpuSeconds(pid: number): number {
  // Before the process itself: a child that ends in between is counted by its parent.
  const children = childrenOf(pid).reduce((sum, child) => sum + descendantCpuSeconds(child), 0);
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const reaped = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  return cpuSeconds(pid) + reaped + children;
}

function descendantCpuSeconds(pid: number): number {
  try {
    return familyCpuSeconds(pid);
  } catch {
    // It ended while we looked.
    return 0;
  }
}

/** Resident memory now and at its highest, in MiB. */
export function memoryMib(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: Math.round(read("VmRSS")), peak: Math.round(read("VmHWM")) };
}

/** The value below which `fraction` of the values lie. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      const parent = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1];
      if (Number(parent) === pid) children.push(Number(name));
    } catch {
      // It ended while we looked.
    }
  }
  return children;
}
