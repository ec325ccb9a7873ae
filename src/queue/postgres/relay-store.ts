import type { Db } from "../../database/pool.ts";
import type { OutboxEvent, RelayLimits } from "../queue.ts";

/** Whether there is anything to take: one look at an index, where taking costs a transaction. */
export async function isOutboxEmpty(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(/* sql */ `SELECT FROM postern.outbox LIMIT 1`);
  return rowCount === 0;
}

export type OutboxTake = {
  events: OutboxEvent[];
  /** True when the limits, and not the end of the outbox, ended the take. */
  mayHaveMore: boolean;
};

/**
 * Takes events out of the outbox, the oldest first, at most `events` of them
 * and `bodyBytes` of their bodies, but at least one. They are back if the
 * transaction does not commit. An event of a type that is not among `types` is
 * taken only when it has been there for ten minutes.
 */
export async function takeFromOutbox(
  db: Db,
  types: readonly string[],
  limit: RelayLimits,
): Promise<OutboxTake> {
  const { rows } = await db.query<OutboxEvent & { claimed: boolean; found: number }>(
    // The length of a stored text is known without reading it.
    /* sql */ `WITH found AS (
        SELECT id, octet_length(body) + coalesce(octet_length(versions::text), 0) AS bytes FROM postern.outbox
        WHERE type = ANY ($1::text[]) OR id < postern.lowest_id_at(now() - interval '10 minutes')
        ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
      ), summed AS (
        SELECT id, sum(bytes) OVER upto AS bytes, row_number() OVER upto AS place, count(*) OVER ()::int AS found
        FROM found WINDOW upto AS (ORDER BY id)
      )
      DELETE FROM postern.outbox AS o USING summed AS s
      -- An array keeps PostgreSQL from reading the whole outbox to join it.
      WHERE o.id = ANY (ARRAY[s.id]) AND (s.bytes <= $3 OR s.place = 1)
      RETURNING o.id, o.tenant_id AS "tenantId", o.type, coalesce(o.version, 1) AS version, o.body,
        o.versions AS others, o.key, o.claimed, s.found`,
    [types, limit.events, limit.bodyBytes],
  );
  const found = rows[0]?.found ?? 0;
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
    mayHaveMore: found === limit.events || found > rows.length,
  };
}
