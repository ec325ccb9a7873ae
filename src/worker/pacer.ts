/** An endpoint's own rate limit, kept by the worker that has its slot. Pure. */

export type Turn = {
  /** When the next attempt may start, in monotonic milliseconds; -Infinity before the first. */
  nextMs: number;
  /** Since when this worker makes the endpoint's attempts. The one before may have started one at that moment. */
  sinceMs: number;
};

/** A second without too many attempts begins with the last one of the worker before. */
const NEW_FOR_MS = 1000;

/**
 * Milliseconds until an attempt may start at `nowMs`; 0 counts one as started.
 * A quiet endpoint may catch up on at most a tenth of a second, or one attempt.
 */
export function takeTurn(turn: Turn, perSecond: number, nowMs: number): number {
  const intervalMs = 1000 / perSecond;
  // To a new worker it may seem quiet, although the one before has just started attempts.
  const isNew = nowMs - turn.sinceMs < NEW_FOR_MS;
  const earliestMs = isNew ? nowMs : nowMs - Math.max(100 - intervalMs, 0);
  const turnMs = Math.max(turn.nextMs, turn.sinceMs + intervalMs, earliestMs);
  if (turnMs > nowMs) return turnMs - nowMs;
  turn.nextMs = turnMs + intervalMs;
  return 0;
}

/** A turn that was taken so long ago that it counts no more: sent together with those behind it, it would exceed the limit. */
export function isStale(takenMs: number, perSecond: number, nowMs: number): boolean {
  return nowMs - takenMs >= 1000 / perSecond;
}
