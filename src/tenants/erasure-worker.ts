/**
 * Erases tenants: their rows, then their bytes, then the rows that named these.
 *
 * Why a kill leaves nothing half done: the job is a row with a lease, each step
 * deletes what it finds and remembers nothing, and the job ends in the very
 * transaction that found no more. What comes in meanwhile is found by a later
 * step; so everything that was committed before the end is erased.
 */
import { randomUUID } from "node:crypto";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { makeRepeated, type Background } from "../shared/every.ts";
import type { TenantId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { upkeepFailed } from "../telemetry/upkeep-failed.ts";
import {
  claimErasure,
  eraseTenantRows,
  finishErasure,
  isHandingOver,
  isUploading,
  listBucketsOf,
  lockErasure,
  releaseErasure,
  type ErasureRun,
} from "./tenant-store.ts";

const LEASE_MS = 30_000;
const POLL_MS = 500;
/** How long a job waits that cannot go on for now. */
const TROUBLE_MS = 10_000;
const ROWS = 5000;
const OBJECTS = 500;
const MOST_LOOKS = 10;
/** An upload of an artifact takes no longer, or is dead. */
const UPLOAD_S = 120;

/** Deletes up to `most` objects of a tenant; `trouble` says why not all can be. */
export type EraseObjects = (
  tenantId: TenantId,
  most: number,
  buckets: readonly string[],
) => Promise<{ erased: number; trouble: string | null }>;

/** Rows and objects that other shards had; `trouble` names one that is not done, or that does not answer. */
export type ErasedElsewhere = { rows: number; objects: number; trouble: string | null; isAway: boolean };

/** Has the other shards erase what they have of a tenant that lives here. */
export type EraseElsewhere = (run: ErasureRun) => Promise<ErasedElsewhere>;

export type ErasureServices = {
  db: Pool;
  eraseObjects: EraseObjects;
  /** Null where there is one database. */
  eraseElsewhere: EraseElsewhere | null;
  log: Log;
  metrics: Pick<Metrics, "upkeepFailures">;
};

type Step = { isOver: boolean; delayMs: number; objects: number; trouble: string | null };

const MORE: Step = { isOver: false, delayMs: 0, objects: 0, trouble: null };
const NOTHING: ErasedElsewhere = { rows: 0, objects: 0, trouble: null, isAway: false };

export function makeErasureWorker(services: ErasureServices): Background {
  const { db, log } = services;
  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const run = await claimErasure(db, randomUUID(), LEASE_MS);
      if (run === null) return;
      const { isOver, ...how } = await stepOf(services, run);
      if (isOver) log.info({ tenantId: run.tenantId }, "a tenant is erased");
      else await releaseErasure(db, run, how);
    }
  }

  const message = "the erasure of a tenant could not go on; it is tried again";
  return makeRepeated(POLL_MS, work, upkeepFailed(services, "erase_tenants", message));
}

async function stepOf(services: ErasureServices, run: ErasureRun): Promise<Step> {
  const { db, eraseObjects, eraseElsewhere } = services;
  const { tenantId } = run;
  if ((await eraseRows(db, run)) === ROWS) return MORE;
  if (await isHandingOver(db, tenantId))
    return { ...MORE, delayMs: POLL_MS, trouble: "an event is being handed over" };
  // Before the end here: what others hand over meanwhile is erased behind it.
  const elsewhere = (await eraseElsewhere?.(run)) ?? NOTHING;
  if (elsewhere.trouble !== null)
    return { ...MORE, delayMs: elsewhere.isAway ? TROUBLE_MS : POLL_MS, trouble: elsewhere.trouble };
  // The bytes of an upload that began before its cause was deleted are still to come.
  if (await isUploading(db, tenantId, UPLOAD_S))
    return { ...MORE, delayMs: POLL_MS, trouble: "an upload of an artifact is under way" };
  const { erased: objects, trouble } = await eraseObjects(
    tenantId,
    OBJECTS,
    await listBucketsOf(db, tenantId),
  );
  if (trouble !== null) return { ...MORE, delayMs: TROUBLE_MS, objects, trouble };
  if (objects > 0) return { ...MORE, objects };
  return { ...MORE, isOver: await endErasure(db, run, elsewhere) };
}

async function eraseRows(db: Pool, run: ErasureRun): Promise<number> {
  return inTransaction(db, async (transaction) => {
    // Another worker has it by now and continues.
    if (!(await lockErasure(transaction, run))) return ROWS;
    return eraseTenantRows(transaction, run.tenantId, { most: ROWS, withObjects: false });
  });
}

/**
 * Takes the rows of objects too, and ends the job where it left nothing; false where it did.
 * One look passes the tables one by one, so what is committed meanwhile may be in one
 * behind it and in one before it: it looks until it finds nothing. A tenant that goes on
 * publishing always has something, which is not of the time before the end.
 */
async function endErasure(db: Pool, run: ErasureRun, elsewhere: ErasedElsewhere): Promise<boolean> {
  const { tenantId } = run;
  return inTransaction(db, async (transaction) => {
    if (!(await lockErasure(transaction, run))) return false;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const erased = await eraseTenantRows(transaction, tenantId, { most: ROWS, withObjects: true });
      if (erased === ROWS) return false;
      if (erased === 0) break;
    }
    if (await isHandingOver(transaction, tenantId)) return false;
    await finishErasure(transaction, run, elsewhere);
    return true;
  });
}
