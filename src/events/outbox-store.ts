import type { Db } from "../database/pool.ts";
import type { EventId, TenantId } from "../shared/id.ts";

export type OutboxEvent = { id: EventId; tenantId: TenantId; type: string; body: string };

/** Whether there is anything to take: one look at an index, where taking costs a transaction. */
export async function isOutboxEmpty(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(/* sql */ `SELECT FROM postern.outbox LIMIT 1`);
  return rowCount === 0;
}

/**
 * Takes published events out of the outbox, oldest first; they are back if the
 * transaction does not commit. One of a type that is not among `types` is
 * taken only when it has lain for ten minutes.
 */
export async function takeFromOutbox(
  db: Db,
  types: readonly string[],
  limit: number,
): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(
    /* sql */ `DELETE FROM postern.outbox
      WHERE id IN (
        SELECT id FROM postern.outbox
        WHERE type = ANY ($1::text[]) OR id < postern.lowest_id_at(now() - interval '10 minutes')
        ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING id, tenant_id AS "tenantId", type, body`,
    [types, limit],
  );
  return rows;
}

/** Makes `postern.publish` know exactly these types. */
export async function mirrorEventTypes(db: Db, types: readonly string[]): Promise<void> {
  await db.query(
    /* sql */ `WITH gone AS (DELETE FROM postern.event_types WHERE NOT type = ANY ($1::text[]))
      INSERT INTO postern.event_types (type) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
    [types],
  );
}
