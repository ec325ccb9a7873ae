/** What a claim or a pull answers of each dispatch. */
import type { DeliveryId, EndpointId, EventId, TenantId } from "../../shared/id.ts";
import type { Claimed, LeasedDispatch } from "../queue.ts";

type FoundRow = {
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

/** A row without a dispatch, where nothing was leased, only has what was counted. */
export type AnsweredRow = FoundRow | { id: null };

/** `found`: how many dispatches there were, of which its limits may have left some. It looked for `most` of them. */
export function toClaimed(
  rows: readonly AnsweredRow[],
  look: { found: number; most: number },
  lease: Pick<LeasedDispatch, "leaseId" | "leaseEndsMs">,
): Claimed {
  const claimed: LeasedDispatch[] = [];
  const withoutEvent: LeasedDispatch[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
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
  const isAll = look.found < look.most && claimed.length + withoutEvent.length === look.found;
  return { claimed, withoutEvent, isAll };
}
