import type { Db } from "../database/pool.ts";

const PARTITION_DAYS_AHEAD = 7;
/** Longer than the promise of 24 hours, so that a key never ends while a producer still counts on it. */
const IDEMPOTENCY_KEY_HOURS = 25;

/** Makes the day partitions that will be needed; answers how many were missing. */
export async function makePartitionsAhead(db: Db): Promise<number> {
  const { rows } = await db.query<{ made: number }>(
    /* sql */ `SELECT postern.ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1,
      (now() AT TIME ZONE 'UTC')::date + $1::integer) AS made`,
    [PARTITION_DAYS_AHEAD],
  );
  return rows[0]?.made ?? 0;
}

/** Forgets idempotency keys that have served their time. */
export async function deleteOldIdempotencyKeys(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    /* sql */ `DELETE FROM postern.idempotency_keys WHERE created_at < now() - make_interval(hours => $1)`,
    [IDEMPOTENCY_KEY_HOURS],
  );
  return rowCount ?? 0;
}

export type QueueDepth = {
  due: number;
  leased: number;
  scheduled: number;
  held: number;
  /** Seconds since the oldest dispatch that nobody has leased was due; 0 when none is. */
  oldestDueAgeS: number;
};

export async function measureQueue(db: Db): Promise<QueueDepth> {
  const { rows } = await db.query<QueueDepth>(/* sql */ `SELECT
        count(*) FILTER (WHERE NOT held AND claimable_at <= now())::int AS due,
        count(*) FILTER (WHERE NOT held AND claimable_at > now() AND lease_owner IS NOT NULL)::int AS leased,
        count(*) FILTER (WHERE NOT held AND claimable_at > now() AND lease_owner IS NULL)::int AS scheduled,
        count(*) FILTER (WHERE held)::int AS held,
        coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE NOT held AND claimable_at <= now())), 0)::float8
          AS "oldestDueAgeS"
      FROM postern.dispatches`);
  return rows[0] ?? { due: 0, leased: 0, scheduled: 0, held: 0, oldestDueAgeS: 0 };
}

/** Day partitions that hold nothing younger than the retention, and no event that a dispatch still needs. */
export async function dropOldPartitions(db: Db, retentionDays: number): Promise<string[]> {
  const { rows } = await db.query<{ dropped: string }>(
    /* sql */ `SELECT dropped FROM postern.drop_old_partitions($1) AS dropped`,
    [retentionDays],
  );
  return rows.map((row) => row.dropped);
}
