/**
 * How many attempts an endpoint may have in flight at once. Learned: one more
 * after each round of attempts that came back while the lane used all it had,
 * half for each attempt that was slow. A fraction is the way to one more. Pure.
 */

/** Opening many connections at once would delay every other endpoint, so an endpoint begins with few. */
export const FIRST_WIDTH = 8;
/** The width of the slowest endpoint. */
export const LEAST_WIDTH = 4;
export const MOST_WIDTH = 64;

/** An attempt in flight for longer makes its endpoint's lane narrower. */
export const SLOW_ATTEMPT_MS = 3000;

export function wider(width: number): number {
  return Math.min(MOST_WIDTH, width + 1 / Math.floor(width));
}

export function narrower(width: number): number {
  return Math.max(LEAST_WIDTH, Math.floor(width / 2));
}
