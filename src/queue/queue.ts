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
 * dispatch is claimed again only when its lease has run out. Each claim leases
 * under a name of its own, so that after an outage a process's earlier claim
 * of a dispatch cannot pass for its later one.
 */
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../shared/id.ts";

/** How long a worker owns a dispatch that it claimed or accepted. */
export const LEASE_MS = 60_000;

/** The longest that a full lane's surplus is deferred: an endpoint that recovers must not wait longer for its backlog. */
export const LONGEST_RETURN_MS = 600_000;

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

/** What a worker is told to send no more. */
export type EventAtEndpoint = Pick<LeasedDispatch, "endpointId" | "eventId">;

/** The worker of this same process: dispatches accepted for it need no claim. Without a worker there is never room. */
export type OwnLane = {
  hasRoom(): boolean;
  take(dispatches: readonly LeasedDispatch[]): void;
};

export type AcceptOptions = {
  lease: boolean;
  /** How long an idempotency key is waited for that an open transaction holds; then it throws. Default: the connection's limit. */
  lockWaitMs?: number;
};

export type AcceptedEvent = { id: EventId; dispatchCount: number };

export type Acceptance = {
  /** The events that now exist; one whose idempotency key was used before is not among them. */
  accepted: AcceptedEvent[];
  /** Their dispatches, if they were leased to this process. */
  leased: LeasedDispatch[];
};

/** The event that used an idempotency key before. */
export type EarlierEvent = AcceptedEvent & { sameContent: boolean };

export type CompletedAttempt = {
  dispatch: LeasedDispatch;
  status: "delivered" | "failed";
  requestHeaders: Readonly<Record<string, string>>;
  responseStatus: number | null;
  responseHeaders: Readonly<Record<string, string>> | null;
  responseBody: string | null;
  latencyMs: number;
  error: string | null;
  /** Milliseconds from now until the next attempt; null when there is none. */
  nextDelayMs: number | null;
};

/** What one claim takes at most, but one dispatch however large. */
export type ClaimLimits = { dispatches: number; bodyBytes: number };

/** When dispatches that are turned away together come back: after so long, at random within so long, one every so long. */
export type ReturnTimes = { afterMs: number; spreadMs: number; everyMs: number };

/** An endpoint that this worker has no room for. */
export type CrowdedEndpoint = { endpointId: EndpointId; returns: ReturnTimes };

export type Claimed = {
  claimed: LeasedDispatch[];
  /** Leased too, but their event is gone, and with it what was to be sent. */
  withoutEvent: LeasedDispatch[];
  /** How many were due of endpoints without room, and come back later. */
  turnedAway: Map<EndpointId, number>;
  /** No more are due than were claimed or turned away. */
  isAll: boolean;
};

export type DispatchQueue = {
  /** Makes events and their dispatches durable; with `lease` the dispatches are at once this process's own. */
  accept(events: readonly NewEvent[], options: AcceptOptions, db?: Db): Promise<Acceptance>;
  /** For events that {@link accept} passed over: what their idempotency keys stand for, by event id. */
  findEarlier(events: readonly NewEvent[], db?: Db): Promise<Map<EventId, EarlierEvent>>;
  /**
   * Leases dispatches that are due, the longest due first. Those of crowded
   * endpoints are put back unread, so that the others behind them are reached.
   */
  claim(limits: ClaimLimits, crowded: readonly CrowdedEndpoint[]): Promise<Claimed>;
  /**
   * Logs outcomes; answers the ids that were still this process's to complete.
   * Those that somebody has locked are waited for, or left for another call.
   */
  complete(attempts: readonly CompletedAttempt[], whenLocked: "skip" | "wait"): Promise<Set<DeliveryId>>;
  /** Gives leases back: each may be claimed again after its delay. */
  postpone(dispatches: readonly { dispatch: LeasedDispatch; delayMs: number }[]): Promise<void>;
  /** Sets aside the dispatches of endpoints that are disabled, until they are enabled. */
  hold(dispatches: readonly LeasedDispatch[]): Promise<void>;
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
