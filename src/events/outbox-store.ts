import type { Db } from "../database/pool.ts";
import type { OutboxEvent } from "../queue/queue.ts";
import { WAKE_CHANNEL } from "../queue/channels.ts";

/** Workers hear of them when the transaction commits. */
export async function addToOutbox(
  db: Db,
  events: readonly Pick<OutboxEvent, "id" | "tenantId" | "type" | "body">[],
): Promise<void> {
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

/** A type as SQL knows it: `needed` versions are required of an event, `others` are optional. */
export type MirroredType = {
  type: string;
  newest: number;
  needed: readonly number[];
  others: readonly number[];
};

/**
 * Makes `postern.publish` know exactly these types. One worker after the other: while their catalogs differ, each adds
 * and drops types that another has yet to come to, so no order of rows would keep them from waiting for each other.
 */
export async function mirrorEventTypes(db: Db, types: readonly MirroredType[]): Promise<void> {
  await db.query(
    /* sql */ `WITH locked AS MATERIALIZED (
        SELECT pg_advisory_xact_lock(hashtext('postern.event_types'))
      ), given AS MATERIALIZED (
        SELECT * FROM json_to_recordset($1) AS given (type text, newest smallint, needed smallint[], others smallint[])
        WHERE (SELECT count(*) FROM locked) >= 0
      ), gone AS (
        DELETE FROM postern.event_types t WHERE NOT EXISTS (SELECT FROM given WHERE given.type = t.type)
      )
      INSERT INTO postern.event_types AS t (type, newest, needed, others)
      SELECT type, newest, needed, others FROM given
      ON CONFLICT (type) DO UPDATE SET newest = excluded.newest, needed = excluded.needed, others = excluded.others
        WHERE (t.newest, t.needed, t.others) IS DISTINCT FROM (excluded.newest, excluded.needed, excluded.others)`,
    [JSON.stringify(types)],
  );
}
