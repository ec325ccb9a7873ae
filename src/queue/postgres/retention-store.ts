import type { Db } from "../../database/pool.ts";

/**
 * Drops one day partition that holds nothing younger than the retention, and no
 * event that a dispatch still needs. Returns it, and before it partitions that can't
 * be dropped now, each with the holders of its lock; `holders` is null for a dropped one.
 */
export async function dropOldPartition(
  db: Db,
  retentionDays: number,
): Promise<{ partition: string; holders: string | null }[]> {
  const { rows } = await db.query<{ partition: string; holders: string | null }>(
    /* sql */ `SELECT partition, holders FROM postern.drop_past_partitions($1)`,
    [retentionDays],
  );
  return rows;
}

/** The oldest day that still has a partition, at midnight UTC, by table; null where there is none. */
export async function readOldestDays(db: Db): Promise<{ table: string; day: Date | null }[]> {
  const { rows } = await db.query<{ table: string; day: Date | null }>(/* sql */ `SELECT parent AS table, (
        SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp AT TIME ZONE 'UTC'
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = ('postern.' || parent)::regclass AND c.relname ~ '_[0-9]{8}$') AS day
      FROM unnest(ARRAY['events', 'deliveries']) AS parent`);
  return rows;
}

const SETS_AT_ONCE = 10_000;

/** Forgets some sets of headers that no attempt of the log has any more; true when there may be more. */
export async function forgetHeaderSets(db: Db, retentionDays: number): Promise<boolean> {
  const { rows } = await db.query<{ removed: number }>(
    /* sql */ `SELECT postern.forget_header_sets($1, $2) AS removed`,
    [retentionDays, SETS_AT_ONCE],
  );
  return rows[0]?.removed === SETS_AT_ONCE;
}
