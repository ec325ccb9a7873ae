/** Whether this process, and the queue that all of them share, can do their work now, and why not. */
import type { EmbeddedTrouble } from "../database/embedded/embedded-keeper.ts";
import { findLockHolders, type LockHolder } from "../database/heartbeat-store.ts";
import { isLockTimeout } from "../database/passing-errors.ts";
import { pendingMigrations } from "../database/schema/migrate.ts";
import type { Migration } from "../database/schema/migration-files.ts";
import type { Pool } from "../database/pool.ts";
import type { ReplicationMonitor } from "../database/replication/replication-monitor.ts";
import type { QueueMonitor } from "../queue/queue-monitor.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import { DISK_FULL, LEFT, outageReason, UNREACHABLE } from "./outage-reason.ts";

/** A database that has not answered by then is as good as away. */
const DATABASE_LIMIT_MS = 3000;
const HOLDERS_LIMIT_MS = 1000;
/** A worker that has not claimed for so long is stuck, though its process lives. */
const STALLED_AFTER_MS = 30_000;
const FAILED = "the queue's state could not be read: see the log";
const STALLED = "the worker has claimed nothing for half a minute: see its log, and restart it";
const CATALOG_REFUSED =
  "the event catalog's file was changed and is refused, so the former catalog stays in force: see this process's log, or run postern catalog check";
const NO_ROOM =
  "this worker has no room: some receivers are slow, so add workers if other tenants' events wait";

function refusedOutcomes(count: number): string[] {
  if (count === 0) return [];
  return [
    `the database refuses the outcomes of ${count} attempts, which are sent again with growing delays: see this worker's log for its error`,
  ];
}

class SilentDatabaseError extends Error {}

function unusableSecrets(count: number): string[] {
  if (count === 0) return [];
  const whose =
    count === 1 ? "signing secret of 1 endpoint does" : `signing secrets of ${count} endpoints do`;
  return [
    `the ${whose} not open, so nothing is sent there: see this worker's log, which says whether INTEGRATION_ENCRYPTION_KEY lacks a key`,
  ];
}

/** What of a worker is reported. */
type WorkerState = {
  lastLookAt(): number | null;
  hasRoom(): boolean;
  refusedOutcomes(): number;
  unusableSecrets(): number;
};

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
  /** Of an embedded database, which can't say itself that it ended. */
  embeddedTrouble: () => EmbeddedTrouble | null;
  migrations: Migration[];
  queueMonitor: QueueMonitor;
  /** Commits a row of this process, and answers how its machine's clock is wrong. */
  heartbeat: { beat(): Promise<string | undefined> };
  /** The last failure to commit an event or an outcome; null when commits happen. */
  commits: { failure(): unknown };
  /** How the database's standbys follow. */
  replication: ReplicationMonitor;
  /** What of stored artifacts waits for an operator. */
  storage: { look(): Promise<string[]> };
  /** This process's worker; null without one. */
  worker: () => WorkerState | null;
  /** The stream that takes events while the database is away; `takesEvents` in a process that serves the API. */
  intake: { monitor: { look(): Promise<string | null> }; takesEvents: boolean } | null;
  /** This process's event catalog. */
  catalog: { isRefused(): boolean };
  log: Log;
};

export function makeReadiness(services: ReadinessServices): Readiness {
  const { db, queueMonitor, replication, worker, log } = services;

  /** Waiting heals a state of the database, and nothing else: the rest is for an operator to see. */
  async function reasonOf(error: unknown): Promise<string> {
    const trouble = services.embeddedTrouble();
    if (trouble !== null) return trouble === "left" ? LEFT : DISK_FULL;
    if (error instanceof SilentDatabaseError) return UNREACHABLE;
    const reason = outageReason(error, isLockTimeout(error) ? await lockHolders(db) : []);
    if (reason !== null) return reason;
    log.error({ err: error }, "the queue's state could not be read");
    return FAILED;
  }

  return {
    async report() {
      const [database, intakeTrouble] = await Promise.all([
        untilAnswered(databaseReport(services)).catch(async (error: unknown) => ({
          reasons: [await reasonOf(error)],
          warnings: [],
        })),
        services.intake?.monitor.look() ?? null,
      ]);
      const own = worker();
      const lookedAt = own?.lastLookAt() ?? null;
      const isStalled = lookedAt !== null && performance.now() - lookedAt > STALLED_AFTER_MS;
      const { reasons, warnings } = withIntake(database, services.intake, intakeTrouble);
      return {
        // A worker that is stuck is no state of the database, and no intake makes up for it.
        reasons: isStalled ? [...reasons, STALLED] : reasons,
        warnings: [
          ...warnings,
          ...(services.catalog.isRefused() ? [CATALOG_REFUSED] : []),
          ...(own?.hasRoom() === false ? [NO_ROOM] : []),
          ...refusedOutcomes(own?.refusedOutcomes() ?? 0),
          ...unusableSecrets(own?.unusableSecrets() ?? 0),
        ],
      };
    },
    async refreshGauges() {
      // Old figures are better than none; that the database is away is /ready's to say.
      const looks = [queueMonitor.look(), services.storage.look(), replication.look()];
      await Promise.all([
        untilAnswered(Promise.all(looks)).catch(() => undefined),
        services.intake?.monitor.look(),
      ]);
    },
  };
}

/**
 * Where the stream takes events, a process that serves the API does its most
 * urgent work without the database. Without the stream it does not, and a
 * worker still has its queue.
 */
function withIntake(
  { reasons, warnings }: ReadinessReport,
  intake: ReadinessServices["intake"],
  trouble: string | null,
): ReadinessReport {
  if (intake === null) return { reasons, warnings };
  if (!intake.takesEvents) return { reasons, warnings: trouble === null ? warnings : [...warnings, trouble] };
  if (trouble !== null) return { reasons: [...reasons, trouble], warnings };
  const away = reasons.map((reason) => `${reason}; events are taken by the intake's stream meanwhile`);
  return { reasons: [], warnings: [...warnings, ...away] };
}

async function databaseReport({
  db,
  migrations,
  queueMonitor,
  heartbeat,
  commits,
  replication,
  storage,
}: ReadinessServices): Promise<ReadinessReport> {
  const pending = await pendingMigrations(db, migrations);
  if (pending.length > 0) {
    const files = pending.map(({ file }) => file).join(", ");
    return { reasons: [`migrations are pending: ${files}`], warnings: [] };
  }
  // First: without a standby the heartbeat's commit would wait for one.
  const unsafe = await replication.trouble();
  if (unsafe !== null) return { reasons: [unsafe], warnings: [] };
  const clockTrouble = await heartbeat.beat();
  const failure = commits.failure();
  if (failure !== null) throw failure;
  const { reasons, warnings } = await queueMonitor.look();
  const clock = clockTrouble === undefined ? [] : [clockTrouble];
  return { reasons, warnings: [...warnings, ...(await storage.look()), ...clock] };
}

async function lockHolders(db: Pool): Promise<LockHolder[]> {
  try {
    return await withinLimit(findLockHolders(db), HOLDERS_LIMIT_MS, () => new SilentDatabaseError());
  } catch {
    return [];
  }
}

function untilAnswered<T>(work: Promise<T>): Promise<T> {
  return withinLimit(work, DATABASE_LIMIT_MS, () => new SilentDatabaseError("the database does not answer"));
}
