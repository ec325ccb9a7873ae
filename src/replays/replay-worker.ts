/**
 * Works on replays: adds their events to the queue, page by page, and notices
 * their end.
 *
 * Why each event is sent once: a page of dispatches and the cursor behind it are
 * one transaction, under the lock of the replay's row. A worker that dies in
 * between leaves neither. The dispatches are the queue's from then on, and are
 * held, ended and signed like any other. A row that another worker has leased
 * meanwhile is left to it.
 *
 * A replay has few dispatches in the queue at a time, so canceling one stops it
 * soon, and what is fresh never waits behind many.
 */
import { randomUUID } from "node:crypto";
import type { Db, Pool } from "../database/pool.ts";
import { isLockConflict } from "../database/passing-errors.ts";
import { BY_INDEX, type TenantPool } from "../database/tenant-pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { lockTarget } from "../endpoints/send-target.ts";
import { publishOwn } from "../events/own-events.ts";
import type { OnceEvent, ReplayPage } from "../queue/once.ts";
import { makeRepeated, pause, type Background } from "../shared/every.ts";
import { seldom } from "../shared/seldom.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { upkeepFailed } from "../telemetry/upkeep-failed.ts";
import { readCandidates } from "./candidate-store.ts";
import { judge, versionToSend, type Candidate } from "./replay.ts";
import {
  claimReplay,
  countOutcomes,
  findReplay,
  finishReplay,
  lockRun,
  moveCursor,
  releaseReplay,
  type LockedRun,
  type Run,
} from "./replay-store.ts";

const LEASE_MS = 10_000;
const POLL_MS = 200;
/** Without a replay in so many rounds the next look has time: most services have none for days. */
const IDLE_ROUNDS = 5;
const IDLE_MS = 800;
/** An endpoint may stay disabled for days. */
const DISABLED_MS = 2000;
/** All tenants' replays have their turns one behind the other: none waits for what another has locked. */
const LOCK_TIMEOUT_MS = 50;
const LOCKED_MS = 1000;
const TELL_EVERY_MS = 60_000;
/** Events of a page, and how many may be pending when the next is added. */
const PAGE = 500;
const LOW = 250;

export type ReplayWorkerServices = {
  db: Pool;
  tenants: TenantPool;
  addDispatches: (db: Db, page: ReplayPage) => Promise<void>;
  log: Log;
  metrics: Pick<Metrics, "upkeepFailures">;
  /** Between looks while there is no replay. Default: real time. */
  wait?: typeof pause;
};

/** What a step came to: "more" could be done at once, or nothing before something else happens. */
type Step = { kind: "more" } | { kind: "waiting"; ms: number } | { kind: "over"; error: string | null };

const WAITING: Step = { kind: "waiting", ms: POLL_MS };

export function makeReplayWorker(services: ReplayWorkerServices): Background {
  const { db, log, wait = pause } = services;
  let idleRounds = 0;
  const tellLocked = seldom(TELL_EVERY_MS, (times, { tenantId, id, endpointId }: Run) =>
    log.warn({ tenantId, replayId: id, endpointId, times }, "a replay waits for another transaction's lock"),
  );

  function waitForLock(run: Run, error: unknown): Step {
    if (!isLockConflict(error)) throw error;
    tellLocked(run);
    return { kind: "waiting", ms: LOCKED_MS };
  }

  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const run = await claimReplay(db, randomUUID(), LEASE_MS);
      if (run === null) {
        idleRounds++;
        if (idleRounds > IDLE_ROUNDS) await wait(IDLE_MS, signal);
        return;
      }
      idleRounds = 0;
      const step = await stepOf(services, run).catch((error: unknown) => waitForLock(run, error));
      if (step.kind === "over") await finish(services, run, step.error);
      else await releaseReplay(db, run, step.kind === "more" ? 0 : step.ms);
    }
  }

  const failed = upkeepFailed(services, "replays", "a replay could not go on; it is tried again");
  return makeRepeated(POLL_MS, work, failed);
}

/** One page at most. A replay that is over, or another's by now, counts as waiting. */
async function stepOf({ tenants, addDispatches }: ReplayWorkerServices, run: Run): Promise<Step> {
  return tenants.of(run.tenantId).transaction(async (transaction): Promise<Step> => {
    await transaction.query(`${BY_INDEX}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const replay = await lockRun(transaction, run);
    if (replay === null) return WAITING;
    const pending = await countOutcomes(transaction, run);
    const target = await lockTarget(transaction, run);
    if (target === null) return pending > 0 ? WAITING : { kind: "over", error: "endpoint_deleted" };
    if (replay.isFed && pending === 0) return { kind: "over", error: null };
    if (!target.enabled) return { kind: "waiting", ms: DISABLED_MS };
    if (replay.isFed || pending > LOW) return WAITING;
    const { candidates, isAll } = await readCandidates(transaction, replay, {
      after: replay.after,
      most: PAGE,
    });
    const page = pageOf(replay, candidates, target.events);
    if (page.events.length > 0) {
      const { tenantId, endpointId } = run;
      await addDispatches(transaction, { tenantId, endpointId, replayId: run.id, events: page.events });
    }
    await moveCursor(transaction, run, {
      after: candidates.at(-1)?.eventId ?? replay.after,
      isFed: isAll,
      sent: page.events.length,
      skipped: page.skipped,
    });
    return { kind: "more" };
  });
}

function pageOf(replay: LockedRun, candidates: readonly Candidate[], subscription: readonly string[]) {
  const events: OnceEvent[] = [];
  let skipped = 0;
  for (const candidate of candidates) {
    const { eventId, event, newest } = candidate;
    const verdict = judge(candidate, replay, subscription);
    if (verdict === "skip") skipped++;
    if (verdict === "send" && event !== null) {
      const version = versionToSend(candidate, subscription);
      events.push({ eventId, eventType: event.type, version, attempt: (newest?.attempt ?? 0) + 1 });
    }
  }
  return { events, skipped };
}

/** The end and its event are one transaction. */
async function finish(
  { db, tenants, log }: ReplayWorkerServices,
  run: Run,
  error: string | null,
): Promise<void> {
  const { tenantId, id, endpointId } = run;
  const replay = await findReplay(tenants.reading(tenantId), tenantId, id);
  const isOver = await inTransaction(db, async (transaction) => {
    if (replay === null || !(await finishReplay(transaction, run, error))) return false;
    const { sent, delivered, failed, skipped } = replay;
    const status = error === null ? "finished" : "failed";
    const data = { replay_id: id, endpoint_id: endpointId, status, sent, delivered, failed, skipped };
    await publishOwn(transaction, tenantId, { type: "replay.finished", data });
    return true;
  });
  if (isOver) log.info({ tenantId, replayId: id, endpointId, error }, "a replay is over");
}
