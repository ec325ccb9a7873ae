import type { Db } from "../../database/pool.ts";

/** The tables that have a partition for each day. */
export type PartitionedTable = "events" | "deliveries";

/** Days from today, before and after, whose partition is missing somewhere. */
export async function findMissingDays(db: Db, range: { from: number; to: number }): Promise<number[]> {
  const { rows } = await db.query<{ day: number }>(
    /* sql */ `SELECT day FROM generate_series($1::integer, $2::integer) AS day
      WHERE EXISTS (
        SELECT FROM unnest(ARRAY['events', 'deliveries']) AS parent
        WHERE to_regclass(format('postern.%I',
          parent || '_' || to_char((now() AT TIME ZONE 'UTC')::date + day, 'YYYYMMDD'))) IS NULL)
      ORDER BY day`,
    [range.from, range.to],
  );
  return rows.map(({ day }) => day);
}

/** Makes the partitions of one day, so many days from today, where the default partition holds few of its rows. */
export async function makePartitionsOf(db: Db, day: number): Promise<void> {
  await db.query(
    /* sql */ `SELECT postern.ensure_partitions(day, day) FROM (
      SELECT (now() AT TIME ZONE 'UTC')::date + $1::integer AS day) AS days`,
    [day],
  );
}

/** Begins to move the rows of missing days, or finds what was begun. Answers the pages to copy; null: none is missing. */
export async function stagePartitions(
  db: Db,
  table: PartitionedTable,
  range: { from: number; to: number },
): Promise<number | null> {
  const { rows } = await db.query<{ pages: number | null }>(
    /* sql */ `SELECT postern.stage_partitions($1, (now() AT TIME ZONE 'UTC')::date + $2::integer,
      (now() AT TIME ZONE 'UTC')::date + $3::integer) AS pages`,
    [table, range.from, range.to],
  );
  return rows[0]?.pages ?? null;
}

/** Copies the rows of these pages, the last one excluded. */
export async function copyStagedRows(
  db: Db,
  table: PartitionedTable,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db.query(/* sql */ `SELECT postern.copy_staged_rows($1, $2, $3)`, [table, from, to]);
}

/** Puts the copies in the place of the default partition. */
export async function attachStaged(db: Db, table: PartitionedTable): Promise<void> {
  await db.query(/* sql */ `SELECT postern.attach_staged($1)`, [table]);
}
