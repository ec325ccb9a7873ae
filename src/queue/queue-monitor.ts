/** The queue's gauges, and whether the queue is worked on: measured when somebody asks, in every process. */
import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "../database/pool.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { measureQueue } from "./postgres/depth-store.ts";
import { queueTroubles, type QueueDepth, type QueueTroubles } from "./queue-troubles.ts";

/** However many ask, and however long the queue: counting it takes at most a thirtieth of the time. */
const MAX_AGE_MS = 1000;
const REST_PER_MEASURING_MS = 30;
/** Whoever asks does not wait for longer: what was found before is still of use. */
const PATIENCE_MS = 1000;

export type QueueMonitor = {
  /** Sets the gauges and answers what is wrong with the queue. Throws when the database does. */
  look(): Promise<QueueTroubles>;
};

export function makeQueueMonitor({ db, metrics }: { db: Pool; metrics: Metrics }): QueueMonitor {
  let measuring: Promise<QueueTroubles> | null = null;
  let freshUntil = -Infinity;
  let troubles: QueueTroubles = { reasons: [], warnings: [] };

  async function measure(): Promise<QueueTroubles> {
    const startedAt = performance.now();
    try {
      const depth = await measureQueue(db);
      show(depth, metrics);
      troubles = queueTroubles(depth);
      const endedAt = performance.now();
      freshUntil = endedAt + Math.max(MAX_AGE_MS, (endedAt - startedAt) * REST_PER_MEASURING_MS);
      return troubles;
    } finally {
      measuring = null;
    }
  }

  return {
    async look() {
      if (performance.now() < freshUntil) return troubles;
      measuring ??= measure();
      const late = delay(PATIENCE_MS, null, { ref: false }).then(() => troubles);
      return Promise.race([measuring, late]);
    },
  };
}

function show(depth: QueueDepth, metrics: Metrics): void {
  for (const state of ["due", "leased", "parked", "scheduled", "held"] as const)
    metrics.queueDepth.set({ state }, depth[state]);
  metrics.queueOldestAge.set(depth.oldestDueAgeS);
  metrics.queueLongestWait.set(depth.longestWaitS);
  metrics.queueDeadLeases.set(depth.deadLeases);
  metrics.outboxWaiting.set(depth.outboxWaiting);
  metrics.outboxOldestAge.set(depth.outboxOldestAgeS);
}
