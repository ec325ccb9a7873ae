import type { LeasedDispatch } from "../../src/queue/queue.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../../src/shared/id.ts";
import { tenant } from "./two-tenants.ts";

/** A first attempt that is leased for a minute from when the clock began, as a lane gets it. */
export function leasedDispatch(given: Partial<LeasedDispatch> = {}): LeasedDispatch {
  return {
    id: newDeliveryId(),
    tenantId: tenant("acme"),
    endpointId: newEndpointId(),
    eventId: newEventId(),
    eventType: "a.b",
    body: "{}",
    attempt: 1,
    once: false,
    leaseId: "a-b-c-d-e",
    leaseEndsMs: 60_000,
    ...given,
  };
}
