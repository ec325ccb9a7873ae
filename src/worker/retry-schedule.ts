/** When the next automatic attempt is made. Pure: chance and the receiver's wish come in. */

const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** A tenth more at most, so that many events that failed together do not return together. */
const JITTER = 0.1;

/**
 * Milliseconds to wait after attempt number `attempt` failed, or null when it
 * was the last. `scheduleMs[n]` is the wait before attempt n + 1; `random` in
 * [0, 1) adds jitter; a receiver's Retry-After can only lengthen the wait.
 */
export function nextDelayMs(
  attempt: number,
  scheduleMs: readonly number[],
  chance: { random: number; retryAfterMs: number | null },
): number | null {
  const scheduledMs = scheduleMs[attempt];
  if (scheduledMs === undefined) return null;
  const jitteredMs = scheduledMs * (1 + JITTER * chance.random);
  return Math.round(Math.max(jitteredMs, Math.min(chance.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
}

/** The beginning of an HTTP date in each of its three forms. Two are obsolete but must be accepted. */
const WEEKDAY = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Milliseconds that a Retry-After value asks for: seconds or an HTTP date (RFC 9110, 10.2.3); null for neither. */
export function parseRetryAfterMs(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000;
  // A number with a sign or a fraction is no date, though Date.parse reads it as a year.
  if (!WEEKDAY.test(text)) return null;
  // The form of C's asctime names no zone, and is in GMT as the others are.
  const atMs = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - now.getTime());
}
