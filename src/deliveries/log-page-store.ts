/** Which deliveries are on a page of one endpoint's log, newest first: ids alone, from indexes that lead with the endpoint. */
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, EndpointKey, TenantId } from "../shared/id.ts";
import type { DeliveryStatus, IdRange } from "./delivery.ts";

type Page = { range: IdRange; offset: bigint; limit: number };

const LOGGED = /* sql */ `SELECT d.id FROM postern.deliveries d
  WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.id < $4`;
const PENDING = /* sql */ `SELECT d.id FROM postern.dispatches d
  WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.id < $4 AND NOT d.superseded`;
const SENDING = /* sql */ `SELECT d.id FROM postern.person_sends d
  WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.id < $4`;
const NEWEST = /* sql */ `ORDER BY d.id DESC LIMIT $5::bigint + $6`;

// The status as a literal: only so can it be seen that the index of what was not delivered has all that is asked for.
const PARTS: Record<DeliveryStatus | "any", string[]> = {
  any: [LOGGED, PENDING, SENDING],
  pending: [PENDING, SENDING],
  delivered: [`${LOGGED} AND d.status = 'delivered'`],
  failed: [`${LOGGED} AND d.status = 'failed'`],
  test: [`${LOGGED} AND d.status = 'test'`],
};

/** `count` is {@link MOST_COUNTED} where more are pending; then the oldest due is that of the oldest so many. */
export type Pending = { count: number; oldestDue: Date | null };

export const MOST_COUNTED = 10_000;

export async function countPending(db: Db, tenantId: TenantId, endpointId: EndpointId): Promise<Pending> {
  const { rows } = await db.query<Pending>({
    name: "count-pending",
    text: /* sql */ `SELECT count(*)::int AS count, min(due_at) FILTER (WHERE due_at <= now()) AS "oldestDue" FROM (
        SELECT d.due_at FROM postern.dispatches d
        WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND NOT d.superseded ORDER BY d.id LIMIT $3
      ) AS pending`,
    values: [tenantId, endpointId, MOST_COUNTED],
  });
  return rows[0] ?? { count: 0, oldestDue: null };
}

/**
 * The ids of a page of an endpoint's log within a range. Its cost is that of the
 * rows that the page skips and shows, and for `delivered` also of those in
 * between that were not.
 */
export async function listDeliveryIds(
  db: Db,
  endpoint: EndpointKey,
  status: DeliveryStatus | undefined,
  { range, offset, limit }: Page,
): Promise<DeliveryId[]> {
  const { rows } = await db.query<{ id: DeliveryId }>({
    name: `list-delivery-ids-${status ?? "any"}`,
    text: /* sql */ `SELECT id FROM (${PARTS[status ?? "any"].map((part) => `(${part} ${NEWEST})`).join(" UNION ALL ")}) AS parts
      ORDER BY id DESC OFFSET $5::bigint LIMIT $6`,
    values: [endpoint.tenantId, endpoint.endpointId, range.from, range.to, offset, limit],
  });
  return rows.map(({ id }) => id);
}
