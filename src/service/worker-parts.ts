/** The worker of one database, and what runs beside it. */
import { makeEndpointHealth } from "../endpoints/endpoint-health.ts";
import { readStoredTargets } from "../endpoints/send-target.ts";
import { makeOutbox } from "../events/outbox.ts";
import { makeDeadWorkers, workerTable } from "../queue/postgres/dead-workers.ts";
import { insertReplayed } from "../queue/postgres/once-store.ts";
import type { WorkerPresence } from "../queue/postgres/presence.ts";
import { makeSlotStore } from "../queue/postgres/slots.ts";
import { makeWakeListener } from "../queue/postgres/wake-listener.ts";
import type { Presence } from "../queue/queue.ts";
import { makeReplayWorker } from "../replays/replay-worker.ts";
import { inTurn } from "../shared/ending.ts";
import type { Background } from "../shared/every.ts";
import { systemClock } from "../shared/clock.ts";
import { makeTargetCache } from "../worker/target-cache.ts";
import { makeWorker, type Worker } from "../worker/worker.ts";
import type { Foundation } from "./foundation.ts";
import type { ServiceOptions } from "./service-options.ts";
import { makeUpkeep } from "./upkeep.ts";

export function makeAttemptWorker(
  { config, log }: ServiceOptions,
  foundation: Foundation,
  presence: Presence,
): Worker {
  const { pools, queue, catalog, secretBox, sender, auditTally, storage, metrics, tracing, leaseIds } =
    foundation;
  return makeWorker({
    queue,
    presence,
    slots: makeSlotStore(pools.worker, leaseIds.first),
    targets: makeTargetCache((keys) => readStoredTargets(pools.worker, keys), secretBox, systemClock),
    sender,
    health: makeEndpointHealth({
      db: pools.worker,
      queue,
      log,
      disableAfterMs: config.disableAfterMs,
      metrics,
    }),
    blockedTarget: (target) => auditTally.blockedTarget(target),
    artifacts: storage.artifacts,
    outbox: makeOutbox({
      queue,
      catalog,
      log,
      metrics,
      tracing,
      clock: systemClock,
      operatorTenant: config.operatorTenant,
    }),
    tracing,
    scheduleMs: config.retryScheduleMs,
    clock: systemClock,
    log,
    metrics,
  });
}

/** The worker, what wakes it, and the upkeep of its tables. */
export function workerBackground(
  { config, log, upkeepTimes }: ServiceOptions,
  { databaseUrl, pools, catalog, metrics, pull }: Foundation,
  { worker, presence }: { worker: Worker; presence: WorkerPresence },
): Background[] {
  return [
    makeWakeListener({
      databaseUrl,
      log,
      wake: (group) => worker.wake(group),
      slotsChanged: () => worker.slotsChanged(),
      withdraw: (superseded) => worker.withdraw(superseded),
    }),
    startedTogether(presence, worker),
    makeUpkeep({
      db: pools.worker,
      deadWorkers: makeDeadWorkers({
        table: workerTable(pools.worker),
        presence,
        clock: systemClock,
        log,
        metrics,
      }),
      pull: pull.upkeep,
      catalog,
      log,
      metrics,
      retentionDays: config.retentionDays,
      disableAfterMs: config.disableAfterMs,
      times: upkeepTimes,
    }),
    makeReplayWorker({
      db: pools.worker,
      tenants: pools.tenants,
      addDispatches: insertReplayed,
      log,
      metrics,
    }),
  ];
}

/** The second stops first: while the worker has leases, others can see that it lives. */
function startedTogether(first: Background, second: Background): Background {
  return {
    start() {
      first.start();
      second.start();
    },
    stop: () => inTurn([() => second.stop(), () => first.stop()]),
  };
}
