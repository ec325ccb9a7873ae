/** The log's time for an event: far enough back to have it. */
const HOUR_MS = 3_600_000;
/** The longest time that the log has a name for. */
export const MONTH_MS = 30 * 24 * HOUR_MS;
/** Version 7, which begins with its time. */
const TIMED_ID = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

type Times = { range?: "30d" | undefined; from?: string | undefined; to: undefined };

/** A time from `from` on, changed where it begins after the event. It has no end: attempts may follow any. */
export function reachBack(eventId: string, from: Date, now: Date): Times {
  const [, high, low] = TIMED_ID.exec(eventId) ?? [];
  if (high === undefined || low === undefined) return { to: undefined };
  // Its deliveries have the time of the database, whose clock may be behind.
  const atMs = Number.parseInt(high + low, 16) - HOUR_MS;
  if (atMs >= from.getTime()) return { to: undefined };
  if (atMs >= now.getTime() - MONTH_MS) return { range: "30d", from: undefined, to: undefined };
  return { range: undefined, from: new Date(atMs).toISOString(), to: undefined };
}
