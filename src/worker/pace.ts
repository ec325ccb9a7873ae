/**
 * How many dispatches a lane may hold: about what it finishes in five seconds.
 * More would outlive their leases in memory and be returned unsent. Pure.
 */
import { LEAST_WIDTH } from "./width.ts";

/** Attempts take up to 15 seconds, so a shorter one would see many of them end at once, and then none. */
const WINDOW_MS = 10_000;
const HORIZON_MS = 5000;
/** For a lane that has not been seen to fall behind. */
const FIRST_CAPACITY = 2000;
const MOST_CAPACITY = 10_000;

/** Attempts finished in the window that runs and in the one before; a lane counts as busy since something waits in it. */
export type Pace = {
  windowStartMs: number;
  finished: number;
  finishedBefore: number;
  busySinceMs: number | null;
};

export function newPace(nowMs: number): Pace {
  return { windowStartMs: nowMs, finished: 0, finishedBefore: 0, busySinceMs: null };
}

export function noteFinished(pace: Pace, nowMs: number): void {
  roll(pace, nowMs);
  pace.finished++;
}

/** Dispatches that may wait in a lane of this width and rate limit (per second, null for none). */
export function capacityOf(
  pace: Pace,
  lane: { width: number; perSecond: number | null; isBacklogged: boolean },
  nowMs: number,
): number {
  roll(pace, nowMs);
  // A backlogged lane begins small: what it pulls and cannot send is one more update each.
  const least = lane.isBacklogged ? LEAST_WIDTH : Math.floor(lane.width);
  const isBusyForLong = pace.busySinceMs !== null && nowMs - pace.busySinceMs >= HORIZON_MS;
  const isBehind = lane.isBacklogged || isBusyForLong;
  const seen = Math.floor((Math.max(pace.finished, pace.finishedBefore) * HORIZON_MS) / WINDOW_MS);
  // One that has just pulled the last of a large backlog holds more than a new one may.
  const measured = isBehind ? seen : Math.max(seen, FIRST_CAPACITY);
  const allowed = lane.perSecond === null ? Infinity : (lane.perSecond * HORIZON_MS) / 1000;
  return Math.max(least, Math.min(measured, allowed, MOST_CAPACITY));
}

function roll(pace: Pace, nowMs: number): void {
  const windows = Math.floor((nowMs - pace.windowStartMs) / WINDOW_MS);
  if (windows < 1) return;
  pace.finishedBefore = windows === 1 ? pace.finished : 0;
  pace.finished = 0;
  pace.windowStartMs += windows * WINDOW_MS;
}
