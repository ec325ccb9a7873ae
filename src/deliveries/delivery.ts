import type { DeliveryId, EndpointId, EventId, ReplayId, TenantId } from "../shared/id.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "test"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** What is pending is not in the log. */
export const LOGGED_STATUSES = ["delivered", "failed", "test"] as const;
export type LoggedStatus = (typeof LOGGED_STATUSES)[number];

export const DELIVERY_TRIGGERS = ["event", "retry", "auto_retry", "test"] as const;
export type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number];

/** One attempt at one endpoint; `pending` is one that is due and not yet made. */
export type Delivery = {
  tenantId: TenantId;
  endpointId: EndpointId;
  id: DeliveryId;
  /** Null for a test and for the retry of one. */
  eventId: EventId | null;
  /** The first test's delivery id; null for the attempts of an event. */
  testId: DeliveryId | null;
  eventType: string;
  /** Of the event type. */
  version: number;
  trigger: DeliveryTrigger;
  status: DeliveryStatus;
  attempt: number;
  requestBody: string | null;
  requestHeaders: Record<string, string> | null;
  responseStatus: number | null;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  latencyMs: number;
  error: string | null;
  /** When the attempt began; null where nothing was sent, and in rows from before this was kept. */
  sentAt: Date | null;
  /** Of a replay. */
  replayId: ReplayId | null;
  nextAttemptAt: Date | null;
};

/**
 * A delivery of a page. Where the page's bodies are too large together, each is
 * left out: then `requestBody` is null and its size is told here.
 */
export type ListedDelivery = Delivery & { omittedBodyBytes: number | null };

/** Where a delivery is found: an id alone would be looked for at every endpoint. */
export type DeliveryKey = Pick<Delivery, "endpointId" | "id">;

/** Ids, and with them times: from the first, inclusive, to the second, exclusive. */
export type IdRange = { from: string; to: string };

/** A delivery about to be logged; its id carries its time. */
export type NewDelivery = Omit<Delivery, "nextAttemptAt" | "status" | "replayId"> & {
  status: Exclude<DeliveryStatus, "pending">;
};
