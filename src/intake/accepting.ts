/**
 * Accepts the events of messages where their tenants live, each home at its own
 * pace. A home that takes nothing delays its own tenants' events alone: the
 * others of the same message are accepted, and when the message comes again
 * their homes know them by their ids.
 *
 * Where there are several homes, a closed one is not tried at all, so a message
 * returns to the stream at once. The only database is always tried, since its
 * pace already bounds what is taken.
 */
import { isContention, isPassing } from "../database/passing-errors.ts";
import type { Taken } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import type { Outcome } from "./course.ts";
import { TenantMovingError, type Home, type Homes } from "./homes.ts";
import { makePace, roomOf, type Pace } from "./pace.ts";

/** A try that takes longer counts as failed; its end changes nothing, since events are accepted once. */
const TRY_LIMIT_MS = 60_000;

/** What one worker does with one message that it holds. */
export type Trial = {
  readonly bytes: number;
  /** Grouped with other messages' events, until one of this message has failed a group. */
  how: "grouped" | "alone";
  readonly accepted: Set<EventId>;
  /** Where it was let in, and takes a place until it is left. */
  readonly entered: Set<Home>;
  readonly done: (home: Home, event: NewEvent, taken: Taken) => void;
};

export type Accepted = { outcome: Outcome; home: Home | null; error?: unknown };

export type Accepting = {
  /** Tries all events of a message that are not accepted yet, and answers the worst of what came of it. */
  accept(events: readonly NewEvent[], trial: Trial): Promise<Accepted>;
  /** The message is no longer this worker's. */
  leave(trial: Trial): void;
  /** How many more messages the worker may take. */
  room(held: { messages: number; bytes: number }): number;
};

/** The last is the one that decides. */
const SEVERITY: readonly Outcome[] = ["accepted", "closed", "moving", "away", "failed"];

class NoAnswerError extends Error {
  constructor() {
    super("the database does not answer");
  }
}

export function makeAccepting({ homes, clock, log }: { homes: Homes; clock: Clock; log: Log }): Accepting {
  const paces = new Map<Home, Pace>(
    homes.all.map((home) => [home, makePace({ sharers: homes.all.length, isAway: () => home.isAway() })]),
  );
  const hasSeveral = homes.all.length > 1;

  function paceOf(home: Home): Pace {
    const pace = paces.get(home);
    if (pace === undefined) throw new Error("a home has no pace");
    return pace;
  }

  function enters(home: Home, { entered, bytes }: Trial): boolean {
    if (entered.has(home)) return true;
    const pace = paceOf(home);
    if (hasSeveral && pace.free(clock.nowMs()) === 0) return false;
    entered.add(home);
    pace.enter(bytes, clock.nowMs());
    return true;
  }

  function outcomeOf(home: Home, error: unknown): Accepted {
    if (error instanceof TenantMovingError) return { outcome: "moving", home, error };
    if (!isAway(error)) return { outcome: "failed", home, error };
    if (paceOf(home).failed(clock.nowMs())) {
      const { shard } = home;
      log.warn(
        { err: error, ...(shard === null ? {} : { shard }) },
        "the database takes no events: those of the intake wait in its stream",
      );
    }
    return { outcome: "away", home, error };
  }

  /** All of them, or the first one's error; finished ones go to `accepted`, and a later try skips them. */
  async function acceptAt(home: Home, events: readonly NewEvent[], trial: Trial): Promise<Accepted> {
    if (!enters(home, trial)) return { outcome: "closed", home };
    const accepting = events.map(async (event) => {
      const taken = await home.accept(event, trial.how);
      if (trial.accepted.has(event.id)) return;
      trial.accepted.add(event.id);
      trial.done(home, event, taken);
    });
    try {
      // All have an outcome before any is tried again, so that no event meets itself.
      const settled = await withinLimit(
        Promise.allSettled(accepting),
        TRY_LIMIT_MS,
        () => new NoAnswerError(),
      );
      for (const result of settled) if (result.status === "rejected") throw result.reason;
      paceOf(home).succeeded();
      return { outcome: "accepted", home };
    } catch (error) {
      return outcomeOf(home, error);
    }
  }

  /** Of tenants that this process does not know yet. */
  async function acceptAnywhere(events: readonly NewEvent[], trial: Trial): Promise<Accepted> {
    const { keeper } = homes;
    const pace = paceOf(keeper);
    if (pace.free(clock.nowMs()) === 0) return { outcome: "closed", home: keeper };
    const found = new Map<TenantId, Home | null>();
    pace.enter(trial.bytes, clock.nowMs());
    try {
      const tenants = new Set(events.map(({ tenantId }) => tenantId));
      await Promise.all(
        Array.from(tenants, async (tenantId) => found.set(tenantId, await homes.find(tenantId))),
      );
    } catch (error) {
      return outcomeOf(keeper, error);
    } finally {
      // From here on it waits for its tenants' homes.
      pace.leave(trial.bytes);
    }
    const byHome = Map.groupBy(events, ({ tenantId }) => found.get(tenantId) ?? null);
    return worst(
      Array.from(byHome, async ([home, some]): Promise<Accepted> =>
        home === null ? { outcome: "closed", home } : acceptAt(home, some, trial),
      ),
    );
  }

  return {
    async accept(events, trial) {
      const left = events.filter(({ id }) => !trial.accepted.has(id));
      const byHome = Map.groupBy(left, ({ tenantId }) => homes.peek(tenantId) ?? null);
      return worst(
        Array.from(byHome, ([home, some]) =>
          home === null ? acceptAnywhere(some, trial) : acceptAt(home, some, trial),
        ),
      );
    },
    leave({ entered, bytes }) {
      for (const home of entered) paceOf(home).leave(bytes);
      entered.clear();
    },
    room: (held) => roomOf(held, [...paces.values()], clock.nowMs()),
  };
}

/** Whether a database takes nothing at all now. */
function isAway(error: unknown): boolean {
  const isRefused = error instanceof Refusal && error.code === "unavailable";
  return error instanceof NoAnswerError || isRefused || (isPassing(error) && !isContention(error));
}

async function worst(trying: readonly Promise<Accepted>[]): Promise<Accepted> {
  const [first, ...others] = await Promise.all(trying);
  if (first === undefined) return { outcome: "accepted", home: null };
  return others.reduce(
    (one, other) => (SEVERITY.indexOf(other.outcome) > SEVERITY.indexOf(one.outcome) ? other : one),
    first,
  );
}
