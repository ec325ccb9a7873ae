/** Commits the events of requests to the queue, in groups. */
import assert from "node:assert/strict";
import { KeyReusedError, type AcceptedEvent, type EarlierEvent, type NewEvent } from "../queue/queue.ts";
import { makeFairTurns, type Patience } from "../shared/fair-turns.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Acceptor } from "./acceptor.ts";
import { makeKeyedCommits, PUBLISHING_REST, untilUnlocked, type KeyedCommits } from "./keyed-commits.ts";
import type { Published } from "./publish.ts";

/** Makes the events of one request durable, all or none; `handOver` are events for other databases, which are left in this one in the same step. */
export type Commit = (events: NewEvent[], handOver?: readonly NewEvent[]) => Promise<Published[]>;

/** `count` is told how many events each request has added. */
export function makeCommitting(acceptor: Acceptor, count: (accepted: number) => void): Commit {
  const commits = new RequestCommits(acceptor);
  return async (events, handOver = []) => {
    const published = await commits.commit(events, handOver);
    count(published.filter(({ isNew }) => isNew).length);
    return published;
  };
}

const RETRY_AFTER_S = 2;
const LATE = "arrays that were published before take too long";
/** One that begins later would most likely be accepted after its producer was told that it is not known. */
const TRY_PATIENCE: Patience = {
  ms: 5000,
  late: () => new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause: new Error(LATE) }),
};

class RequestCommits {
  readonly #acceptor: Acceptor;
  // Concurrent requests share one commit; an array is a group already. Events
  // with keys have groups of their own, which may meet a key that is held.
  readonly #plainCommits: GroupCommit<NewEvent, AcceptedEvent | undefined>;
  readonly #keyedCommits: KeyedCommits;
  // A try of an array has a connection: while it waits for a key that is held, or for seconds where its
  // events go to many endpoints. So no tenant has many, and what it tries again keeps none of its own new arrays.
  readonly #tries = makeFairTurns<TenantId>({ total: 4, share: 2 }, TRY_PATIENCE);
  readonly #laterTries = makeFairTurns<TenantId>({ total: 2, share: 1 }, TRY_PATIENCE);

  constructor(acceptor: Acceptor) {
    this.#acceptor = acceptor;
    const size = acceptor.fanOut.ofOneStatement;
    this.#plainCommits = new GroupCommit((events) => acceptor.acceptEach(events), {
      ...size,
      maxConcurrent: 1,
      rest: PUBLISHING_REST,
    });
    this.#keyedCommits = makeKeyedCommits(
      (events, lockWaitMs) => acceptor.acceptEach(events, { lockWaitMs }),
      size,
    );
  }

  async commit(events: NewEvent[], handOver: readonly NewEvent[]): Promise<Published[]> {
    const [first] = events;
    assert.ok(first !== undefined, "a request has at least one event");
    if (handOver.length > 0) return this.#publishKeyed(first.tenantId, events, handOver);
    return events.length === 1 ? [await this.#publishOne(first)] : this.#publishMany(first.tenantId, events);
  }

  /** All or none. However many dispatches an array makes, no statement makes more than others can wait for. */
  async #acceptParts(
    events: readonly NewEvent[],
    given: { lockWaitMs?: number; handOver?: readonly NewEvent[] } = {},
  ): Promise<Published[]> {
    const { queue, ownLane } = this.#acceptor;
    const parts = this.#acceptor.fanOut.parts(events);
    const { accepted, earlier } = await ownLane.acceptUnleased((parked) =>
      queue.acceptParts(parts, { parked, ...given }),
    );
    const fresh = new Map(accepted.map((event) => [event.id, event]));
    this.#acceptor.fanOut.note(events, fresh);
    return events.map((event) => {
      const found = fresh.get(event.id);
      return found === undefined ? repeated(earlier.get(event.id)) : { ...found, isNew: true };
    });
  }

  async #publishOne(event: NewEvent): Promise<Published> {
    const { queue } = this.#acceptor;
    const commits = event.idempotencyKey === null ? this.#plainCommits : this.#keyedCommits;
    const accepted = await commits.add(event);
    if (accepted !== undefined) return { ...accepted, isNew: true };
    const earlier = (await queue.findEarlier([event])).get(event.id);
    // The key ran out between the two looks: it is free now.
    if (earlier === undefined) return this.#publishOne(event);
    return repeated(earlier);
  }

  /** While a key is held, it keeps no connection. */
  async #publishKeyed(
    tenantId: TenantId,
    events: NewEvent[],
    handOver: readonly NewEvent[] = [],
  ): Promise<Published[]> {
    let turns = this.#tries;
    try {
      return await untilUnlocked((lockWaitMs) => {
        const next = turns.run(tenantId, () => this.#acceptParts(events, { lockWaitMs, handOver }));
        turns = this.#laterTries;
        return next;
      });
    } catch (error) {
      throw error instanceof KeyReusedError ? new Refusal("idempotency_key_reused") : error;
    }
  }

  async #publishMany(tenantId: TenantId, events: NewEvent[]): Promise<Published[]> {
    if (events.some((event) => event.idempotencyKey !== null)) return this.#publishKeyed(tenantId, events);
    // It is divided when its turn comes: by then more may be known of its tenant.
    if (this.#acceptor.fanOut.isWide(events))
      return this.#tries.run(tenantId, () => this.#acceptParts(events));
    const accepted = await this.#acceptor.accept(events);
    return events.map((event) => ({ ...acceptedOf(accepted, event), isNew: true }));
  }
}

function repeated(earlier: EarlierEvent | undefined): Published {
  if (earlier === undefined || !earlier.sameContent) throw new Refusal("idempotency_key_reused");
  return { id: earlier.id, dispatchCount: earlier.dispatchCount, isNew: false };
}

function acceptedOf(accepted: Map<EventId, AcceptedEvent>, event: NewEvent): AcceptedEvent {
  const found = accepted.get(event.id);
  if (found === undefined) throw new Error("an event without a key was not accepted");
  return found;
}
