/**
 * The dispatch queue: where accepted events wait until every subscribed
 * endpoint has been tried. The PostgreSQL adapter is `postgres-queue.ts`.
 *
 * The cast: an *event* is accepted once; each subscribed endpoint gives it one
 * *dispatch*, the row of the attempt that is due next. A worker takes a
 * *lease* on a dispatch, makes the attempt, and completes it: in one step the
 * dispatch goes, its delivery row is logged under the same id, and the next
 * attempt's dispatch comes if there is to be one.
 *
 * Why nothing is lost: a dispatch is durable before the producer is answered,
 * and goes only in the transaction that logs its outcome. Why no attempt runs
 * twice at once: only the claim that has the lease completes a dispatch, an
 * attempt starts only if its lease outlasts the longest attempt, and a
 * dispatch is claimed again only when its lease has run out, or when its worker
 * is known to be dead (`dead-workers.ts`). Each claim leases
 * under a name of its own, so that after an outage a process's earlier claim
 * of a dispatch cannot pass for its later one.
 *
 * A due dispatch whose endpoint has no room in a worker's memory is *parked*:
 * no claim meets it any more, so a backlog costs other endpoints nothing. Its
 * endpoint's lane pulls it when its turn comes, the oldest first. Parked is a
 * state of the row and not a worker's: any worker may pull it.
 */
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../shared/id.ts";

/** How long a worker owns a dispatch that it claimed or accepted. */
export const LEASE_MS = 60_000;

export type EndpointKey = { tenantId: TenantId; endpointId: EndpointId };

/** An event ready to be accepted: checked, and with the bytes that every attempt will send. */
export type NewEvent = {
  id: EventId;
  tenantId: TenantId;
  type: string;
  /** Every subscription pattern that matches the type. */
  patterns: readonly string[];
  body: string;
  idempotencyKey: string | null;
};

/** A dispatch whose lease this process holds. */
export type LeasedDispatch = {
  id: DeliveryId;
  tenantId: TenantId;
  endpointId: EndpointId;
  eventId: EventId;
  eventType: string;
  body: string;
  attempt: number;
  /** A UUID, half of it the process's and half the number of its claim; `lease_owner` in the table. */
  leaseId: string;
  /** End of the lease on this process's monotonic clock (`performance.now()`), in milliseconds. */
  leaseEndsMs: number;
};

/**
 * Whether other workers can see that this one lives. While they cannot, they
 * may take it for dead and free its leases: it then starts nothing.
 */
export type Presence = {
  /** It was confirmed within the last seconds. */
  isConfirmed(): boolean;
  /** False of a lease from before the others took this worker for dead. */
  covers(dispatch: Pick<LeasedDispatch, "leaseEndsMs">): boolean;
};

/** What a worker is told to send no more. */
export type EventAtEndpoint = Pick<LeasedDispatch, "endpointId" | "eventId">;

/** The worker of this same process: dispatches accepted for it need no claim. Without a worker there is never room. */
export type OwnLane = {
  hasRoom(): boolean;
  /** Endpoints that take nothing but what they pull. */
  backlogged(): EndpointId[];
  take(accepted: Pick<Acceptance, "leased" | "parked">): void;
};

export type AcceptedEvent = { id: EventId; dispatchCount: number };

export type Acceptance = {
  /** The events that now exist; one whose idempotency key was used before is not among them. */
  accepted: AcceptedEvent[];
  /** Their dispatches, if they were leased to this process; the first event's first. */
  leased: LeasedDispatch[];
  /** Endpoints for which some were parked. */
  parked: EndpointKey[];
};

/** The event that used an idempotency key before. */
export type EarlierEvent = AcceptedEvent & { sameContent: boolean };

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
};

export type AcceptOptions = {
  /** Whether the new dispatches are leased to this process. */
  lease: boolean;
  /** Endpoints whose new dispatches are parked instead. */
  parked: readonly EndpointId[];
  /** How long an idempotency key is waited for that an open transaction holds; then it throws. Default: the connection's limit. */
  lockWaitMs?: number;
};

/** What one claim takes at most, but one dispatch however large. */
export type ClaimLimits = { dispatches: number; bodyBytes: number };

export type Claimed = {
  /** The longest due first. */
  claimed: LeasedDispatch[];
  /** Leased too, but their event is gone, and with it what was to be sent. */
  withoutEvent: LeasedDispatch[];
  /** No more are due than were claimed. */
  isAll: boolean;
};

/** What a backlogged endpoint wants of its parked dispatches; one dispatch however large. */
export type Ask = ClaimLimits & EndpointKey;

export type DispatchQueue = {
  /** Makes events and their dispatches durable. */
  accept(events: readonly NewEvent[], options: AcceptOptions, db?: Db): Promise<Acceptance>;
  /** For events that {@link accept} passed over: what their idempotency keys stand for, by event id. */
  findEarlier(events: readonly NewEvent[], db?: Db): Promise<Map<EventId, EarlierEvent>>;
  /** Leases due dispatches, but none of the endpoints `without`, and none that are parked. */
  claim(limits: ClaimLimits, without: readonly EndpointId[]): Promise<Claimed>;
  /** Parks due dispatches of these endpoints, some thousands at most; true when no more are due. */
  park(endpoints: readonly EndpointId[]): Promise<boolean>;
  /** Leases parked dispatches of each endpoint that asks, the oldest first. One answer an ask, by endpoint. */
  pull(asks: readonly Ask[]): Promise<Map<EndpointId, Claimed>>;
  /** The endpoints that have parked dispatches, whichever worker parked them. */
  findBacklogs(): Promise<EndpointKey[]>;
  /**
   * Logs outcomes; answers the ids that were still this process's to complete.
   * Those that somebody has locked are waited for, or left for another call.
   */
  complete(attempts: readonly CompletedAttempt[], whenLocked: "skip" | "wait"): Promise<Set<DeliveryId>>;
  /** Gives leases back: each dispatch may be claimed at once, or is parked. */
  release(dispatches: readonly LeasedDispatch[], to: "claimable" | "parked"): Promise<void>;
  /**
   * Sets aside the dispatches of endpoints that are disabled, until they are
   * enabled, and gives back the others; answers the ids that were still this
   * process's. Those that somebody has locked are waited for, or left for another call.
   */
  hold(dispatches: readonly LeasedDispatch[], whenLocked: "skip" | "wait"): Promise<Set<DeliveryId>>;
};

/**
 * One slice of an endpoint's pending dispatches, those after the given one,
 * within a transaction that has the endpoint locked. Answers the last of the
 * slice, or null when no more are left.
 */
export type FollowSlice = (
  db: Db,
  endpoint: { tenantId: TenantId; endpointId: EndpointId },
  after: DeliveryId | null,
) => Promise<DeliveryId | null>;

/** What a change of an endpoint, or a person, does to pending dispatches. */
export type DispatchHold = {
  /** The endpoint is disabled: what is pending waits until it is enabled. */
  hold: FollowSlice;
  /** The endpoint is enabled: what was held is due again. */
  resume: FollowSlice;
  /** The endpoint is deleted: each pending dispatch ends as a failed delivery. */
  end: FollowSlice;
  /** A person delivered the event: no further automatic attempt follows. */
  supersede(db: Db, event: { tenantId: TenantId; endpointId: EndpointId; eventId: EventId }): Promise<void>;
};
