/**
 * Arithmetic on instants.
 *
 * An instant is 24 characters of UTC with milliseconds; all arithmetic is on
 * integer milliseconds, never on calendar fields, so neither a month's length
 * nor a time zone can move a deadline.
 */

export const DAY_MS = 86_400_000;

/** 2099-12-31T23:59:59.999Z, the last instant that the fixed width can hold here. */
export const LAST_INSTANT_MS = Date.UTC(2099, 11, 31, 23, 59, 59, 999);

/** Milliseconds since 1970 of a parsed instant. */
export function toMs(instant: string): number {
  return Date.parse(instant);
}

/** The instant of a number of milliseconds since 1970. */
export function fromMs(ms: number): string {
  return new Date(ms).toISOString();
}

/** Deadlines are half-open: at the deadline itself the artifact is past it. */
export function isPastDeadline(deadline: string, now: string): boolean {
  return toMs(now) >= toMs(deadline);
}
