/** Far more than a clock that is set by NTP. */
const CLOCK_LIMIT_MS = 5000;

/** When a server was asked for its time, what it told, and when the answer was here, in milliseconds since 1970. */
export type ToldTime = { askedAtMs: number; toldMs: number; answeredAtMs: number };

/**
 * Milliseconds by which this machine's clock is ahead of the server's, below 0
 * if it is behind, at the least: where both are right, the server told its time
 * in between, however long that was. 0 where both may be right.
 */
export function clockDifferenceMs({ askedAtMs, toldMs, answeredAtMs }: ToldTime): number {
  return Math.max(askedAtMs - toldMs, 0) + Math.min(answeredAtMs - toldMs, 0);
}

/** Receivers refuse requests that are signed at such a time. */
export function isWrongClock(differenceMs: number): boolean {
  return Math.abs(differenceMs) >= CLOCK_LIMIT_MS;
}
