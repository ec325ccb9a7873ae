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

class SilentHomeError extends Error {
  constructor() {
    super("the database does not answer");
  }
}

type AcceptingServices = { homes: Homes; clock: Clock; log: Log };

export function makeAccepting(services: AcceptingServices): Accepting {
  return new Paced(services);
}

class Paced implements Accepting {
  readonly #services: AcceptingServices;
  readonly #paces: ReadonlyMap<Home, Pace>;

  constructor(services: AcceptingServices) {
    this.#services = services;
    const { all } = services.homes;
    this.#paces = new Map(
      all.map((home) => [home, makePace({ sharers: all.length, isAway: () => home.isAway() })]),
    );
  }

  async accept(events: readonly NewEvent[], trial: Trial): Promise<Accepted> {
    const left = events.filter(({ id }) => !trial.accepted.has(id));
    const byHome = Map.groupBy(left, ({ tenantId }) => this.#services.homes.peek(tenantId) ?? null);
    return worst(
      Array.from(byHome, ([home, some]) =>
        home === null ? this.#acceptAnywhere(some, trial) : this.#acceptAt(home, some, trial),
      ),
    );
  }

  leave({ entered, bytes }: Trial): void {
    for (const home of entered) this.#paceOf(home).leave(bytes);
    entered.clear();
  }

  room(held: { messages: number; bytes: number }): number {
    return roomOf(held, [...this.#paces.values()], this.#services.clock.nowMs());
  }

  #paceOf(home: Home): Pace {
    const pace = this.#paces.get(home);
    if (pace === undefined) throw new Error("a home has no pace");
    return pace;
  }

  #enters(home: Home, { entered, bytes }: Trial): boolean {
    if (entered.has(home)) return true;
    const pace = this.#paceOf(home);
    const nowMs = this.#services.clock.nowMs();
    if (this.#paces.size > 1 && pace.free(nowMs) === 0) return false;
    entered.add(home);
    pace.enter(bytes, nowMs);
    return true;
  }

  /** All of them, or the first one's error; finished ones go to `accepted`, and a later try skips them. */
  async #acceptAt(home: Home, events: readonly NewEvent[], trial: Trial): Promise<Accepted> {
    if (!this.#enters(home, trial)) return { outcome: "closed", home };
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
        () => new SilentHomeError(),
      );
      for (const result of settled) if (result.status === "rejected") throw result.reason;
      this.#paceOf(home).succeeded();
      return { outcome: "accepted", home };
    } catch (error) {
      return this.#outcomeOf(home, error);
    }
  }

  /** Of tenants that this process does not know yet. */
  async #acceptAnywhere(events: readonly NewEvent[], trial: Trial): Promise<Accepted> {
    const { homes, clock } = this.#services;
    const { keeper } = homes;
    const pace = this.#paceOf(keeper);
    if (pace.free(clock.nowMs()) === 0) return { outcome: "closed", home: keeper };
    const found = new Map<TenantId, Home | null>();
    pace.enter(trial.bytes, clock.nowMs());
    try {
      const tenants = new Set(events.map(({ tenantId }) => tenantId));
      await Promise.all(
        Array.from(tenants, async (tenantId) => found.set(tenantId, await homes.find(tenantId))),
      );
    } catch (error) {
      return this.#outcomeOf(keeper, error);
    } finally {
      // From here on it waits for its tenants' homes.
      pace.leave(trial.bytes);
    }
    const byHome = Map.groupBy(events, ({ tenantId }) => found.get(tenantId) ?? null);
    return worst(
      Array.from(byHome, async ([home, some]): Promise<Accepted> =>
        home === null ? { outcome: "closed", home } : this.#acceptAt(home, some, trial),
      ),
    );
  }

  #outcomeOf(home: Home, error: unknown): Accepted {
    if (error instanceof TenantMovingError) return { outcome: "moving", home, error };
    if (!isAway(error)) return { outcome: "failed", home, error };
    if (this.#paceOf(home).failed(this.#services.clock.nowMs())) {
      const { shard } = home;
      this.#services.log.warn(
        { err: error, ...(shard === null ? {} : { shard }) },
        "the database takes no events: those of the intake wait in its stream",
      );
    }
    return { outcome: "away", home, error };
  }
}

/** Whether a database takes nothing at all now. */
function isAway(error: unknown): boolean {
  const isRefused = error instanceof Refusal && error.code === "unavailable";
  return error instanceof SilentHomeError || isRefused || (isPassing(error) && !isContention(error));
}

async function worst(trying: readonly Promise<Accepted>[]): Promise<Accepted> {
  const [first, ...others] = await Promise.all(trying);
  if (first === undefined) return { outcome: "accepted", home: null };
  return others.reduce(
    (one, other) => (SEVERITY.indexOf(other.outcome) > SEVERITY.indexOf(one.outcome) ? other : one),
    first,
  );
}
