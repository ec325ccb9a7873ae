/**
 * Finds workers that died and frees their leases, so that what they held is
 * sent after seconds and not when the leases end.
 */
import type { Db } from "../../database/pool.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Presence } from "../queue.ts";
import {
  findUnheldWorkers,
  freeLeasesOfDead,
  markWorkerDead,
  removeDeadWorker,
  type UnheldWorker,
} from "./presence-store.ts";
import { Suspects } from "./suspects.ts";

/** How often to look: with the time below, a dead worker's leases are free within 5 seconds. */
export const FREE_LEASES_EVERY_MS = 500;
/** Longer than a worker starts attempts after its last confirmation. */
const DEAD_AFTER_MS = 4000;

export type DeadWorkers = { look(): Promise<void> };

/** The table of workers, and of their leases. */
export type WorkerTable = {
  findUnheld(): Promise<UnheldWorker[]>;
  /** False if the worker lives, or was declared dead before. */
  markDead(firstLeaseId: string, silentMs: number): Promise<boolean>;
  /** True when there may be more. */
  freeSome(firstLeaseId: string): Promise<boolean>;
  removeDead(firstLeaseId: string): Promise<void>;
};

export function workerTable(db: Db): WorkerTable {
  return {
    findUnheld: () => findUnheldWorkers(db),
    markDead: (firstLeaseId, silentMs) => markWorkerDead(db, firstLeaseId, silentMs),
    freeSome: (firstLeaseId) => freeLeasesOfDead(db, firstLeaseId),
    removeDead: (firstLeaseId) => removeDeadWorker(db, firstLeaseId),
  };
}

export function makeDeadWorkers(services: {
  table: WorkerTable;
  presence: Presence;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "deadWorkers">;
}): DeadWorkers {
  const { table, presence, clock, log, metrics } = services;
  const suspects = new Suspects(DEAD_AFTER_MS);

  async function free(firstLeaseId: string): Promise<void> {
    while (await table.freeSome(firstLeaseId));
    await table.removeDead(firstLeaseId);
  }

  return {
    async look() {
      // What takes this worker's own session may have taken the others' too.
      if (!presence.isConfirmed()) return suspects.forget();
      const unheld = await table.findUnheld().catch((error: unknown) => {
        suspects.forget();
        throw error;
      });
      for (const firstLeaseId of suspects.note(unheld, clock.nowMs())) {
        if (!(await table.markDead(firstLeaseId, DEAD_AFTER_MS))) continue;
        metrics.deadWorkers.inc();
        log.warn({ worker: firstLeaseId }, "a worker died; its leases are freed");
        await free(firstLeaseId);
      }
      // The worker that found these dead has died since, or is freeing them now.
      for (const { firstLeaseId, isDead } of unheld) if (isDead) await free(firstLeaseId);
    },
  };
}
