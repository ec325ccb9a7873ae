import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import type { OutboxEvent, RelayLimits } from "../queue.ts";

/** Tenants that have events in the outbox: one look-up each, however many events. */
export async function findOutboxTenants(db: Db): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenantId: TenantId }>({
    name: "find-outbox-tenants",
    text: /* sql */ `WITH RECURSIVE line AS (
        (SELECT tenant_id FROM postern.outbox ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT tenant_id FROM postern.outbox WHERE tenant_id > line.tenant_id ORDER BY tenant_id LIMIT 1) AS next
      )
      SELECT tenant_id AS "tenantId" FROM line`,
  });
  return rows.map(({ tenantId }) => tenantId);
}

export type OutboxTake = {
  events: OutboxEvent[];
  /** True when the limits, and not the end of what they have in the outbox, ended the take. */
  mayHaveMore: boolean;
};

/**
 * Takes events of these tenants out of the outbox, the oldest of each first, at
 * most `events` of them in equal parts and `bodyBytes` of their bodies, but at
 * least one. They are back if the transaction does not commit. An event of a type
 * that is not among `types` is taken only when it has been there for ten minutes.
 */
export async function takeFromOutbox(
  db: Db,
  tenantIds: readonly TenantId[],
  types: readonly string[],
  limit: RelayLimits,
): Promise<OutboxTake> {
  const each = Math.max(1, Math.floor(limit.events / tenantIds.length));
  const { rows } = await db.query<OutboxEvent & { claimed: boolean; found: number; most: number }>(
    // The length of a stored text is known without reading it.
    /* sql */ `WITH found AS (
        SELECT o.id, o.bytes, row_number() OVER (PARTITION BY o.tenant_id ORDER BY o.id) AS place
        FROM unnest($1::text[]) AS turn (tenant_id) CROSS JOIN LATERAL (
          SELECT tenant_id, id, octet_length(body) + coalesce(octet_length(versions::text), 0) AS bytes
          FROM postern.outbox
          -- A range in place of an equation keeps PostgreSQL from passing over other tenants' events in the order of ids.
          WHERE tenant_id BETWEEN turn.tenant_id AND turn.tenant_id
            AND (type = ANY ($2::text[]) OR id < postern.lowest_id_at(now() - interval '10 minutes'))
          ORDER BY outbox.tenant_id, id LIMIT $3 FOR UPDATE SKIP LOCKED
        ) AS o
      ), summed AS (
        SELECT id, sum(bytes) OVER upto AS bytes, row_number() OVER upto AS place, count(*) OVER ()::int AS found,
          max(place) OVER ()::int AS most
        FROM found
        -- Of rows in the same place the small first: a tenant waits behind no large ones of many others.
        WINDOW upto AS (ORDER BY place, bytes, id)
      )
      DELETE FROM postern.outbox AS o USING summed AS s
      -- An array keeps PostgreSQL from reading the whole outbox to join it.
      WHERE o.id = ANY (ARRAY[s.id]) AND (s.bytes <= $4 OR s.place = 1)
      RETURNING o.id, o.tenant_id AS "tenantId", o.type, coalesce(o.version, 1) AS version, o.body,
        o.versions AS others, o.key, o.claimed, s.found, s.most`,
    [tenantIds, types, each, limit.bodyBytes],
  );
  const { found = 0, most = 0 } = rows[0] ?? {};
  return {
    events: rows.map(({ id, tenantId, type, version, body, others, key, claimed }) => ({
      id,
      tenantId,
      type,
      version,
      body,
      others,
      key: claimed ? (key ?? null) : null,
      unclaimedKey: claimed ? null : (key ?? null),
    })),
    mayHaveMore: most === each || found > rows.length,
  };
}
