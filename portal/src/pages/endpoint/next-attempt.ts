/** When an endpoint's figures are read again by themselves. */

/** An endpoint may have attempts that are due all the time. */
const LEAST_PAUSE_MS = 30_000;
/** An attempt takes as long, as a rule. */
const SETTLE_MS = 3000;
/** Timers take no longer. */
const LONGEST_MS = 3_600_000;

/** Until the next attempt should be over; false where none is pending. */
export function msToNext(stats: { oldest_due_at: string | null } | undefined, nowMs: number): number | false {
  if (typeof stats?.oldest_due_at !== "string") return false;
  const dueMs = Date.parse(stats.oldest_due_at) - nowMs;
  return Math.min(Math.max(dueMs, LEAST_PAUSE_MS) + SETTLE_MS, LONGEST_MS);
}
