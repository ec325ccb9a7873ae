/** What the worker does beside attempts: leases of dead workers and of clients, dispatches that follow their endpoint, partitions ahead, retention and old keys. */
import { forgetOldAudit } from "../audit/audit.ts";
import type { Pool } from "../database/pool.ts";
import { makeEndpointNotices } from "../endpoints/endpoint-notices.ts";
import { forgetDeletedEndpoints } from "../endpoints/endpoint-store.ts";
import { foldCounts, forgetOldStats } from "../deliveries/stats-store.ts";
import { removeOldWatches } from "../deliveries/tail-store.ts";
import { endInterruptedSends } from "../deliveries/person-send-store.ts";
import type { LiveCatalog } from "../events/live-catalog.ts";
import { makeCatalogAnnouncer } from "../events/outbox.ts";
import { forgetPortalSessions } from "../portal/portal-session-store.ts";
import { forgetReplays } from "../replays/replay-store.ts";
import { every, type Background } from "../shared/every.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { upkeepFailed } from "../telemetry/upkeep-failed.ts";
import { FREE_LEASES_EVERY_MS, type DeadWorkers } from "../queue/postgres/dead-workers.ts";
import { followAll } from "../queue/postgres/follow.ts";
import { makePartitionsAhead } from "../queue/postgres/partitions.ts";
import { dropOldPartitions } from "../queue/postgres/retention.ts";
import { forgetHeaderSets } from "../queue/postgres/retention-store.ts";
import type { PullParts } from "./pull-parts.ts";
import { deleteOldIdempotencyKeys, deleteSuperseded } from "../queue/postgres/upkeep-store.ts";

const END_LEASES_EVERY_MS = 500;
const ANNOUNCE_EVERY_MS = 1000;
const SETTLE_EVERY_MS = 1000;
const END_SENDS_EVERY_MS = 2000;
const FOLD_EVERY_MS = 5000;
const TIDY_EVERY_MS = 60_000;
const PARTITIONS_EVERY_MS = 600_000;

/** How often it does what its tests would wait for at each step. */
export type UpkeepTimes = { tellOfEndpointsMs: number };
const UPKEEP_TIMES: UpkeepTimes = { tellOfEndpointsMs: 2000 };

type UpkeepServices = {
  db: Pool;
  deadWorkers: DeadWorkers;
  pull: PullParts["upkeep"];
  catalog: LiveCatalog;
  log: Log;
  metrics: Metrics;
  retentionDays: number;
  disableAfterMs: number;
  times: Partial<UpkeepTimes> | undefined;
};

export function makeUpkeep(services: UpkeepServices): Background {
  const { db, log, metrics, pull } = services;
  const stopping = new AbortController();
  const { tellOfEndpointsMs } = { ...UPKEEP_TIMES, ...services.times };
  let running: Promise<unknown> | null = null;

  async function untilNoneLeft(deleteSome: (db: Pool) => Promise<boolean>): Promise<void> {
    while (!stopping.signal.aborted && (await deleteSome(db)));
  }

  function repeat(ms: number, name: string, work: () => Promise<void>): Promise<void> {
    const failed = upkeepFailed(services, name, "upkeep failed; it is tried again");
    return every(ms, work, { signal: stopping.signal, failed });
  }

  return {
    start() {
      running ??= Promise.all([
        repeat(ANNOUNCE_EVERY_MS, "announce_catalog", makeCatalogAnnouncer(db, services.catalog)),
        repeat(FREE_LEASES_EVERY_MS, "free_leases", () => services.deadWorkers.look()),
        repeat(END_LEASES_EVERY_MS, "end_leases", () => untilNoneLeft(pull.endLeases)),
        repeat(TIDY_EVERY_MS, "remove_abandoned_endpoints", pull.removeAbandoned),
        repeat(SETTLE_EVERY_MS, "settle_dispatches", () => followAll(db, stopping.signal)),
        repeat(END_SENDS_EVERY_MS, "end_interrupted_sends", () => endInterrupted(db, log)),
        repeat(tellOfEndpointsMs, "tell_of_endpoints", () => untilNoneLeft(makeEndpointNotices(services))),
        repeat(FOLD_EVERY_MS, "fold_statistics", () => untilNoneLeft(foldCounts)),
        repeat(TIDY_EVERY_MS, "remove_watches", () => removeOldWatches(db)),
        repeat(TIDY_EVERY_MS, "remove_superseded", () => deleteSuperseded(db)),
        repeat(PARTITIONS_EVERY_MS, "make_partitions", () =>
          makePartitionsAhead(db, { log, signal: stopping.signal }),
        ),
        repeat(PARTITIONS_EVERY_MS, "drop_partitions", () =>
          dropOldPartitions(db, {
            retentionDays: services.retentionDays,
            log,
            metrics,
            signal: stopping.signal,
          }),
        ),
        ...Object.entries(forgetting(services)).map(([name, some]) =>
          repeat(PARTITIONS_EVERY_MS, name, () => untilNoneLeft(some)),
        ),
      ]);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** What goes some rows at a time, by the name of the work: each answers whether there may be more. */
function forgetting({ retentionDays, pull }: UpkeepServices): Record<string, (db: Pool) => Promise<boolean>> {
  return {
    end_unfetched: pull.endUnfetched,
    forget_idempotency_keys: deleteOldIdempotencyKeys,
    forget_statistics: (db) => forgetOldStats(db, retentionDays),
    forget_endpoints: (db) => forgetDeletedEndpoints(db, retentionDays),
    forget_replays: (db) => forgetReplays(db, retentionDays),
    forget_header_sets: (db) => forgetHeaderSets(db, retentionDays),
    forget_portal_sessions: forgetPortalSessions,
    forget_audit: forgetOldAudit,
  };
}

async function endInterrupted(db: Pool, log: Log): Promise<void> {
  const ended = await endInterruptedSends(db);
  if (ended > 0) log.warn({ ended }, "tests or manual retries were interrupted; they may have been sent");
}
