import type { QueueDepth } from "../../src/queue/queue-troubles.ts";

/** A queue in which nothing waits. */
export const QUIET: QueueDepth = {
  due: 0,
  leased: 0,
  parked: 0,
  scheduled: 0,
  held: 0,
  unfetched: 0,
  oldestDueAgeS: 0,
  longestWaitS: 0,
  deadLeases: 0,
  outboxWaiting: 0,
  outboxOldestAgeS: 0,
  handoversWaiting: 0,
  handoversOldestAgeS: 0,
};
