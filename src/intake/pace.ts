/**
 * How fast a worker takes messages, as state machines without a clock of their
 * own: one for each database to which messages go. Pure.
 *
 * A database is *open* while it accepts events. It is *failing* once it takes
 * nothing: it is left alone for a pause, which doubles with each further
 * failure, and then a single message finds out; a success ends that. It is
 * *stuck* while its share of the room is taken and nothing passed for a second.
 * One that is neither open is *closed*: what waits for it takes no room from the
 * others.
 */

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Messages that a worker takes at once and holds at most, and the bytes beyond which it takes no more. */
const MOST_AT_ONCE = 32;
const MOST_HELD = 256;
const MOST_HELD_BYTES = 8 * 1024 * 1024;
/** However many databases share the room. */
const LEAST_SHARE = 16;
const STUCK_AFTER_MS = 1_000;

type Held = { messages: number; bytes: number };

export type Pace = {
  /** A message of so many bytes waits for the database, until it leaves. */
  enter(bytes: number, nowMs: number): void;
  leave(bytes: number): void;
  succeeded(nowMs: number): void;
  /** True when it is the first time since a success. */
  failed(nowMs: number): boolean;
  isClosed(nowMs: number): boolean;
  /** Whether another message may be tried. */
  admits(nowMs: number): boolean;
  readonly held: Readonly<Held>;
};

/**
 * @param sharers databases that share the worker's room, this one included.
 * @param isAway whether somebody else knows that the database does not answer.
 */
export function makePace({ sharers, isAway }: { sharers: number; isAway: () => boolean }): Pace {
  const held = { messages: 0, bytes: 0 };
  const share = {
    messages: Math.max(MOST_HELD / sharers, LEAST_SHARE),
    bytes: MOST_HELD_BYTES / sharers,
  };
  let failures = 0;
  let resumesAtMs = 0;
  let movedAtMs = 0;

  /** Failing is left to find out; for these two there is nothing to try. */
  function isShut(nowMs: number): boolean {
    const isFull = held.messages >= share.messages || held.bytes >= share.bytes;
    return isAway() || (isFull && nowMs - movedAtMs > STUCK_AFTER_MS);
  }

  return {
    held,
    enter(bytes, nowMs) {
      if (held.messages === 0) movedAtMs = nowMs;
      held.messages++;
      held.bytes += bytes;
    },
    leave(bytes) {
      held.messages--;
      held.bytes -= bytes;
    },
    succeeded(nowMs) {
      failures = 0;
      movedAtMs = nowMs;
    },
    failed(nowMs) {
      // Messages that were held together fail together: that is one failure.
      if (failures > 0 && nowMs < resumesAtMs) return false;
      resumesAtMs = nowMs + Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), LONGEST_PAUSE_MS);
      failures++;
      return failures === 1;
    },
    isClosed: (nowMs) => failures > 0 || isShut(nowMs),
    admits: (nowMs) => !isShut(nowMs) && (failures === 0 || (nowMs >= resumesAtMs && held.messages === 0)),
  };
}

/** How many more messages may be taken now. What waits for a closed database alone takes no room. */
export function roomOf(held: Readonly<Held>, paces: readonly Pace[], nowMs: number): number {
  const closed = paces.filter((pace) => pace.isClosed(nowMs));
  const sum = (of: keyof Held): number => closed.reduce((total, pace) => total + pace.held[of], 0);
  if (closed.length === paces.length) {
    // A single one, to find out.
    const isNoneTried = held.messages - sum("messages") <= 0;
    return isNoneTried && paces.some((pace) => pace.admits(nowMs)) ? 1 : 0;
  }
  if (held.bytes - sum("bytes") >= MOST_HELD_BYTES) return 0;
  return Math.max(0, Math.min(MOST_HELD - (held.messages - sum("messages")), MOST_AT_ONCE));
}
