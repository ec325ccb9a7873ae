/** Dispatches that clients of pull endpoints lease, in the terms of their callers. */
import type { DeliveryId, EndpointKey, EventId, ReplayId } from "../shared/id.ts";

/** How long a client has what it fetched. */
export const CLIENT_LEASE_MS = 60_000;

/** Leased to a client just now. */
export type FetchedDispatch = {
  id: DeliveryId;
  eventId: EventId;
  eventType: string;
  version: number;
  attempt: number;
  trigger: "event" | "auto_retry" | "retry";
  replayId: ReplayId | null;
  /** Null where the event is gone. */
  body: string | null;
  leasedAt: Date;
};

/** A client's lease on a dispatch that ends now, by an acknowledgement or its time. */
export type EndedLease = EndpointKey & {
  id: DeliveryId;
  leaseId: string;
  eventType: string;
  attempt: number;
  /** Asked for by a person: no attempt follows it. */
  once: boolean;
  leasedAt: Date;
};
