/** What the parts of the queue's contract share. */
import assert from "node:assert/strict";
import type {
  CompletedAttempt,
  DispatchQueue,
  LeasedDispatch,
  NewEvent,
  OutboxEvent,
} from "../../src/queue/queue.ts";
import { newEndpointId, newEventId, parseTenantId, type EndpointKey } from "../../src/shared/id.ts";

export type QueueUnderTest = {
  queue: DispatchQueue;
  /** Subscribed to the pattern that is its own id. */
  addEndpoint(endpoint: EndpointKey): Promise<void>;
  /** Leaves the queue to follow. */
  changeEndpoint(endpoint: EndpointKey, to: "enabled" | "disabled" | "deleted"): Promise<void>;
  addToOutbox(event: Pick<OutboxEvent, "id" | "tenantId" | "type" | "body">): Promise<void>;
  /** As if a minute had passed. */
  endLeases(): Promise<void>;
};

/** What a transaction beside the queue holds until it ends. */
export type QueueLocks = {
  lockEndpoint(endpoint: EndpointKey): Promise<HeldLock>;
  lockDispatch(dispatch: LeasedDispatch): Promise<HeldLock>;
  /** As a producer that publishes with an idempotency key in a transaction of its own. */
  claimKey(event: NewEvent): Promise<HeldLock>;
  /** The error of a verb that waited for a lock as long as it may. */
  isLockWaitOver: (error: unknown) => boolean;
};

export type HeldLock = {
  /** Whether a verb waits for it. */
  isWaitedFor: () => Promise<boolean>;
  /** Rolls the transaction back; a second call does nothing. */
  release: () => Promise<void>;
};

export const PLENTY = { dispatches: 100, bodyBytes: 1e6 };
/** Accepts, and leaves every dispatch to be claimed. */
export const UNLEASED = { lease: null, parked: [] };

export const idsOf = (events: readonly NewEvent[]) => events.map(({ id }) => id);
export const eventIds = (dispatches: readonly LeasedDispatch[]) => dispatches.map(({ eventId }) => eventId);

export function newEndpointKey(tenant = "acme"): EndpointKey {
  const tenantId = parseTenantId(tenant);
  assert.ok(tenantId !== null);
  return { tenantId, endpointId: newEndpointId() };
}

export function outcomeOf(dispatch: LeasedDispatch, nextDelayMs: number | null): CompletedAttempt {
  return {
    dispatch,
    status: nextDelayMs === null ? "delivered" : "failed",
    sentAt: new Date(),
    requestHeaders: {},
    responseStatus: 200,
    responseHeaders: {},
    responseBody: "",
    latencyMs: 1,
    error: null,
    nextDelayMs,
    exhausted: false,
    toKeep: null,
  };
}

export function eventFor({ tenantId, endpointId }: EndpointKey): NewEvent {
  return {
    id: newEventId(),
    tenantId,
    type: "invoice.paid",
    patterns: [endpointId],
    version: 1,
    body: "x".repeat(100),
    others: null,
    idempotencyKey: null,
  };
}
