/** Whether this process, and the queue that all of them share, can do their work now, and why not. */
import { findLockHolders, type LockHolder } from "../database/heartbeat-store.ts";
import { isLockTimeout } from "../database/passing-errors.ts";
import { pendingMigrations } from "../database/migrate.ts";
import type { Migration } from "../database/migration-files.ts";
import type { Pool } from "../database/pool.ts";
import type { QueueMonitor } from "../queue/queue-monitor.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import { outageReason, UNREACHABLE } from "./outage-reason.ts";

/** A database that has not answered by then is as good as away. */
const DATABASE_LIMIT_MS = 3000;
const HOLDERS_LIMIT_MS = 1000;
/** A worker that has not claimed for so long is stuck, though its process lives. */
const STALLED_AFTER_MS = 30_000;
const FAILED = "the queue could not be looked at: see the log";
const STALLED = "the worker has claimed nothing for half a minute: see its log, and restart it";
const NO_ROOM =
  "this worker has no room for more: some receivers are slow, so add workers if other tenants' events wait";

class NoAnswerError extends Error {}

export type ReadinessReport = {
  /** Why the work is not done now, each with what to do; empty when it is. */
  reasons: string[];
  /** What a single tenant can cause, and what does not keep this process from its work. */
  warnings: string[];
};

export type Readiness = {
  report(): Promise<ReadinessReport>;
  /** Brings the gauges that are measured up to date, unless the database does not answer. */
  refreshGauges(): Promise<void>;
};

type ReadinessServices = {
  db: Pool;
  migrations: Migration[];
  queueMonitor: QueueMonitor;
  /** Commits a row of this process. */
  heartbeat: { beat(): Promise<void> };
  /** The last failure to commit an event or an outcome; null when commits happen. */
  commits: { failure(): unknown };
  /** This process's worker; null without one. */
  worker: () => { lastLookAt(): number | null; hasRoom(): boolean } | null;
  log: Log;
};

export function makeReadiness(services: ReadinessServices): Readiness {
  const { db, queueMonitor, worker, log } = services;

  /** Waiting heals a state of the database, and nothing else: the rest is for an operator to see. */
  async function reasonOf(error: unknown): Promise<string> {
    if (error instanceof NoAnswerError) return UNREACHABLE;
    const reason = outageReason(error, isLockTimeout(error) ? await lockHolders(db) : []);
    if (reason !== null) return reason;
    log.error({ err: error }, "the queue could not be looked at");
    return FAILED;
  }

  return {
    async report() {
      const { reasons, warnings } = await untilAnswered(databaseReport(services)).catch(
        async (error: unknown) => ({
          reasons: [await reasonOf(error)],
          warnings: [],
        }),
      );
      const own = worker();
      const lookedAt = own?.lastLookAt() ?? null;
      const isStalled = lookedAt !== null && performance.now() - lookedAt > STALLED_AFTER_MS;
      return {
        reasons: isStalled ? [...reasons, STALLED] : reasons,
        warnings: own?.hasRoom() === false ? [...warnings, NO_ROOM] : warnings,
      };
    },
    async refreshGauges() {
      // Old figures are better than none; that the database is away is /ready's to say.
      await untilAnswered(queueMonitor.look()).catch(() => undefined);
    },
  };
}

async function databaseReport({
  db,
  migrations,
  queueMonitor,
  heartbeat,
  commits,
}: ReadinessServices): Promise<ReadinessReport> {
  const pending = await pendingMigrations(db, migrations);
  if (pending.length > 0) {
    const files = pending.map(({ file }) => file).join(", ");
    return { reasons: [`migrations are pending: ${files}`], warnings: [] };
  }
  await heartbeat.beat();
  const failure = commits.failure();
  if (failure !== null) throw failure;
  return queueMonitor.look();
}

async function lockHolders(db: Pool): Promise<LockHolder[]> {
  try {
    return await withinLimit(findLockHolders(db), HOLDERS_LIMIT_MS, () => new NoAnswerError());
  } catch {
    return [];
  }
}

function untilAnswered<T>(work: Promise<T>): Promise<T> {
  return withinLimit(work, DATABASE_LIMIT_MS, () => new NoAnswerError("the database does not answer"));
}
