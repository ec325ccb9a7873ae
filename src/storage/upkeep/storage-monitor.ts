/** Storage findings that wait for an operator, for readiness and metrics: from the database, so of all processes. */
import type { Pool } from "../../database/pool.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { readStorageTroubles, type StorageTroubles } from "./reconcile-store.ts";

export type StorageMonitor = {
  /** Sets the gauges and answers what is wrong, in words. Throws when the database does. */
  look(): Promise<string[]>;
};

export const HALT_REMEDY =
  "look at `postern storage reconcile --dry-run`; if it is right, run `postern storage reconcile --acknowledge` with the digest that it prints";

/** As they were found last, by whatever process. */
export function findStorageTroubles(db: Pool, bucketName: string): Promise<StorageTroubles> {
  return readStorageTroubles(db, bucketName);
}

export function makeStorageMonitor({
  db,
  bucketName,
  metrics,
}: {
  db: Pool;
  bucketName: string;
  metrics: Pick<Metrics, "storageReconcileHalted" | "storageOwnerTrouble">;
}): StorageMonitor {
  return {
    async look() {
      const { haltedAt, haltedReason, ownerTrouble } = await readStorageTroubles(db, bucketName);
      metrics.storageReconcileHalted.set(haltedAt === null ? 0 : 1);
      metrics.storageOwnerTrouble.set(ownerTrouble === null ? 0 : 1);
      const halted =
        haltedAt === null
          ? []
          : [`comparing stored artifacts has stopped: ${haltedReason ?? ""}; ${HALT_REMEDY}`];
      return [...(ownerTrouble === null ? [] : [ownerTrouble]), ...halted];
    },
  };
}
