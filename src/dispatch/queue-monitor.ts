/** The queue's gauges, and whether the queue is worked on: measured when somebody asks, in every process. */
import type { Pool } from "../database/pool.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { measureQueue } from "./queue-depth-store.ts";
import { queueTroubles, type QueueDepth } from "./queue-troubles.ts";

/** However many ask: a long queue takes a while to count. */
const MAX_AGE_MS = 1000;

export type QueueMonitor = {
  /** Sets the gauges and answers what is wrong with the queue. Throws when the database does. */
  look(): Promise<string[]>;
};

export function makeQueueMonitor({ db, metrics }: { db: Pool; metrics: Metrics }): QueueMonitor {
  let measuring: Promise<string[]> | null = null;
  let measuredAt = -Infinity;
  let troubles: string[] = [];

  async function measure(): Promise<string[]> {
    try {
      const depth = await measureQueue(db);
      show(depth, metrics);
      troubles = queueTroubles(depth);
      measuredAt = performance.now();
      return troubles;
    } finally {
      measuring = null;
    }
  }

  return {
    async look() {
      if (performance.now() - measuredAt < MAX_AGE_MS) return troubles;
      measuring ??= measure();
      return measuring;
    },
  };
}

function show(depth: QueueDepth, metrics: Metrics): void {
  for (const state of ["due", "leased", "scheduled", "held"] as const)
    metrics.queueDepth.set({ state }, depth[state]);
  metrics.queueOldestAge.set(depth.oldestDueAgeS);
  metrics.queueLongestWait.set(depth.longestWaitS);
  metrics.queueDeadLeases.set(depth.deadLeases);
}
