/** What the worker does for stored artifacts beside exports: expiry at the deadline, comparing rows with the bucket, forgetting what is over. */
import { withAdvisoryLock, type LockOptions } from "../../database/advisory-lock.ts";
import type { Db } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import { every, pause, type Background } from "../../shared/every.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { upkeepFailed } from "../../telemetry/upkeep-failed.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import { evaluateExpiry } from "../rules/evaluate-expiry.ts";
import { DAY_MS, fromMs, toMs } from "../rules/instants.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { readBucket } from "./owner-store.ts";
import { checkOwner } from "./ownership.ts";
import { forgetOldStorage, readStorageState, readStorageTroubles } from "./reconcile-store.ts";
import { listDueForExpiry, readDatabaseClock } from "../rows/stored-object-store.ts";
import { HALT_REMEDY } from "./storage-monitor.ts";
import { emptyTrash, listTrash } from "./trash.ts";
import type { ReconcileServices } from "./reconcile-page.ts";
import { runPass, type PassOptions, type PassServices, type PassSummary } from "./reconcile-pass.ts";

export type StorageUpkeepTimes = {
  expireEveryMs: number;
  firstPassAfterMs: number;
  /** Well below the two hours after which a suspicion may be confirmed. */
  reconcileEveryMs: number;
};

export const STORAGE_UPKEEP_TIMES: StorageUpkeepTimes = {
  expireEveryMs: 60_000,
  firstPassAfterMs: 60_000,
  reconcileEveryMs: 1_800_000,
};

const EXPIRE_AT_ONCE = 500;

/** Runs one pass unless another process is at it; then null. */
export async function reconcileOnce(
  services: PassServices & { lock: LockOptions },
  options: PassOptions = {},
): Promise<PassSummary | null> {
  const name = `reconcile ${services.bucket.name}`;
  const ran = await withAdvisoryLock(services.lock, name, () => runPass(services, options));
  return ran?.result ?? null;
}

/** How the artifacts of the bucket and their reconciling stand. */
export async function readReconcileState({ db, bucket }: Pick<ReconcileServices, "db" | "bucket">) {
  const state = await readStorageState(db, bucket.name);
  return { ...state, ...(await readStorageTroubles(db, bucket.name)) };
}

/**
 * Looks whose the bucket is, gives it its mark where it has none, and logs what
 * is wrong with it when that has changed. Answers whether it may be ours: while
 * the store is away, by what was found last.
 *
 * @param told what was logged of an outage: not again each minute.
 */
export async function isOwnBucket(
  services: Pick<ReconcileServices, "db" | "bucket"> & { log: Log },
  told: { outage: string | null } = { outage: null },
): Promise<boolean> {
  const { db, bucket, log } = services;
  const earlier = (await readBucket(db, bucket.name))?.trouble ?? null;
  try {
    const trouble = await checkOwner(services);
    if (trouble !== null && trouble !== earlier) log.error({ bucket: bucket.name }, trouble);
    told.outage = null;
    return trouble === null;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    if (error.message !== told.outage) log.warn({ err: error }, "the bucket's owner mark was not read");
    told.outage = error.message;
    return earlier === null;
  }
}

/** Closes what has reached its deadline to downloads, until the signal; answers how many. The bytes go by a later pass. */
export async function expireDue(db: ReconcileServices["db"], signal?: AbortSignal): Promise<number> {
  let expired = 0;
  for (;;) {
    const now = await readDatabaseClock(db);
    const due = await listDueForExpiry(db, now, EXPIRE_AT_ONCE);
    const mutations = due.flatMap((object) => evaluateExpiry({ object: expiryOf(object), now }).mutations);
    const { changedRows } = await inTransaction(db, (transaction: Db) =>
      applyMutations(transaction, mutations, { now, bucket: null }),
    );
    expired += changedRows;
    // Rows that changed meanwhile are checked again in the next round.
    const isOver = due.length < EXPIRE_AT_ONCE || changedRows === 0;
    if (isOver || signal?.aborted === true) return expired;
  }
}

type Due = Awaited<ReturnType<typeof listDueForExpiry>>[number];

function expiryOf({ id, state, deadline, hold, revision }: Due) {
  return { id, state, deadline, hold, revision };
}

export function makeStorageUpkeep(
  services: PassServices & {
    lock: LockOptions;
    /** As the log's. */
    retentionDays: number;
    trashDays: number;
    log: Log;
    metrics: Metrics;
    times: StorageUpkeepTimes;
  },
): Background {
  const { metrics, times } = services;
  const stopping = new AbortController();
  const told = { outage: null };
  let running: Promise<unknown> | null = null;

  async function expire(): Promise<void> {
    if (!(await isOwnBucket(services, told))) return;
    metrics.storageExpiredTotal.inc(await expireDue(services.db, stopping.signal));
  }

  async function reconcile(): Promise<void> {
    const summary = await reconcileOnce(services, { signal: stopping.signal });
    if (summary === null) return;
    countPass(summary, metrics);
    logPass(summary, services);
    if (summary.end !== "complete") return;
    const now = await readDatabaseClock(services.db);
    await emptyTrashOf(services, {
      until: fromMs(toMs(now) - services.trashDays * DAY_MS),
      signal: stopping.signal,
    });
  }

  async function forget(): Promise<void> {
    while (!stopping.signal.aborted && (await forgetOldStorage(services.db, services.retentionDays)) > 0);
  }

  function repeat(ms: number, name: string, work: () => Promise<void>): Promise<void> {
    const failed = upkeepFailed(services, name, "upkeep of stored artifacts failed; it is tried again");
    return every(ms, work, { signal: stopping.signal, failed });
  }

  return {
    start() {
      running ??= Promise.all([
        repeat(times.expireEveryMs, "expire_artifacts", expire),
        repeat(times.reconcileEveryMs, "forget_storage", forget),
        pause(times.firstPassAfterMs, stopping.signal).then(() =>
          repeat(times.reconcileEveryMs, "reconcile_storage", reconcile),
        ),
      ]);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function emptyTrashOf(
  { bucket, log, metrics }: { bucket: Bucket; log: Log; metrics: Metrics },
  old: { until: string; signal: AbortSignal },
): Promise<void> {
  let undeleted = 0;
  let reason = null;
  for await (const { refusal } of emptyTrash(bucket, listTrash(bucket), old)) {
    if (refusal === null) metrics.storageTrashEmptiedTotal.inc();
    else [undeleted, reason] = [undeleted + 1, refusal];
  }
  if (undeleted > 0)
    log.warn(
      { undeleted, reason },
      "objects of the trash could not be deleted; the next pass tries them again",
    );
}

function countPass({ end, decisions, relinked }: PassSummary, metrics: Metrics): void {
  if (relinked > 0) metrics.storageDecisionsTotal.inc({ decision: "relinked" }, relinked);
  for (const [decision, count] of Object.entries(decisions))
    metrics.storageDecisionsTotal.inc({ decision }, count);
  if (end === "complete") metrics.storageReconciledAt.set(Date.now() / 1000);
}

function logPass(
  { end, reason, undeleted, refusal }: PassSummary,
  { bucket, log }: { bucket: Pick<PassServices["bucket"], "name">; log: Log },
): void {
  if (end === "halted") {
    log.error(
      { bucket: bucket.name, reason },
      `reconciling stopped: it would destroy too much; ${HALT_REMEDY}`,
    );
  } else if (end === "refused") {
    log.error({ bucket: bucket.name }, reason ?? "");
  } else if (undeleted > 0) {
    log.warn({ undeleted }, "objects that are due to go could not be deleted; the next pass tries again");
  }
  if (refusal !== null) {
    log.warn({ refusal }, "an upload is whole and could not be made available; the next pass tries again");
  }
}
