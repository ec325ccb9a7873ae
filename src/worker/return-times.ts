/**
 * When dispatches that a full lane turns away come back: one after another,
 * about as fast as the lane has emptied lately. Sooner, and the rows of a long
 * backlog would be claimed and given back in a circle; a backlog of 100,000 at
 * an endpoint of one delivery a second would keep a database busy with it.
 */
import { LRUCache } from "lru-cache";
import type { EndpointId } from "../shared/id.ts";
import { LONGEST_RETURN_MS, type ReturnTimes } from "../queue/queue.ts";

/** Before it is known how fast a lane empties: a slow endpoint's later than a busy one's. */
const BUSY_RETURN_MS = 1000;
const SLOW_RETURN_MS = 60_000;
const LEAST_WATCHED_MS = 1000;
/** What was seen longer ago says little about now. */
const MOST_WATCHED_MS = 60_000;
const MAX_ENDPOINTS = 10_000;

/** A lane as it stands: attempts finished since it was made, and dispatches that wait. */
export type LaneProgress = { finished: number; waiting: number; isSlow: boolean };

type Seen = { atMs: number; finished: number; lineEndsMs: number };

export class ReturnDelays {
  readonly #seen = new LRUCache<EndpointId, Seen>({ max: MAX_ENDPOINTS });

  /** When what is turned away now should come back. */
  timesFor(endpointId: EndpointId, lane: LaneProgress, nowMs: number): ReturnTimes {
    const guess = { afterMs: 0, spreadMs: lane.isSlow ? SLOW_RETURN_MS : BUSY_RETURN_MS, everyMs: 0 };
    const seen = this.#seen.get(endpointId);
    // Fewer finished than before: the lane was empty meanwhile, and is another one.
    const isKnown = seen !== undefined && seen.finished <= lane.finished;
    const watchedMs = isKnown ? nowMs - seen.atMs : 0;
    if (!isKnown || watchedMs > MOST_WATCHED_MS) {
      const lineEndsMs = seen?.lineEndsMs ?? nowMs;
      this.#seen.set(endpointId, { atMs: nowMs, finished: lane.finished, lineEndsMs });
    }
    if (!isKnown || watchedMs < LEAST_WATCHED_MS) return guess;
    const perMs = (lane.finished - seen.finished) / watchedMs;
    if (perMs === 0) return { ...guess, spreadMs: LONGEST_RETURN_MS };
    const halfEmptyMs = lane.waiting / 2 / perMs;
    return {
      afterMs: Math.max(0, seen.lineEndsMs - nowMs),
      spreadMs: Math.min(LONGEST_RETURN_MS, Math.max(BUSY_RETURN_MS, halfEmptyMs)),
      everyMs: 1 / perMs,
    };
  }

  /** So many were turned away with these times: the next come behind them. */
  turnedAway(endpointId: EndpointId, count: number, { everyMs }: ReturnTimes, nowMs: number): void {
    const seen = this.#seen.get(endpointId);
    if (seen !== undefined) seen.lineEndsMs = Math.max(seen.lineEndsMs, nowMs) + count * everyMs;
  }
}

/** Milliseconds until a single one that is turned away comes back. */
export function returnDelay({ afterMs, spreadMs }: ReturnTimes): number {
  return Math.min(LONGEST_RETURN_MS - spreadMs, afterMs) + Math.random() * spreadMs;
}
