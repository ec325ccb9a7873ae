/**
 * The newest timeline of each cluster, kept over restarts: a process that starts
 * while the primary is away must not take a former one for it.
 *
 * Each is an empty file, `<system identifier>.<timeline>`. Processes that share
 * the folder need no lock: a file is made and never changed, and the highest counts.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TimelineMemory } from "./hosts.ts";
import type { DatabaseLog } from "../log.ts";
import { messageOf } from "../../shared/message-of.ts";

const FILE = /^([0-9]+)\.([0-9]+)$/;

/** A folder that can't be used is logged, and ends nothing: within this process the timeline is remembered anyway. */
export function openTimelineFolder(dataDir: string, log: DatabaseLog): TimelineMemory {
  const folder = join(dataDir, "timelines");

  function timelinesOf(system: string): number[] {
    const files = existsSync(folder) ? readdirSync(folder) : [];
    return files.flatMap((file) => {
      const [, ofSystem, timeline] = FILE.exec(file) ?? [];
      return ofSystem === system ? [Number(timeline)] : [];
    });
  }

  function tried<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (error) {
      log.warn(`The database's timeline is not kept over a restart: ${messageOf(error)}`);
      return otherwise;
    }
  }

  return {
    timelineOf: (system) => tried(() => Math.max(0, ...timelinesOf(system)), 0),
    raise: (system, timeline) =>
      tried(() => {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `${system}.${timeline}`), "");
        for (const older of timelinesOf(system).filter((other) => other < timeline)) {
          rmSync(join(folder, `${system}.${older}`), { force: true });
        }
      }, undefined),
  };
}
