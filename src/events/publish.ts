/** Accepts events from producers: checks them, gives them their ids and bytes, and makes them durable in groups. */
import {
  KeyReusedError,
  type AcceptedEvent,
  type DispatchQueue,
  type EarlierEvent,
  type NewEvent,
  type OwnLane,
} from "../queue/queue.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import { parseTenantId, type EventId, type TenantId } from "../shared/id.ts";
import { Refusal, type Issue } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Catalog } from "./catalog.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import { FanOut, ROWS_AT_ONCE } from "./fan-out.ts";
import { makeKeyedCommits, PUBLISHING_REST, untilUnlocked } from "./keyed-commits.ts";
import { writeBody, writeEvent } from "./new-event.ts";
import { patternsMatching } from "./subscription.ts";
import type { PublishInput } from "./publish-input.ts";
import { judgeVersions } from "./publish-versions.ts";

const MAX_EVENTS_PER_COMMIT = 1000;
/** Events being accepted at one time, and the characters of their bodies; beyond, producers are told to wait. */
const MAX_ACCEPTING = 20_000;
const MAX_ACCEPTING_BODY_SIZE = 64 * 1024 * 1024;
/**
 * A producer is answered within so long, even by a database that is silent:
 * then with 503, and whether the event was accepted is open. Longer than the
 * wait for a lock, which has an answer of its own.
 */
const ANSWER_LIMIT_MS = 8000;
const RETRY_AFTER_S = 2;

/** One event's answer: `isNew` is false when its idempotency key was used before with the same content. */
export type Published = AcceptedEvent & { isNew: boolean };

export type Publisher = {
  /** `sessionTenant` null means that each event must name its tenant. An array is all or nothing. */
  publish(
    input: PublishInput | readonly PublishInput[],
    sessionTenant: TenantId | null,
    traceparent?: string,
  ): Promise<Published[]>;
};

type PublisherServices = {
  queue: DispatchQueue;
  catalog: LiveCatalog;
  ownLane: OwnLane;
};

export function makePublisher(services: PublisherServices): Publisher {
  return new GroupingPublisher(services);
}

class GroupingPublisher implements Publisher {
  readonly #services: PublisherServices;
  readonly #fanOut = new FanOut();
  #accepting = 0;
  #acceptingBodySize = 0;
  // Concurrent requests share one commit; an array is a group already. Events
  // with keys have groups of their own, which may meet a key that is held.
  readonly #plainCommits = new GroupCommit((events: NewEvent[]) => this.#acceptEach(events), {
    maxItems: MAX_EVENTS_PER_COMMIT,
    maxConcurrent: 1,
    rest: PUBLISHING_REST,
    weigh: { of: (event) => this.#fanOut.rowsOf(event), most: ROWS_AT_ONCE },
  });
  readonly #keyedCommits = makeKeyedCommits(
    (events, lockWaitMs) => this.#acceptEach(events, { lockWaitMs }),
    MAX_EVENTS_PER_COMMIT,
  );

  constructor(services: PublisherServices) {
    this.#services = services;
  }

  async publish(
    input: PublishInput | readonly PublishInput[],
    sessionTenant: TenantId | null,
    traceparent?: string,
  ): Promise<Published[]> {
    const events = toNewEvents(input, sessionTenant, this.#services.catalog.current());
    if (traceparent !== undefined) for (const event of events) event.traceparent = traceparent;
    const bodySize = events.reduce((sum, event) => sum + sizeOf(event), 0);
    if (
      this.#accepting + events.length > MAX_ACCEPTING ||
      this.#acceptingBodySize + bodySize > MAX_ACCEPTING_BODY_SIZE
    ) {
      throw new Refusal("too_many_requests", { retryAfterS: 1 });
    }
    this.#accepting += events.length;
    this.#acceptingBodySize += bodySize;
    const [only] = events;
    const publishing =
      only !== undefined && events.length === 1 ? this.#publishEach(only) : this.#publishMany(events);
    // What nobody waits for any more takes its room all the same, until the database has said what became of it.
    const finished = publishing.finally(() => {
      this.#accepting -= events.length;
      this.#acceptingBodySize -= bodySize;
    });
    return withinLimit(
      finished,
      ANSWER_LIMIT_MS,
      () => new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S }),
    );
  }

  async #accept(
    events: readonly NewEvent[],
    patience: { lockWaitMs?: number } = {},
  ): Promise<Map<EventId, AcceptedEvent>> {
    const { queue, ownLane } = this.#services;
    const acceptance = await ownLane.accept((places) => queue.accept(events, { ...places, ...patience }));
    const accepted = new Map(acceptance.accepted.map((event) => [event.id, event]));
    this.#fanOut.note(events, accepted);
    return accepted;
  }

  /** All or none. However many dispatches an array makes, no statement makes more than others can wait for. */
  async #acceptParts(
    events: readonly NewEvent[],
    patience: { lockWaitMs?: number } = {},
  ): Promise<Published[]> {
    const { queue, ownLane } = this.#services;
    const options = { parked: ownLane.backlogged(), ...patience };
    const { accepted, earlier } = await queue.acceptParts(this.#fanOut.parts(events), options);
    const fresh = new Map(accepted.map((event) => [event.id, event]));
    this.#fanOut.note(events, fresh);
    return events.map((event) => {
      const found = fresh.get(event.id);
      return found === undefined ? repeated(earlier.get(event.id)) : { ...found, isNew: true };
    });
  }

  async #acceptEach(
    events: readonly NewEvent[],
    patience: { lockWaitMs?: number } = {},
  ): Promise<(AcceptedEvent | undefined)[]> {
    const accepted = await this.#accept(events, patience);
    return events.map((event) => accepted.get(event.id));
  }

  async #publishOne(event: NewEvent): Promise<Published> {
    const { queue } = this.#services;
    const commits = event.idempotencyKey === null ? this.#plainCommits : this.#keyedCommits;
    const accepted = await commits.add(event);
    if (accepted !== undefined) return { ...accepted, isNew: true };
    const earlier = (await queue.findEarlier([event])).get(event.id);
    // The key ran out between the two looks: it is free now.
    if (earlier === undefined) return this.#publishOne(event);
    return repeated(earlier);
  }

  /** While a key is held, it keeps no connection. */
  async #publishKeyed(events: NewEvent[]): Promise<Published[]> {
    try {
      return await untilUnlocked((lockWaitMs) => this.#acceptParts(events, { lockWaitMs }));
    } catch (error) {
      throw error instanceof KeyReusedError ? new Refusal("idempotency_key_reused") : error;
    }
  }

  async #publishMany(events: NewEvent[]): Promise<Published[]> {
    if (events.some((event) => event.idempotencyKey !== null)) return this.#publishKeyed(events);
    if (this.#fanOut.parts(events).length > 1) return this.#acceptParts(events);
    const accepted = await this.#accept(events);
    return events.map((event) => ({ ...acceptedOf(accepted, event), isNew: true }));
  }

  async #publishEach(event: NewEvent): Promise<Published[]> {
    return [await this.#publishOne(event)];
  }
}

function sizeOf({ body, others }: NewEvent): number {
  return Object.values(others ?? {}).reduce((sum, other) => sum + other.length, body.length);
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

function toNewEvents(
  given: PublishInput | readonly PublishInput[],
  sessionTenant: TenantId | null,
  catalog: Catalog,
): NewEvent[] {
  const issues: Issue[] = [];
  const events = [given].flat().map((input, index) => {
    const at = Array.isArray(given) ? [index] : [];
    const tenantId = input.tenant_id === undefined ? sessionTenant : parseTenantId(input.tenant_id);
    if (tenantId === null) {
      issues.push({ path: [...at, "tenant_id"], message: "is required for this session", code: "required" });
      return null;
    }
    if (sessionTenant !== null && tenantId !== sessionTenant) {
      throw new Refusal("forbidden", { reason: "the tenant of an event is not the tid of the token" });
    }
    const judged = judgeVersions(input, catalog);
    for (const { path, message, code } of judged.issues)
      issues.push({ path: [...at, ...path], message, code });
    // What is refused is not written out: data nested beyond the limit would exhaust the stack.
    if (judged.issues.length > 0) return null;
    return toNewEvent({ type: input.type, tenantId, key: input.id ?? null, ...judged });
  });
  if (issues.length > 0) throw new Refusal("validation_failed", { issues });
  return events.filter((event) => event !== null);
}

function toNewEvent({
  type,
  tenantId,
  key,
  newest,
  versions,
}: {
  type: string;
  tenantId: TenantId;
  key: string | null;
  newest: number;
  versions: ReadonlyMap<number, unknown>;
}): NewEvent {
  const event = writeEvent(type, versions.get(newest));
  const others = Array.from(versions).filter(([version]) => version !== newest);
  const bodies = others.map(([version, data]) => [version, writeBody(event.id, type, data)] as const);
  return {
    ...event,
    tenantId,
    type,
    patterns: patternsMatching(type, [...versions.keys()]),
    version: newest,
    others: bodies.length === 0 ? null : Object.fromEntries(bodies),
    idempotencyKey: key,
  };
}
