import { notOnItsWay } from "../database/on-its-way.ts";
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId, TenantId } from "../shared/id.ts";

export type FailingEndpoint = EndpointKey & { url: string; failingSince: Date };

// ANY (ARRAY[…]): an array keeps PostgreSQL from reading all endpoints to join them.

const UNTOLD = /* sql */ `failing_since <= now() - $1 * interval '1 ms' AND enabled AND deleted_at IS NULL
            AND NOT events <@ $3::text[]
            AND (failing_told_at IS NULL OR failing_told_at < failing_since + $1 * interval '1 ms'
              OR (failing_since <= now() - $2 * interval '1 ms'
                AND failing_told_at < failing_since + $2 * interval '1 ms'))`;

/**
 * Endpoints that have failed for `afterMs` and whose tenant was not told since
 * then, of all tenants; marks them as told. `afterMs` are two times, the shorter
 * first. Not those whose patterns are all among `without`.
 *
 * The row's lock makes one process tell it: another skips the endpoint, or finds
 * it told.
 */
export async function takeFailing(
  db: Db,
  {
    afterMs,
    without,
    limit,
  }: { afterMs: readonly [number, number]; without: readonly string[]; limit: number },
): Promise<FailingEndpoint[]> {
  const { rows } = await db.query<FailingEndpoint>({
    name: "take-failing-endpoints",
    // By itself, or PostgreSQL may read all endpoints in the order of their tenants.
    text: /* sql */ `WITH untold AS MATERIALIZED (
        SELECT tenant_id, id, failing_since FROM postern.endpoints WHERE ${UNTOLD} AND ${notOnItsWay("tenant_id")}
      ), due AS MATERIALIZED (
        SELECT e.tenant_id, e.id FROM (
          SELECT tenant_id, id FROM untold
          -- Each tenant's first before any one's second: the endpoints of one may be more than all rounds tell of soon.
          ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY failing_since), failing_since
        ) AS x CROSS JOIN LATERAL (
          -- Again, of the row as it is with its lock.
          SELECT tenant_id, id FROM postern.endpoints WHERE tenant_id = x.tenant_id AND id = x.id AND ${UNTOLD}
          FOR NO KEY UPDATE SKIP LOCKED
        ) AS e
        LIMIT $4
      )
      UPDATE postern.endpoints e SET failing_told_at = now() FROM due
      WHERE e.tenant_id = ANY (ARRAY[due.tenant_id]) AND e.id = due.id
      RETURNING e.tenant_id AS "tenantId", e.id AS "endpointId", e.url, e.failing_since AS "failingSince"`,
    values: [afterMs[0], afterMs[1], without, limit],
  });
  return rows;
}

export type ExhaustedEvents = {
  tenantId: TenantId;
  endpointId: EndpointId;
  url: string;
  count: number;
  /** Of the newest. */
  deliveryId: DeliveryId;
  eventId: EventId;
  eventType: string;
};

type EndpointRef = Pick<ExhaustedEvents, "tenantId" | "endpointId" | "url"> & { isDeleted: boolean };

/**
 * Endpoints with exhausted events whose tenant was not told of such for
 * `pauseMs`, of all tenants; marks them as told. A lock as in
 * {@link takeFailing}: the events are taken after it, by another statement that
 * finds what others left.
 */
export async function takeExhausting(
  db: Db,
  { pauseMs, limit }: { pauseMs: number; limit: number },
): Promise<EndpointRef[]> {
  const { rows } = await db.query<EndpointRef>({
    name: "take-exhausting-endpoints",
    text: /* sql */ `WITH due AS MATERIALIZED (
        SELECT e.tenant_id, e.id FROM (
          SELECT tenant_id, endpoint_id FROM (
            SELECT DISTINCT tenant_id, endpoint_id FROM postern.exhausted_events WHERE ${notOnItsWay("tenant_id")}
          ) AS exhausted
          -- Each tenant's first before any one's second: the endpoints of one may be due again before all are told.
          ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY endpoint_id)
        ) AS x CROSS JOIN LATERAL (
          SELECT tenant_id, id FROM postern.endpoints
          WHERE tenant_id = x.tenant_id AND id = x.endpoint_id
            AND (exhausted_told_at IS NULL OR exhausted_told_at <= now() - $1 * interval '1 ms')
          FOR NO KEY UPDATE SKIP LOCKED
        ) AS e
        LIMIT $2
      )
      UPDATE postern.endpoints e SET exhausted_told_at = now() FROM due
      WHERE e.tenant_id = ANY (ARRAY[due.tenant_id]) AND e.id = due.id
      RETURNING e.tenant_id AS "tenantId", e.id AS "endpointId", e.url, e.deleted_at IS NOT NULL AS "isDeleted"`,
    values: [pauseMs, limit],
  });
  return rows;
}

/**
 * Takes all exhausted events of these endpoints, and answers one sum for each of them that is not deleted. Who has
 * them locked is erasing their tenant, and may wait for an endpoint that was taken.
 */
export async function sumExhausted(db: Db, endpoints: readonly EndpointRef[]): Promise<ExhaustedEvents[]> {
  const { rows } = await db.query<ExhaustedEvents>({
    name: "sum-exhausted-events",
    text: /* sql */ `WITH free AS MATERIALIZED (
        SELECT x.*, e.url, e.is_deleted
        FROM unnest($1::text[], $2::uuid[], $3::text[], $4::boolean[]) AS e (tenant_id, id, url, is_deleted)
          CROSS JOIN LATERAL (
            SELECT tenant_id, endpoint_id, delivery_id FROM postern.exhausted_events
            WHERE tenant_id = e.tenant_id AND endpoint_id = e.id FOR UPDATE SKIP LOCKED
          ) AS x
      ), taken AS (
        DELETE FROM postern.exhausted_events AS x USING free AS f
        WHERE x.tenant_id = ANY (ARRAY[f.tenant_id]) AND x.endpoint_id = f.endpoint_id AND x.delivery_id = f.delivery_id
        RETURNING x.*, f.url, f.is_deleted
      )
      SELECT DISTINCT ON (tenant_id, endpoint_id) tenant_id AS "tenantId", endpoint_id AS "endpointId", url,
        (sum(count) OVER (PARTITION BY tenant_id, endpoint_id))::float8 AS count,
        delivery_id AS "deliveryId", event_id AS "eventId", event_type AS "eventType"
      FROM taken WHERE NOT is_deleted ORDER BY tenant_id, endpoint_id, delivery_id DESC`,
    values: [
      endpoints.map(({ tenantId }) => tenantId),
      endpoints.map(({ endpointId }) => endpointId),
      endpoints.map(({ url }) => url),
      endpoints.map(({ isDeleted }) => isDeleted),
    ],
  });
  return rows;
}
