/**
 * The dispatch queue: where accepted events wait until every subscribed
 * endpoint has been tried. The PostgreSQL adapter is `postgres-queue.ts`.
 *
 * The cast: an *event* is accepted once. Each subscribed endpoint gives it one
 * *dispatch*, the row of the next attempt. A worker takes a *lease* on a
 * dispatch, makes the attempt, and completes it: one step deletes the dispatch,
 * logs its delivery row under the same id, and inserts the next attempt's
 * dispatch if one follows.
 *
 * Why nothing is lost: a dispatch is durable before the producer is answered,
 * and is deleted only in the transaction that logs its outcome. Why no attempt runs
 * twice at once: only the claim that has the lease completes a dispatch, an
 * attempt starts only if its lease outlasts the longest attempt, and a
 * dispatch is claimed again only when its lease has run out, or when its worker
 * is known to be dead (`dead-workers.ts`). Each claim leases
 * under a name of its own, so that after an outage a process's earlier claim
 * of a dispatch cannot be mistaken for its later one.
 *
 * A due dispatch whose endpoint has no room in a worker's memory is *parked*:
 * no claim meets it any more, so a backlog costs other endpoints nothing. Its
 * endpoint's lane pulls it when its turn comes, the oldest first. Parked is a
 * state of the row, not of a worker: whichever worker has the endpoint's slot
 * (`slots.ts`) pulls it.
 *
 * The dispatches of a pull endpoint are *held* from the start: no claim meets
 * them, and a client leases them instead (`postgres/fetch-store.ts`). Of an
 * endpoint's mode, as of whether it is enabled, the endpoint's row is the record.
 *
 * What must be atomic with a change elsewhere leaves a mark in that change's
 * own transaction, and the queue acts on the mark afterwards, as often as it
 * takes: an event in the outbox, which `relay` moves; an endpoint that is
 * `unsettled`, whose dispatches follow it by `endpointChanged`. So no verb needs
 * the caller's transaction. `test/support/queue-contract.ts` is the contract
 * that every adapter passes.
 */
import type { DeliveryId, EndpointId, EndpointKey, EventId, TenantId } from "../shared/id.ts";
import type { QueueDepth } from "./queue-troubles.ts";
import type { SlotSet } from "./slots.ts";

/** How long a worker owns a dispatch that it claimed or accepted. */
export const LEASE_MS = 60_000;

/** How long a deferred dispatch is out of reach: as long as it has been due, within these bounds. */
export const DEFER_MS = { shortest: LEASE_MS, longest: 3_600_000 };

/** An event ready to be accepted: checked, and with the bytes that every attempt will send. */
export type NewEvent = {
  id: EventId;
  tenantId: TenantId;
  type: string;
  /** Every subscription pattern that matches the type, and each of its versions here. */
  patterns: readonly string[];
  /** The version of `body`: the newest of the type, for endpoints that name none. */
  version: number;
  body: string;
  /** The bodies of other versions, by number; null: none. */
  others: Readonly<Record<string, string>> | null;
  idempotencyKey: string | null;
  /** Of the producer's request, in a process that traces: its attempts continue that trace. */
  traceparent?: string;
};

export function tenantsOf(events: readonly NewEvent[]): TenantId[] {
  return [...new Set(events.map(({ tenantId }) => tenantId))];
}

/** The body of one of the versions that an event has. */
export function bodyOf(
  { version, body, others }: Pick<NewEvent, "version" | "body" | "others">,
  wanted: number,
): string {
  return wanted === version ? body : (others?.[wanted] ?? body);
}

/** A dispatch whose lease this process holds. */
export type LeasedDispatch = {
  id: DeliveryId;
  tenantId: TenantId;
  endpointId: EndpointId;
  eventId: EventId;
  eventType: string;
  body: string;
  attempt: number;
  /** Asked for by a person: no attempt follows it, whatever the outcome. */
  once: boolean;
  /** That of its event. */
  traceparent?: string;
  /** A UUID, half of it the process's and half the number of its claim; `lease_owner` in the table. */
  leaseId: string;
  /** End of the lease on this process's monotonic clock (`performance.now()`), in milliseconds. */
  leaseEndsMs: number;
};

/**
 * Whether other workers can see that this one lives. While they cannot, they
 * may take it for dead and free its leases. Then it starts no attempt.
 */
export type Presence = {
  /** It was confirmed within the last seconds. */
  isConfirmed(): boolean;
  /** When the confirmations began that have followed each other without a break since. */
  unbrokenSince(): number;
  /** Calls after each confirmation. */
  whenConfirmed(listener: () => void): void;
  /** False of a lease from before the others took this worker for dead. */
  covers(dispatch: Pick<LeasedDispatch, "leaseEndsMs">): boolean;
};

/** An event at an endpoint that a worker must not send any more. */
export type EventAtEndpoint = Pick<LeasedDispatch, "endpointId" | "eventId">;

/** The worker of this same process: dispatches accepted for its slots need no claim. */
export type OwnLane = {
  /**
   * Leases to this worker what it has room for, and brings it into the lanes. The
   * work is for events of these tenants: the parked endpoints of others, perhaps
   * tens of thousands, are no part of it.
   */
  accept(
    work: (places: Pick<AcceptOptions, "lease" | "parked">) => Promise<Acceptance>,
    tenants: readonly TenantId[],
  ): Promise<Acceptance>;
  /** For work that leases nothing, and parks the dispatches of these endpoints. What is accepted later starts later. */
  acceptUnleased<T extends Unleased>(work: (parked: EndpointId[]) => Promise<T>): Promise<T>;
};

export type AcceptedEvent = { id: EventId; dispatchCount: number };

/** Where accepted dispatches are that were not leased. */
export type Unleased = {
  /** Endpoints with dispatches that were neither leased nor parked, and may be claimed. */
  unleased: EndpointId[];
  /** Endpoints for which some were parked. */
  parked: EndpointKey[];
};

export type Acceptance = Unleased & {
  /** The events that now exist; one whose idempotency key was used before is not among them. */
  accepted: AcceptedEvent[];
  /** Their dispatches, if they were leased to this process; the first event's first. */
  leased: LeasedDispatch[];
};

/** The event that used an idempotency key before; `dispatchCount` null where it is not fanned out yet, or forgotten. */
export type EarlierEvent = { id: EventId; dispatchCount: number | null; sameContent: boolean };

/** What a tenant keeps of an attempt, to be stored after its outcome is recorded. */
export type BodiesToKeep = {
  requestBody: boolean;
  /** Null: none is kept. */
  responseBody: Buffer | null;
  /** For how long; null: as long as the operator allows. */
  days: number | null;
};

export type CompletedAttempt = {
  dispatch: LeasedDispatch;
  status: "delivered" | "failed";
  /** When the attempt began, on the worker's clock; null where nothing was sent. */
  sentAt: Date | null;
  /** As the log keeps them. */
  requestHeaders: Readonly<Record<string, string>>;
  responseStatus: number | null;
  responseHeaders: Readonly<Record<string, string>> | null;
  responseBody: string | null;
  latencyMs: number;
  error: string | null;
  /** Milliseconds from now until the next attempt; null when there is none. */
  nextDelayMs: number | null;
  /** The last automatic attempt of its event failed, and the tenant is to be told. */
  exhausted: boolean;
  /** Noted in the same step; null: nothing. */
  toKeep: BodiesToKeep | null;
};

/** Of it the queue needs to know only which lease it ends. */
export type CompletedLease = Omit<CompletedAttempt, "dispatch"> & {
  dispatch: Pick<LeasedDispatch, "tenantId" | "endpointId" | "id" | "leaseId">;
};

export type AcceptOptions = {
  /** The slots in which new dispatches are leased to this process; null: none. */
  lease: SlotSet | null;
  /** Endpoints whose new dispatches are parked instead. */
  parked: readonly EndpointId[];
  /** How long an idempotency key is waited for that an open transaction holds; then it throws. Default: the connection's limit. */
  lockWaitMs?: number;
};

/** Limits of one claim, which takes at least one dispatch, however large. */
export type ClaimLimits = { dispatches: number; bodyBytes: number };

export type Claimed = {
  /** The longest due first. */
  claimed: LeasedDispatch[];
  /** Leased too, but their event is gone, and with it the body to send. */
  withoutEvent: LeasedDispatch[];
  /** No more are due than were claimed. */
  isAll: boolean;
};

/** How much a backlogged endpoint asks for of its parked dispatches; at least one, however large. */
export type Ask = ClaimLimits & EndpointKey;

/** An event in the outbox: unchecked, or checked by SQL alone. */
export type OutboxEvent = Pick<NewEvent, "id" | "tenantId" | "type" | "version" | "body" | "others"> & {
  /** Claimed already, in the same database; absent: none. */
  key?: string | null;
  /** To be claimed where the tenant lives, since it is being moved or has been; absent: none. */
  unclaimedKey?: string | null;
};

/** An event that lies in one database and belongs into another: checked, but for its patterns, which follow from its type and versions. */
export type HandedOver = Omit<NewEvent, "patterns" | "traceparent"> & {
  traceparent: string | null;
  /** Its key was claimed in the database in which it lies. */
  claimed: boolean;
};

/** Limits of one relay, which takes at least one event, however large. */
export type RelayLimits = { events: number; bodyBytes: number };

export type Relay = {
  /** An event of another type stays in the outbox for ten minutes, since another worker may know its type. */
  types: readonly string[];
  limits: RelayLimits;
  /** The events to accept in its place: itself, perhaps with a copy for another tenant, or none to drop it. */
  judge: (event: OutboxEvent) => NewEvent[];
};

/** Nothing was accepted: an event's idempotency key was used for other content. */
export class KeyReusedError extends Error {
  override readonly name = "KeyReusedError";
}

export type DispatchQueue = {
  /** Makes events and their dispatches durable. */
  accept(events: readonly NewEvent[], options: AcceptOptions): Promise<Acceptance>;
  /**
   * Makes all parts durable or none, in one step, each part in a statement of
   * its own. Nothing is leased. Also answers what keys used before stand for, by event id.
   *
   * @throws KeyReusedError
   */
  acceptParts(
    parts: readonly (readonly NewEvent[])[],
    options: Omit<AcceptOptions, "lease"> & {
      /** Events for other databases, left here in the same step for a worker to hand over. */
      handOver?: readonly NewEvent[];
    },
  ): Promise<Unleased & { accepted: AcceptedEvent[]; earlier: Map<EventId, EarlierEvent> }>;
  /** For events that {@link accept} did not accept: what their idempotency keys stand for, by event id. */
  findEarlier(events: readonly NewEvent[]): Promise<Map<EventId, EarlierEvent>>;
  /** Which of these events were accepted before, under the same ids. */
  findKnown(events: readonly Pick<NewEvent, "id" | "tenantId">[]): Promise<Set<EventId>>;
  /** Moves events from the outbox into the queue, each exactly once. */
  relay(relay: Relay): Promise<{ relayed: number; mayHaveMore: boolean }>;
  /**
   * Leases due dispatches of these slots (default: all), but none of the endpoints
   * `without`, and none that are parked: the longest due, and after a claim that
   * left some due, equal parts of each tenant's.
   */
  claim(limits: ClaimLimits, without: readonly EndpointId[], slots?: SlotSet): Promise<Claimed>;
  /** Parks due dispatches of these endpoints, some thousands at most; true when no more are due. */
  park(endpoints: readonly EndpointId[]): Promise<boolean>;
  /** The same of each of these endpoints by itself, among some hundreds of its oldest, however much is due elsewhere. */
  parkOldest(endpoints: readonly EndpointKey[]): Promise<void>;
  /** Leases parked dispatches of each endpoint that asks, the oldest first. One answer an ask, by endpoint. */
  pull(asks: readonly Ask[]): Promise<Map<EndpointId, Claimed>>;
  /** The endpoints in these slots that have due dispatches which nobody leased. */
  findDue(slots: SlotSet): Promise<EndpointId[]>;
  /** The endpoints that have parked dispatches, whichever worker parked them. */
  findBacklogs(): Promise<EndpointKey[]>;
  /**
   * Logs outcomes. Answers the ids that were still this process's to complete.
   * `whenLocked` says whether rows locked by another transaction are skipped or waited for.
   */
  complete(attempts: readonly CompletedAttempt[], whenLocked: "skip" | "wait"): Promise<Set<DeliveryId>>;
  /** Releases leases: each dispatch may be claimed at once, or is parked. Locked rows are waited for, or skipped where that is said. */
  release(
    dispatches: readonly LeasedDispatch[],
    to: "claimable" | "parked",
    whenLocked?: "skip" | "wait",
  ): Promise<void>;
  /** Releases a lease; the dispatch may be claimed again after a delay that grows ({@link DEFER_MS}). */
  defer(dispatch: LeasedDispatch): Promise<void>;
  /**
   * Holds the dispatches of endpoints that are disabled or pull, and releases the
   * others. Answers the ids that were still this process's.
   * `whenLocked` as for {@link complete}.
   */
  hold(dispatches: readonly LeasedDispatch[], whenLocked: "skip" | "wait"): Promise<Set<DeliveryId>>;
  /**
   * After an endpoint was enabled, disabled, deleted or got another mode: its pending
   * dispatches become claimable, are held, or end as failed deliveries. The state is read
   * from the endpoint, under its lock, so that of two changes the later one
   * counts, in whatever order these calls come. A large backlog follows in part;
   * the rest, and what a process that died has not done, is upkeep's.
   */
  endpointChanged(endpoint: EndpointKey): Promise<void>;
  /** Counts the queue and the outbox. */
  measure(): Promise<QueueDepth>;
};
