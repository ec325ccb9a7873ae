/** What a claim or a pull answers of each dispatch. */
import type { DeliveryId, EndpointId, EventId, TenantId } from "../../shared/id.ts";
import type { Claimed, LeasedDispatch } from "../queue.ts";

export type FoundRow = {
  tenant_id: TenantId;
  endpoint_id: EndpointId;
  id: DeliveryId;
  event_id: EventId;
  event_type: string;
  attempt: number;
  once: boolean;
  body: string | null;
  traceparent: string | null;
};

export function toClaimed(
  rows: readonly FoundRow[],
  lease: Pick<LeasedDispatch, "leaseId" | "leaseEndsMs">,
): Pick<Claimed, "claimed" | "withoutEvent"> {
  const claimed: LeasedDispatch[] = [];
  const withoutEvent: LeasedDispatch[] = [];
  for (const row of rows) {
    const dispatch = {
      id: row.id,
      tenantId: row.tenant_id,
      endpointId: row.endpoint_id,
      eventId: row.event_id,
      eventType: row.event_type,
      body: row.body ?? "",
      attempt: row.attempt,
      once: row.once,
      ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
      ...lease,
    };
    (row.body === null ? withoutEvent : claimed).push(dispatch);
  }
  return { claimed, withoutEvent };
}
