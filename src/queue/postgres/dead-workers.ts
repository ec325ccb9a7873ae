/**
 * Finds workers that died and frees their leases, so that what they held is
 * sent after seconds and not when the leases end.
 */
import type { Pool } from "../../database/pool.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Presence } from "../queue.ts";
import { findUnheldWorkers, freeLeasesOfDead, markWorkerDead, removeDeadWorker } from "./presence-store.ts";
import { Suspects } from "./suspects.ts";

/** Longer than a worker starts attempts after its last confirmation. */
const DEAD_AFTER_MS = 4000;

export type DeadWorkers = { look(): Promise<void> };

export function makeDeadWorkers(services: {
  db: Pool;
  presence: Presence;
  log: Log;
  metrics: Pick<Metrics, "deadWorkers">;
}): DeadWorkers {
  const { db, presence, log, metrics } = services;
  const suspects = new Suspects(DEAD_AFTER_MS);

  async function free(firstLeaseId: string): Promise<void> {
    while (await freeLeasesOfDead(db, firstLeaseId));
    await removeDeadWorker(db, firstLeaseId);
  }

  return {
    async look() {
      // What takes this worker's own session may have taken the others' too.
      if (!presence.isConfirmed()) return suspects.forget();
      const unheld = await findUnheldWorkers(db).catch((error: unknown) => {
        suspects.forget();
        throw error;
      });
      for (const firstLeaseId of suspects.note(unheld, performance.now())) {
        if (!(await markWorkerDead(db, firstLeaseId, DEAD_AFTER_MS))) continue;
        metrics.deadWorkers.inc();
        log.warn({ worker: firstLeaseId }, "a worker died; its leases are freed");
        await free(firstLeaseId);
      }
      // The worker that found these dead has died since, or is freeing them now.
      for (const { firstLeaseId, isDead } of unheld) if (isDead) await free(firstLeaseId);
    },
  };
}
