/**
 * How fast a worker takes messages, as state machines without a clock of their
 * own: one for each database to which messages go. Pure.
 *
 * A database is *open* while it accepts events. It is *failing* once it takes
 * nothing: it is left alone for a pause, which doubles with each further
 * failure, and then a single message finds out; a success ends that. One of
 * several is *full* when its share of the room has been taken for a second, until
 * half of it is free: it is silent, slow, or has a backlog. What waits for a
 * database that is not open takes no room from the others.
 */

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Messages that a worker takes at once and holds at most, and the bytes beyond which it takes no more. */
const MOST_AT_ONCE = 32;
const MOST_HELD = 256;
const MOST_HELD_BYTES = 8 * 1024 * 1024;
/** However many databases share the room. */
const LEAST_SHARE = 16;
/** A burst is over sooner. */
const FULL_AFTER_MS = 1_000;

type Held = { messages: number; bytes: number };

export type Pace = {
  /** A message of so many bytes waits for the database, until it leaves. */
  enter(bytes: number, nowMs: number): void;
  leave(bytes: number): void;
  succeeded(): void;
  /** True when it is the first time since a success. */
  failed(nowMs: number): boolean;
  state(nowMs: number): "open" | "full" | "failing";
  /** How many more messages may be tried. */
  free(nowMs: number): number;
  readonly held: Readonly<Held>;
};

/**
 * @param sharers databases that share the worker's room, this one included.
 * @param isAway whether somebody else knows that the database does not answer.
 */
export function makePace({ sharers, isAway }: { sharers: number; isAway: () => boolean }): Pace {
  const held = { messages: 0, bytes: 0 };
  // The room itself bounds what waits for the only one.
  const share =
    sharers === 1
      ? { messages: Infinity, bytes: Infinity }
      : { messages: Math.max(MOST_HELD / sharers, LEAST_SHARE), bytes: MOST_HELD_BYTES / sharers };
  let failures = 0;
  let resumesAtMs = 0;
  let takenSinceMs: number | null = null;

  function exceeds(part: number): boolean {
    return held.messages >= part * share.messages || held.bytes >= part * share.bytes;
  }

  function state(nowMs: number): "open" | "full" | "failing" {
    if (failures > 0 || isAway()) return "failing";
    return takenSinceMs !== null && nowMs - takenSinceMs > FULL_AFTER_MS ? "full" : "open";
  }

  return {
    held,
    state,
    enter(bytes, nowMs) {
      held.messages++;
      held.bytes += bytes;
      if (exceeds(1)) takenSinceMs ??= nowMs;
    },
    leave(bytes) {
      held.messages--;
      held.bytes -= bytes;
      if (!exceeds(1 / 2)) takenSinceMs = null;
    },
    succeeded() {
      failures = 0;
    },
    failed(nowMs) {
      // Messages that were held together fail together: that is one failure.
      if (failures > 0 && nowMs < resumesAtMs) return false;
      resumesAtMs = nowMs + Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), LONGEST_PAUSE_MS);
      failures++;
      return failures === 1;
    },
    free(nowMs) {
      const now = state(nowMs);
      if (now === "open") return Infinity;
      if (now === "full") return exceeds(1) ? 0 : Math.ceil(share.messages - held.messages);
      return !isAway() && nowMs >= resumesAtMs && held.messages === 0 ? 1 : 0;
    },
  };
}

/** How many more messages may be taken now. */
export function roomOf(held: Readonly<Held>, paces: readonly Pace[], nowMs: number): number {
  const closed = paces.filter((pace) => pace.state(nowMs) !== "open");
  const others = {
    messages: held.messages - closed.reduce((sum, pace) => sum + pace.held.messages, 0),
    bytes: held.bytes - closed.reduce((sum, pace) => sum + pace.held.bytes, 0),
  };
  if (closed.length < paces.length) {
    return others.bytes < MOST_HELD_BYTES ? clamp(MOST_HELD - others.messages) : 0;
  }
  // Those that are read, and wait for no database yet, may take what is free.
  return clamp(closed.reduce((sum, pace) => sum + pace.free(nowMs), 0) - others.messages);
}

function clamp(room: number): number {
  return Math.max(0, Math.min(room, MOST_AT_ONCE));
}
