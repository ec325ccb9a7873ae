/**
 * Judges by the queue's table alone whether workers work on it, so that a
 * process without a worker can report it too.
 *
 * The measure is how long a dispatch has been claimable, not how long it has
 * been due: a worker parks the dispatches that a slow or rate-limited endpoint
 * has no room for, so these are due for long but not claimable.
 */

/** The queue at one moment: dispatches by state, ages in seconds. */
export type QueueDepth = {
  due: number;
  leased: number;
  /** Due, and waiting in the table for their endpoint's lane. */
  parked: number;
  scheduled: number;
  held: number;
  /** At pull endpoints: due, scheduled, or leased to a client. */
  unfetched: number;
  /** Since the oldest dispatch that may be claimed was due; 0 when there is none. */
  oldestDueAgeS: number;
  /** Since the dispatch that waits longest for a worker could be claimed; 0 when none waits. */
  longestWaitS: number;
  /** Leases that ended {@link DEAD_LEASE_AFTER_S} ago or earlier, on dispatches that no worker has claimed since. */
  deadLeases: number;
  /** Events in the outbox, which no worker has relayed yet. */
  outboxWaiting: number;
  /** Since the oldest of them was published, which is before its transaction committed; 0 when none waits. */
  outboxOldestAgeS: number;
  /** Events that lie here and belong into other shards; their ages as those of the outbox. */
  handoversWaiting: number;
  handoversOldestAgeS: number;
};

/** Workers look five times a second; one that is started or replaced needs some seconds. */
const UNWORKED_AFTER_S = 30;
/** As long as a lease: a worker that dies leaves rows for that long, and then any other takes them at once. */
export const DEAD_LEASE_AFTER_S = 60;
/**
 * One worker apart from the API makes some 7,000 deliveries a second, so a
 * burst of two million dispatches is sent within it. If a dispatch waits longer,
 * events arrive faster than they are sent.
 */
const BACKLOG_AFTER_S = 300;

export type QueueTroubles = {
  /** Faults of the queue, each with its remedy; empty when there are none. */
  reasons: string[];
  /** States that one tenant's backlog can cause although everything works. */
  warnings: string[];
};

export function queueTroubles(depth: QueueDepth): QueueTroubles {
  const { due, leased, longestWaitS, deadLeases, outboxWaiting, outboxOldestAgeS } = depth;
  const waited = `${Math.floor(longestWaitS)} s`;
  const reasons: string[] = [];
  const warnings: string[] = [];
  if (longestWaitS > UNWORKED_AFTER_S && leased === 0) {
    reasons.push(
      `no worker claims due dispatches: ${due}, the first for ${waited}; start one (worker or up), or see the running workers' logs`,
    );
  } else if (longestWaitS > BACKLOG_AFTER_S) {
    warnings.push(
      `due dispatches have waited ${waited} for a worker, more than ${BACKLOG_AFTER_S}: check the database's load and add workers`,
    );
  }
  if (deadLeases > 0) {
    reasons.push(
      `${deadLeases} leases of dead or hanging workers ended more than ${DEAD_LEASE_AFTER_S} s ago and no worker took them over: see the workers' logs, restart or add one`,
    );
  }
  // Not sooner: when workers first see an event, it is as old as its producer's transaction is long.
  if (outboxOldestAgeS > BACKLOG_AFTER_S) {
    reasons.push(
      `events from SQL have waited ${Math.floor(outboxOldestAgeS)} s in the outbox, more than ${BACKLOG_AFTER_S}: ${outboxWaiting} events; start or add a worker, or see the running workers' logs`,
    );
  }
  return { reasons, warnings };
}
