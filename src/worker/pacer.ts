import { LRUCache } from "lru-cache";
import type { EndpointId } from "../shared/id.ts";

const MAX_ENDPOINTS = 10_000;

/** Keeps each endpoint's own rate limit in this process. */
export class RatePacer {
  readonly #nextTurnMs = new LRUCache<EndpointId, number>({ max: MAX_ENDPOINTS });

  /** Milliseconds until an attempt may start at `nowMs` (monotonic); 0 counts one as started. Null is no limit. */
  waitMs(endpointId: EndpointId, perSecond: number | null, nowMs: number): number {
    if (perSecond === null) return 0;
    const intervalMs = 1000 / perSecond;
    // A quiet endpoint may catch up on at most a tenth of a second, or one attempt.
    const earliestMs = nowMs - Math.max(100 - intervalMs, 0);
    const turnMs = Math.max(this.#nextTurnMs.get(endpointId) ?? earliestMs, earliestMs);
    if (turnMs > nowMs) return turnMs - nowMs;
    this.#nextTurnMs.set(endpointId, turnMs + intervalMs);
    return 0;
  }
}
