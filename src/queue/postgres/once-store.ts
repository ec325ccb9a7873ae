/** Dispatches that a person asks for: one attempt each, through the lanes like any other. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../../shared/id.ts";
import { WAKE_CHANNEL } from "../wake-channel.ts";

export type OnceDispatch = {
  tenantId: TenantId;
  endpointId: EndpointId;
  eventId: EventId;
  eventType: string;
  attempt: number;
};

/** Within the transaction that records who asked for it, and that has the endpoint locked. Workers hear of it at the commit. */
export async function insertOnce(
  db: Db,
  dispatch: OnceDispatch,
): Promise<{ id: DeliveryId; dueAt: Date } | null> {
  const { tenantId, endpointId, eventId, eventType, attempt } = dispatch;
  const { rows } = await db.query<{ id: DeliveryId; dueAt: Date }>(
    /* sql */ `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once)
      VALUES ($1, $2, postern.uuid_v7(), $3, $4, least($5::integer, 32767), now(), now(), true)
      RETURNING id, due_at AS "dueAt", pg_notify('${WAKE_CHANNEL}', '')`,
    [tenantId, endpointId, eventId, eventType, attempt],
  );
  return rows[0] ?? null;
}
