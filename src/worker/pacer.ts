/** An endpoint's own rate limit, kept by this process. Pure. */

/** When the next attempt may start, in monotonic milliseconds; -Infinity before the first. */
export type Turn = { nextMs: number };

/**
 * Milliseconds until an attempt may start at `nowMs`; 0 counts one as started.
 * A quiet endpoint may catch up on at most a tenth of a second, or one attempt.
 */
export function takeTurn(turn: Turn, perSecond: number, nowMs: number): number {
  const intervalMs = 1000 / perSecond;
  const earliestMs = nowMs - Math.max(100 - intervalMs, 0);
  const turnMs = Math.max(turn.nextMs, earliestMs);
  if (turnMs > nowMs) return turnMs - nowMs;
  turn.nextMs = turnMs + intervalMs;
  return 0;
}
