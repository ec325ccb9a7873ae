/** The rows of bodies that wait to be stored. Rows of automatic attempts come with their outcomes, by `src/queue`. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../../shared/id.ts";
import type { ArtifactKind } from "../rules/object-key.ts";
import type { BodiesToKeep } from "../../queue/queue.ts";

export type DeliveryOfBodies = {
  tenantId: TenantId;
  endpointId: EndpointId;
  id: DeliveryId;
  attempt: number;
};

export type WaitingBody = Omit<DeliveryOfBodies, "id"> & {
  deliveryId: DeliveryId;
  kind: Exclude<ArtifactKind, "export">;
  /** Of an answer; null: the request's, which is in the log. */
  body: Buffer | null;
  days: number | null;
  tries: number;
  waitedS: number;
};

/** Within the transaction that logs a person's delivery. */
export async function insertBodies(db: Db, of: DeliveryOfBodies, bodies: BodiesToKeep): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, body, days)
      SELECT $1, $2, $3, $4, kind, body, $7
      FROM (VALUES ('request_body', NULL::bytea, $5::boolean), ('response_body', $6::bytea, $6::bytea IS NOT NULL))
        AS given (kind, body, is_kept)
      WHERE is_kept`,
    [of.tenantId, of.endpointId, of.id, of.attempt, bodies.requestBody, bodies.responseBody, bodies.days],
  );
}

/** Tenants of whom a body may be claimed: one look-up each, however many bodies. */
export async function findBodyTenants(db: Db): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenantId: TenantId }>({
    name: "find-body-tenants",
    text: /* sql */ `WITH RECURSIVE line AS (
        (SELECT tenant_id, due_at FROM postern.bodies_to_keep ORDER BY tenant_id, due_at LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT tenant_id, due_at FROM postern.bodies_to_keep WHERE tenant_id > line.tenant_id
          ORDER BY tenant_id, due_at LIMIT 1) AS next
      )
      SELECT tenant_id AS "tenantId" FROM line WHERE due_at <= now()`,
  });
  return rows.map(({ tenantId }) => tenantId);
}

/** Leases `each` unleased bodies of each of these tenants, those that wait longest, for `leaseMs`. */
export async function claimBodies(
  db: Db,
  tenantIds: readonly TenantId[],
  { each, leaseMs }: { each: number; leaseMs: number },
): Promise<WaitingBody[]> {
  const { rows } = await db.query<WaitingBody>({
    name: "claim-bodies",
    text: /* sql */ `WITH due AS MATERIALIZED (
        SELECT found.* FROM unnest($1::text[]) AS turn (tenant_id) CROSS JOIN LATERAL (
          SELECT tenant_id, delivery_id, kind FROM postern.bodies_to_keep
          -- A range in place of an equation keeps PostgreSQL from passing over other tenants' bodies in the order of time.
          WHERE tenant_id BETWEEN turn.tenant_id AND turn.tenant_id AND due_at <= now()
          ORDER BY bodies_to_keep.tenant_id, due_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS found
      )
      UPDATE postern.bodies_to_keep k SET due_at = now() + $3 * interval '1 ms', tries = tries + 1
      FROM due WHERE k.tenant_id = ANY (ARRAY[due.tenant_id]) AND k.delivery_id = due.delivery_id AND k.kind = due.kind
      RETURNING k.tenant_id AS "tenantId", k.endpoint_id AS "endpointId", k.delivery_id AS "deliveryId", k.attempt,
        k.kind, k.body, k.days, k.tries, extract(epoch FROM now() - k.noted_at)::float8 AS "waitedS"`,
    values: [tenantIds, each, leaseMs],
  });
  return rows;
}

/** As it was sent; null where the log or the event is gone. */
export async function readRequestBody(
  db: Db,
  { tenantId, endpointId, deliveryId }: WaitingBody,
): Promise<string | null> {
  const { rows } = await db.query<{ body: string | null }>({
    name: "request-body-to-keep",
    text: /* sql */ `SELECT coalesce(d.request_body, postern.body_of_version(e.body, e.version, e.versions, d.version)) AS body
      FROM postern.deliveries d LEFT JOIN postern.events e ON e.id = d.event_id AND e.tenant_id = d.tenant_id
      WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id = $3`,
    values: [tenantId, endpointId, deliveryId],
  });
  return rows[0]?.body ?? null;
}

/** It is stored, or lost. */
export async function deleteBody(db: Db, { tenantId, deliveryId, kind }: WaitingBody): Promise<void> {
  await db.query({
    name: "delete-kept-body",
    text: /* sql */ `DELETE FROM postern.bodies_to_keep WHERE tenant_id = $1 AND delivery_id = $2 AND kind = $3`,
    values: [tenantId, deliveryId, kind],
  });
}

/** All that wait of a tenant that is erased; answers how many. */
export async function deleteBodiesOf(db: Db, tenantId: TenantId): Promise<number> {
  const { rowCount } = await db.query(/* sql */ `DELETE FROM postern.bodies_to_keep WHERE tenant_id = $1`, [
    tenantId,
  ]);
  return rowCount ?? 0;
}

/** Releases it for any process after `delayMs`. */
export async function postponeBody(
  db: Db,
  { tenantId, deliveryId, kind }: WaitingBody,
  delayMs: number,
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.bodies_to_keep SET due_at = now() + $4 * interval '1 ms'
      WHERE tenant_id = $1 AND delivery_id = $2 AND kind = $3`,
    [tenantId, deliveryId, kind, delayMs],
  );
}

/** How many bodies of each tenant wait, and how many bytes of answers. */
export async function measureBodies(db: Db): Promise<{ tenantId: TenantId; count: number; bytes: number }[]> {
  const { rows } = await db.query<{ tenantId: TenantId; count: number; bytes: number }>({
    name: "measure-bodies",
    // A size is known without reading the bytes.
    text: /* sql */ `SELECT tenant_id AS "tenantId", count(*)::int AS count,
        coalesce(sum(octet_length(body)), 0)::float8 AS bytes
      FROM postern.bodies_to_keep GROUP BY tenant_id`,
  });
  return rows;
}
