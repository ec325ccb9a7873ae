/** Measures the queue for its gauges and for readiness, on demand, in every process. */
import { setTimeout as delay } from "node:timers/promises";
import type { Metrics } from "../telemetry/metrics.ts";
import type { DispatchQueue } from "./queue.ts";
import { queueTroubles, type QueueDepth, type QueueTroubles } from "./queue-troubles.ts";

/** Counting takes at most a thirtieth of the time, however many callers there are and however long the queue is. */
const MAX_AGE_MS = 1000;
const REST_PER_MEASURING_MS = 30;
/** A caller waits for this long at most, and then gets the previous result. */
const PATIENCE_MS = 1000;

export type QueueMonitor = {
  /** Sets the gauges and returns the queue's faults. Throws when the database does. */
  look(): Promise<QueueTroubles>;
};

export function makeQueueMonitor({
  queue,
  metrics,
}: {
  queue: Pick<DispatchQueue, "measure">;
  metrics: Metrics;
}): QueueMonitor {
  let measuring: Promise<QueueTroubles> | null = null;
  let freshUntil = -Infinity;
  let troubles: QueueTroubles = { reasons: [], warnings: [] };

  async function measure(): Promise<QueueTroubles> {
    const startedAt = performance.now();
    try {
      const depth = await queue.measure();
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
  for (const state of ["due", "leased", "parked", "scheduled", "held", "unfetched"] as const)
    metrics.queueDepth.set({ state }, depth[state]);
  metrics.queueOldestAge.set(depth.oldestDueAgeS);
  metrics.queueLongestWait.set(depth.longestWaitS);
  metrics.queueDeadLeases.set(depth.deadLeases);
  metrics.outboxWaiting.set(depth.outboxWaiting);
  metrics.outboxOldestAge.set(depth.outboxOldestAgeS);
  metrics.handoversWaiting.set(depth.handoversWaiting);
  metrics.handoversOldestAge.set(depth.handoversOldestAgeS);
}
