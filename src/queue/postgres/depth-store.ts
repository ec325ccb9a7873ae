import type { Db } from "../../database/pool.ts";
import { DEAD_LEASE_AFTER_S, type QueueDepth } from "../queue-troubles.ts";

/** Seconds since the id of the oldest row of a table was made; 0 without one. */
const oldestAgeS = (table: string): string => /* sql */ `coalesce((
    SELECT greatest(0, extract(epoch FROM now())
      - ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    FROM ${table} ORDER BY id LIMIT 1), 0)::float8`;

/**
 * One look at the whole queue, the outbox before it, and events for other shards. What a person's
 * delivery superseded counts only while it is leased; an event whose type left
 * the catalog lies in the outbox by intent, and does not count.
 */
export async function measureQueue(db: Db): Promise<QueueDepth> {
  const { rows } = await db.query<QueueDepth>(
    /* sql */ `WITH states AS (
        SELECT due_at, claimable_at, held, lease_owner, parked AND NOT held AND NOT superseded AS parked,
          NOT held AND NOT superseded AND NOT parked AND claimable_at <= now() AS due,
          held AND (tenant_id, endpoint_id) IN (
            SELECT tenant_id, id FROM postern.endpoints WHERE mode = 'pull' AND deleted_at IS NULL) AS unfetched
        FROM postern.dispatches
      ), outbox AS NOT MATERIALIZED (
        SELECT id FROM postern.outbox WHERE type IN (SELECT type FROM postern.event_types)
      )
      SELECT
        count(*) FILTER (WHERE due)::int AS due,
        count(*) FILTER (WHERE NOT held AND claimable_at > now() AND lease_owner IS NOT NULL)::int AS leased,
        count(*) FILTER (WHERE parked)::int AS parked,
        count(*) FILTER (WHERE NOT held AND NOT parked AND claimable_at > now() AND lease_owner IS NULL)::int AS scheduled,
        count(*) FILTER (WHERE held AND NOT unfetched)::int AS held,
        count(*) FILTER (WHERE unfetched)::int AS unfetched,
        coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE due)), 0)::float8 AS "oldestDueAgeS",
        coalesce(extract(epoch FROM now() - min(claimable_at) FILTER (WHERE due)), 0)::float8 AS "longestWaitS",
        count(*) FILTER (WHERE due AND lease_owner IS NOT NULL
          AND claimable_at <= now() - make_interval(secs => $1))::int AS "deadLeases",
        (SELECT count(*)::int FROM outbox) AS "outboxWaiting",
        ${oldestAgeS("outbox")} AS "outboxOldestAgeS",
        (SELECT count(*)::int FROM postern.handovers) AS "handoversWaiting",
        ${oldestAgeS("postern.handovers")} AS "handoversOldestAgeS"
      FROM states`,
    [DEAD_LEASE_AFTER_S],
  );
  const [depth] = rows;
  if (depth === undefined) throw new Error("counting answers one row");
  return depth;
}
