import type { Db } from "../database/pool.ts";
import type { OutboxEvent } from "../queue/queue.ts";
import { WAKE_CHANNEL } from "../queue/channels.ts";

/** Workers hear of them when the transaction commits. */
export async function addToOutbox(db: Db, events: readonly OutboxEvent[]): Promise<void> {
  await db.query(
    /* sql */ `WITH added AS (
        INSERT INTO postern.outbox (id, tenant_id, type, body)
        SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
      )
      SELECT pg_notify('${WAKE_CHANNEL}', '')`,
    [
      events.map(({ id }) => id),
      events.map(({ tenantId }) => tenantId),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
    ],
  );
}

/** Makes `postern.publish` know exactly these types. */
export async function mirrorEventTypes(db: Db, types: readonly string[]): Promise<void> {
  await db.query(
    /* sql */ `WITH gone AS (DELETE FROM postern.event_types WHERE NOT type = ANY ($1::text[]))
      INSERT INTO postern.event_types (type) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
    [types],
  );
}
