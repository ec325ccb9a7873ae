/**
 * What becomes of a message that a worker took, as a state machine without a
 * clock of its own. Pure.
 *
 * A message is *held* while its events are tried. It *ends* when they are
 * accepted or refused. It is *put back* when it has to wait: then it holds no
 * place in any worker, and the stream hands it out again later, to any worker.
 */

/**
 * What came of a try. `unknown`: only the catalog is against it. `away`: the
 * database took nothing. `closed`: its shard took nothing before, so it was not
 * tried there. `moving`: its tenant is on its way to another shard, or was found
 * in another than this worker knew. `failed`: the database, or something else,
 * was against this message.
 */
export type Outcome = "accepted" | "refused" | "unknown" | "closed" | "moving" | "away" | "failed";

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
/**
 * How long a message waits for a shard, or for a move, the first time at most;
 * each later time twice as long. So it waits about as long again as it has, and
 * a worker, which must take a message to see whose it is, takes it a few times.
 */
const FIRST_SHARD_WAIT_MS = 1_000;
const LONGEST_SHARD_WAIT_MS = 60_000;
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;
/** How long a message waits that failed and is put back for the first time; each later time twice as long. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;

type Message = { sequence: number; storedAtMs: number; deliveries: number };

export type Course = {
  /** Tries that failed since the message was taken. */
  readonly failures: number;
  /** @param nowMs milliseconds since 1970 */
  after(outcome: Outcome, nowMs: number): Step;
};

export function makeCourse(message: Message): Course {
  let failures = 0;
  let wasMoving = false;
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
    if (outcome === "closed" || (outcome === "moving" && wasMoving)) {
      const longestMs = waitMs(message.deliveries, FIRST_SHARD_WAIT_MS, LONGEST_SHARD_WAIT_MS);
      return { kind: "put_back", afterMs: Math.round(longestMs * spread(message.sequence)) };
    }
    if (outcome === "moving") {
      // The directory is asked anew, and may name another shard.
      wasMoving = true;
      return { kind: "try_again", afterMs: 0 };
    }
    failures++;
    if (failures < TRIES) return { kind: "try_again", afterMs: FIRST_PAUSE_MS * 2 ** (failures - 1) };
    return {
      kind: "put_back",
      afterMs: outcome === "away" ? AWAY_WAIT_MS : waitMs(message.deliveries, FIRST_WAIT_MS, LONGEST_WAIT_MS),
    };
  }
}

function waitMs(deliveries: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(deliveries - 1, 20), longestMs);
}

/** Between a half and one, even over messages that follow each other: what waits must not come back at once. */
function spread(sequence: number): number {
  return 0.5 + ((sequence * GOLDEN_RATIO) % 1) / 2;
}
