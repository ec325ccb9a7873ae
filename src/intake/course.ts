/**
 * What becomes of a message that a worker took, as a state machine without a
 * clock of its own, and how fast a worker takes messages. Pure.
 *
 * A message is *held* while its events are tried. It *ends* when they are
 * accepted or refused. It is *put back* when it has to wait: then it holds no
 * place in any worker, and the stream hands it out again later, to any worker.
 */

/**
 * What came of a try. `unknown`: only the catalog is against it. `away`: the
 * database took nothing. `failed`: it, or something else, was against this message.
 */
export type Outcome = "accepted" | "refused" | "unknown" | "away" | "failed";

export type Step =
  | { kind: "end" }
  /** It ends without being accepted: its grace has run out. */
  | { kind: "refuse" }
  | { kind: "try_again"; afterMs: number }
  | { kind: "put_back"; afterMs: number };

/**
 * How long an event may be of a type that no worker's catalog has, counted from
 * when the stream took it, and how often it is looked at at least: after an
 * outage it may be old before anybody looks.
 */
export const GRACE_MS = 600_000;
const GRACE_LOOK_MS = 10_000;
export const GRACE_LOOKS = GRACE_MS / GRACE_LOOK_MS;
/** Tries before a message is put back, and the pause behind the first; each later one is twice as long. */
const TRIES = 5;
const FIRST_PAUSE_MS = 100;
const AWAY_WAIT_MS = 2_000;
/** How long a message waits that failed and is put back for the first time; each later time twice as long. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;

export type Course = {
  /** Tries that failed since the message was taken. */
  readonly failures: number;
  /** @param nowMs milliseconds since 1970 */
  after(outcome: Outcome, nowMs: number): Step;
};

export function makeCourse(message: { storedAtMs: number; deliveries: number }): Course {
  let failures = 0;
  let ended = false;
  return {
    get failures() {
      return failures;
    },
    after(outcome, nowMs) {
      if (ended) throw new Error("a message that has ended is not tried");
      const step = next(outcome, nowMs);
      ended = step.kind !== "try_again";
      return step;
    },
  };

  function next(outcome: Outcome, nowMs: number): Step {
    if (outcome === "accepted" || outcome === "refused") return { kind: "end" };
    if (outcome === "unknown") {
      const leftMs = message.storedAtMs + GRACE_MS - nowMs;
      if (leftMs <= 0 && message.deliveries > GRACE_LOOKS) return { kind: "refuse" };
      return { kind: "put_back", afterMs: leftMs <= 0 ? GRACE_LOOK_MS : Math.min(leftMs, GRACE_LOOK_MS) };
    }
    failures++;
    if (failures < TRIES) return { kind: "try_again", afterMs: FIRST_PAUSE_MS * 2 ** (failures - 1) };
    return { kind: "put_back", afterMs: outcome === "away" ? AWAY_WAIT_MS : waitMs(message.deliveries) };
  }
}

function waitMs(deliveries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(deliveries - 1, 20), LONGEST_WAIT_MS);
}

/** Messages that a worker takes at once and holds at most, and the bytes beyond which it takes no more. */
const MOST_AT_ONCE = 32;
const MOST_HELD = 256;
const MOST_HELD_BYTES = 8 * 1024 * 1024;
const LONGEST_PAUSE_MS = 5_000;

/**
 * How many messages a worker may take. When the database is away it takes none for a
 * pause, which doubles with each further one, and then a single message to
 * find out; a success ends that. So an outage costs little.
 */
export type Pace = {
  succeeded(): void;
  /** True when it is the first time since a success. */
  failed(nowMs: number): boolean;
  /** How many more may be taken now. */
  room(held: { messages: number; bytes: number }, nowMs: number): number;
};

export function makePace(): Pace {
  let failures = 0;
  let resumesAtMs = 0;
  return {
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
    room(held, nowMs) {
      if (failures === 0)
        return held.bytes < MOST_HELD_BYTES ? Math.min(MOST_HELD - held.messages, MOST_AT_ONCE) : 0;
      return nowMs < resumesAtMs || held.messages > 0 ? 0 : 1;
    },
  };
}
