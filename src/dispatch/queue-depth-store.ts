import type { Db } from "../database/pool.ts";
import { DEAD_LEASE_AFTER_S, type QueueDepth } from "./queue-troubles.ts";

/** One look at the whole queue; what a person's delivery superseded counts only while it is leased. */
export async function measureQueue(db: Db): Promise<QueueDepth> {
  const { rows } = await db.query<QueueDepth>(
    /* sql */ `WITH states AS (
        SELECT due_at, claimable_at, held, lease_owner, NOT held AND NOT superseded AND claimable_at <= now() AS due
        FROM postern.dispatches
      )
      SELECT
        count(*) FILTER (WHERE due)::int AS due,
        count(*) FILTER (WHERE NOT held AND claimable_at > now() AND lease_owner IS NOT NULL)::int AS leased,
        count(*) FILTER (WHERE NOT held AND claimable_at > now() AND lease_owner IS NULL)::int AS scheduled,
        count(*) FILTER (WHERE held)::int AS held,
        coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE due)), 0)::float8 AS "oldestDueAgeS",
        coalesce(extract(epoch FROM now() - min(claimable_at) FILTER (WHERE due)), 0)::float8 AS "longestWaitS",
        count(*) FILTER (WHERE due AND lease_owner IS NOT NULL
          AND claimable_at <= now() - make_interval(secs => $1))::int AS "deadLeases"
      FROM states`,
    [DEAD_LEASE_AFTER_S],
  );
  const [depth] = rows;
  if (depth === undefined) throw new Error("counting answers one row");
  return depth;
}
