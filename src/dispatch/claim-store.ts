import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../shared/id.ts";
import { LEASE_MS, type ClaimLimits, type LeasedDispatch } from "./queue.ts";

type ClaimedRow = {
  tenant_id: TenantId;
  endpoint_id: EndpointId;
  id: DeliveryId;
  event_id: EventId;
  event_type: string;
  attempt: number;
  body: string;
};

/**
 * Leases what is due and nobody's; rows that another worker is claiming are
 * passed over, not waited for. Bodies are measured before any is read: hundreds
 * of the largest at once would be more than a process can hold.
 */
export async function claimDispatches(
  db: Db,
  leaseId: string,
  limits: ClaimLimits,
): Promise<{ claimed: LeasedDispatch[]; isAll: boolean }> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<ClaimedRow & { due: number }>({
    name: "claim-dispatches",
    text: /* sql */ `WITH due AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id, event_id, claimable_at FROM postern.dispatches
        WHERE NOT held AND NOT superseded AND claimable_at <= now()
        ORDER BY claimable_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      ), sized AS MATERIALIZED (
        SELECT due.tenant_id, due.endpoint_id, due.id, due.event_id,
          sum(octet_length(e.body)) OVER longest_due AS size_so_far, row_number() OVER longest_due AS place
        FROM due JOIN postern.events e ON e.id = due.event_id
        WINDOW longest_due AS (ORDER BY due.claimable_at, due.id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE size_so_far <= $4 OR place = 1
      )
      UPDATE postern.dispatches d
      SET lease_owner = $1, claimable_at = now() + $3 * interval '1 ms'
      FROM taken JOIN postern.events e ON e.id = taken.event_id
      WHERE d.tenant_id = taken.tenant_id AND d.endpoint_id = taken.endpoint_id AND d.id = taken.id
      RETURNING d.tenant_id, d.endpoint_id, d.id, d.event_id, d.event_type, d.attempt, e.body,
        (SELECT count(*)::int FROM due) AS due`,
    values: [leaseId, limits.dispatches, LEASE_MS, limits.bodyBytes],
  });
  const claimed = rows.map((row) => ({
    id: row.id,
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body,
    attempt: row.attempt,
    leaseId,
    leaseEndsMs,
  }));
  const due = rows[0]?.due ?? 0;
  return { claimed, isAll: due < limits.dispatches && claimed.length === due };
}

/** Locks in the order of the key, as every statement on several dispatches does. */
export async function postponeDispatches(
  db: Db,
  postponed: readonly { dispatch: LeasedDispatch; delayMs: number }[],
): Promise<void> {
  await db.query(
    /* sql */ `WITH locked AS MATERIALIZED (
        SELECT d.tenant_id, d.endpoint_id, d.id, given.delay_ms
        FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::float8[])
          AS given (tenant_id, endpoint_id, id, lease_id, delay_ms)
        JOIN postern.dispatches d
          ON d.tenant_id = given.tenant_id AND d.endpoint_id = given.endpoint_id AND d.id = given.id
        WHERE d.lease_owner = given.lease_id
        ORDER BY d.tenant_id, d.endpoint_id, d.id
        FOR UPDATE OF d
      )
      UPDATE postern.dispatches d
      SET lease_owner = NULL, claimable_at = now() + locked.delay_ms * interval '1 ms'
      FROM locked
      WHERE d.tenant_id = locked.tenant_id AND d.endpoint_id = locked.endpoint_id AND d.id = locked.id`,
    [...leaseArrays(postponed.map((item) => item.dispatch)), postponed.map((item) => item.delayMs)],
  );
}

/** Tenant, endpoint, dispatch and lease ids as the four arrays that every statement on leased dispatches takes. */
export function leaseArrays(
  dispatches: readonly Pick<LeasedDispatch, "tenantId" | "endpointId" | "id" | "leaseId">[],
): [TenantId[], EndpointId[], DeliveryId[], string[]] {
  return [
    dispatches.map((dispatch) => dispatch.tenantId),
    dispatches.map((dispatch) => dispatch.endpointId),
    dispatches.map((dispatch) => dispatch.id),
    dispatches.map((dispatch) => dispatch.leaseId),
  ];
}
