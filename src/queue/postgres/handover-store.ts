/** Events that lie in one shard and belong into another, until a worker has stored them there. */
import type { Db } from "../../database/pool.ts";
import type { EventId, TenantId } from "../../shared/id.ts";
import type { HandedOver, NewEvent } from "../queue.ts";

/** As the index has it; empty: for the directory. */
const SHARD = "coalesce(shard, '')";

/** `keyOf` is the key that an event has claimed in this very database; null: none. */
export async function insertHandovers(
  db: Db,
  events: readonly NewEvent[],
  keyOf: (event: NewEvent) => string | null = () => null,
): Promise<void> {
  const claimed = events.map(keyOf);
  await db.query(
    /* sql */ `INSERT INTO postern.handovers (id, tenant_id, type, version, body, others, key, claimed, traceparent)
      SELECT id, tenant_id, type, version, body, others::json, key, claimed, traceparent
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::boolean[],
        $9::text[]) AS given (id, tenant_id, type, version, body, others, key, claimed, traceparent)`,
    [
      events.map(({ id }) => id),
      events.map(({ tenantId }) => tenantId),
      events.map(({ type }) => type),
      events.map(({ version }) => version),
      events.map(({ body }) => body),
      events.map(({ others }) => (others === null ? null : JSON.stringify(others))),
      events.map(({ idempotencyKey }, place) => claimed[place] ?? idempotencyKey),
      claimed.map((key) => key !== null),
      events.map(({ traceparent }) => traceparent ?? null),
    ],
  );
}

/** Which of these tenants live in this database. */
export async function findTenantsHere(db: Db, tenantIds: readonly TenantId[]): Promise<Set<TenantId>> {
  const { rows } = await db.query<{ tenantId: TenantId }>(
    /* sql */ `SELECT here.tenant_id AS "tenantId" FROM unnest($1::text[]) AS asked (tenant_id)
      CROSS JOIN LATERAL (
        SELECT tenant_id FROM postern.shard_tenants WHERE tenant_id = asked.tenant_id AND NOT fenced OFFSET 0
      ) AS here`,
    [tenantIds],
  );
  return new Set(rows.map(({ tenantId }) => tenantId));
}

/** Where events wait to go; null: for the directory. One look-up each, however many events. */
export async function findDestinations(db: Db): Promise<(string | null)[]> {
  const { rows } = await db.query<{ shard: string | null }>(/* sql */ `WITH RECURSIVE line AS (
        (SELECT ${SHARD} AS shard FROM postern.handovers ORDER BY ${SHARD} LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT ${SHARD} AS shard FROM postern.handovers WHERE ${SHARD} > line.shard ORDER BY ${SHARD} LIMIT 1) AS next
      )
      SELECT nullif(line.shard, '') AS shard FROM line
      CROSS JOIN LATERAL (
        SELECT FROM postern.handovers WHERE ${SHARD} = line.shard AND lease_until <= now() LIMIT 1) AS waiting`);
  return rows.map(({ shard }) => shard);
}

/**
 * Leases events that wait to go there, as many of each tenant, its oldest, and
 * `bodyBytes` of their bodies at most, but one at least: no other worker is at them.
 */
export async function claimHandovers(
  db: Db,
  shard: string | null,
  { events, bodyBytes, leaseMs }: { events: number; bodyBytes: number; leaseMs: number },
): Promise<HandedOver[]> {
  const { rows } = await db.query<HandedOver>(
    // The length of a stored text is known without reading it.
    /* sql */ `WITH RECURSIVE line AS (
        (SELECT tenant_id FROM postern.handovers WHERE ${SHARD} = $1 ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT tenant_id FROM postern.handovers WHERE ${SHARD} = $1 AND tenant_id > line.tenant_id
          ORDER BY tenant_id LIMIT 1) AS next
      ), found AS (
        SELECT h.id, h.bytes, row_number() OVER (PARTITION BY h.tenant_id ORDER BY h.id) AS place
        FROM line CROSS JOIN LATERAL (
          SELECT tenant_id, id, octet_length(body) + coalesce(octet_length(others::text), 0) AS bytes
          FROM postern.handovers
          -- As in the outbox, a range in place of an equation.
          WHERE ${SHARD} = $1 AND tenant_id BETWEEN line.tenant_id AND line.tenant_id AND lease_until <= now()
          ORDER BY handovers.tenant_id, id LIMIT (SELECT ceil($2 / count(*)::numeric) FROM line)
          FOR UPDATE SKIP LOCKED
        ) AS h
      ), summed AS (
        SELECT id, sum(bytes) OVER upto AS bytes, row_number() OVER upto AS place
        FROM found WINDOW upto AS (ORDER BY place, bytes, id)
      )
      UPDATE postern.handovers SET lease_until = now() + $3 * interval '1 ms'
      WHERE id = ANY (ARRAY(SELECT id FROM summed WHERE place <= $2 AND (bytes <= $4 OR place = 1)))
      RETURNING id, tenant_id AS "tenantId", type, version, body, others, key AS "idempotencyKey", claimed, traceparent`,
    [shard ?? "", events, leaseMs, bodyBytes],
  );
  return rows;
}

/** They go there from now on, or to where the directory says (null), and may be claimed after so long. */
export async function redirectHandovers(
  db: Db,
  events: readonly { id: EventId; shard: string | null }[],
  delayMs: number,
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.handovers h SET shard = given.shard, lease_until = now() + $3 * interval '1 ms'
      FROM unnest($1::uuid[], $2::text[]) AS given (id, shard) WHERE h.id = given.id`,
    [events.map(({ id }) => id), events.map(({ shard }) => shard), delayMs],
  );
}

export async function deleteHandovers(db: Db, ids: readonly EventId[]): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.handovers WHERE id = ANY ($1::uuid[])`, [ids]);
}
