/**
 * When a dispatch that its full lane turned away comes back: about when the lane
 * will have room, by how fast it has emptied lately. Sooner, and the rows of a
 * long backlog would be claimed and given back in a circle; a backlog of 100,000
 * at an endpoint of one delivery a second would keep a database busy with it.
 */
import { LRUCache } from "lru-cache";
import type { EndpointId } from "../shared/id.ts";

/** Before it is known how fast a lane empties: a slow endpoint's later than a busy one's. */
const BUSY_RETURN_MS = 1000;
const SLOW_RETURN_MS = 60_000;
/** An endpoint that recovers must not wait for its backlog for longer. */
const LONGEST_RETURN_MS = 600_000;
const LEAST_WATCHED_MS = 1000;
/** What was seen longer ago says little about now. */
const MOST_WATCHED_MS = 60_000;
const MAX_ENDPOINTS = 10_000;

/** A lane as it stands: attempts finished since it was made, and dispatches that wait. */
export type LaneProgress = { finished: number; waiting: number; isSlow: boolean };

export class ReturnDelays {
  readonly #seen = new LRUCache<EndpointId, { atMs: number; finished: number }>({ max: MAX_ENDPOINTS });

  /** Milliseconds within which what is turned away now should come back, spread out. */
  within(endpointId: EndpointId, lane: LaneProgress, nowMs: number): number {
    const guessMs = lane.isSlow ? SLOW_RETURN_MS : BUSY_RETURN_MS;
    const seen = this.#seen.get(endpointId);
    // Fewer finished than before: the lane was empty meanwhile, and is another one.
    const isKnown = seen !== undefined && seen.finished <= lane.finished;
    const watchedMs = isKnown ? nowMs - seen.atMs : 0;
    if (!isKnown || watchedMs > MOST_WATCHED_MS) {
      this.#seen.set(endpointId, { atMs: nowMs, finished: lane.finished });
    }
    if (!isKnown || watchedMs < LEAST_WATCHED_MS) return guessMs;
    const perMs = (lane.finished - seen.finished) / watchedMs;
    const halfEmptyMs = lane.waiting / 2 / perMs;
    return Math.min(LONGEST_RETURN_MS, Math.max(BUSY_RETURN_MS, halfEmptyMs));
  }
}
