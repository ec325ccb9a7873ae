/** Whether this process, and the queue that all of them share, can do their work now, and why not. */
import { pendingMigrations } from "../database/migrate.ts";
import type { Migration } from "../database/migration-files.ts";
import { isPassing } from "../database/passing-errors.ts";
import type { Pool } from "../database/pool.ts";
import type { QueueMonitor } from "../queue/queue-monitor.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";

/** A database that has not answered by then is as good as away. */
const DATABASE_LIMIT_MS = 3000;
/** A worker that has not claimed for so long is stuck, though its process lives. */
const STALLED_AFTER_MS = 30_000;
const UNREACHABLE = "the database cannot be reached";
const FAILED = "the queue could not be looked at: see the log";
const STALLED = "the worker has claimed nothing for half a minute: see its log, and restart it";

class NoAnswerError extends Error {}

export type Readiness = {
  /** Why the work is not done now, each with what to do; empty when it is. */
  reasons(): Promise<string[]>;
  /** Brings the gauges that are measured up to date, unless the database does not answer. */
  refreshGauges(): Promise<void>;
};

export function makeReadiness(services: {
  db: Pool;
  migrations: Migration[];
  queueMonitor: QueueMonitor;
  /** When this process's worker last looked for work, on the monotonic clock; null without a worker. */
  lastLookAt: () => number | null;
  log: Log;
}): Readiness {
  const { db, migrations, queueMonitor, lastLookAt, log } = services;

  async function databaseReasons(): Promise<string[]> {
    const pending = await pendingMigrations(db, migrations);
    if (pending.length > 0) return [`migrations are pending: ${pending.map(({ file }) => file).join(", ")}`];
    return queueMonitor.look();
  }

  /** Waiting mends a database that is away, and nothing else: the rest is for an operator to see. */
  function reasonOf(error: unknown): string {
    if (error instanceof NoAnswerError || isPassing(error)) return UNREACHABLE;
    log.error({ err: error }, "the queue could not be looked at");
    return FAILED;
  }

  return {
    async reasons() {
      const reasons = await untilAnswered(databaseReasons()).catch((error: unknown) => [reasonOf(error)]);
      const lookedAt = lastLookAt();
      const isStalled = lookedAt !== null && performance.now() - lookedAt > STALLED_AFTER_MS;
      return isStalled ? [...reasons, STALLED] : reasons;
    },
    async refreshGauges() {
      // Old figures are better than none; that the database is away is /ready's to say.
      await untilAnswered(queueMonitor.look()).catch(() => undefined);
    },
  };
}

function untilAnswered<T>(work: Promise<T>): Promise<T> {
  return withinLimit(work, DATABASE_LIMIT_MS, () => new NoAnswerError("the database does not answer"));
}
