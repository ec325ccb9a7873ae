/** What a start asks databases that are to be shards. */
import type { Db } from "../database/pool.ts";
import type { Mark } from "./shard-faults.ts";

/** The same for one database under whatever address, and no other's. */
export async function readDatabaseIdentity(db: Db): Promise<string> {
  const { rows } = await db.query<{ identity: string }>(
    /* sql */ `SELECT system_identifier || '/' || current_database() AS identity FROM pg_control_system()`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the server has no system identifier");
  return row.identity;
}

/** Null for a database that is none. */
export async function readMark(db: Db): Promise<Mark | null> {
  const { rows } = await db.query<Mark>(
    /* sql */ `SELECT name, directory, keeps_directory AS "keepsDirectory" FROM postern.shard`,
  );
  return rows[0] ?? null;
}

/** Of two processes that do so at once, one does it. `directory` null: it keeps a new one. */
export async function insertMark(
  db: Db,
  { name, directory }: { name: string; directory: string | null },
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.shard (name, directory, keeps_directory)
      VALUES ($1, coalesce($2::uuid, gen_random_uuid()), $2::uuid IS NULL) ON CONFLICT DO NOTHING`,
    [name, directory],
  );
}

/** Whether anything of a tenant is in it. */
export async function hasTenants(db: Db): Promise<boolean> {
  const { rowCount } =
    await db.query(/* sql */ `SELECT WHERE EXISTS (SELECT FROM postern.endpoints) OR EXISTS (SELECT FROM postern.events)
      OR EXISTS (SELECT FROM postern.outbox) OR EXISTS (SELECT FROM postern.tenant_settings)`);
  return rowCount === 1;
}

/** How many tenants live in each shard, by the directory. */
export async function countHomes(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.query<{ shard: string; count: number }>(
    /* sql */ `SELECT shard, count(*) FROM postern.shard_directory GROUP BY shard ORDER BY shard`,
  );
  return new Map(rows.map(({ shard, count }) => [shard, count]));
}

export async function readSchemaVersion(db: Db): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    /* sql */ `SELECT coalesce(max(version), 0) AS version FROM postern.schema_migrations`,
  );
  return rows[0]?.version ?? 0;
}

/** Events that wait to be handed over: how many, and for how long the oldest does. */
export async function readHandovers(db: Db): Promise<{ waiting: number; waitingMs: number | null }> {
  const { rows } = await db.query<{
    waiting: number;
    waitingMs: number | null;
  }>(/* sql */ `SELECT (SELECT count(*)::int FROM postern.handovers) AS waiting, (
        SELECT round(1000 * extract(epoch FROM now()))::bigint - ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint
        FROM postern.handovers ORDER BY id LIMIT 1
      ) AS "waitingMs"`);
  const [row] = rows;
  if (row === undefined) throw new Error("a question without a table has one row");
  return row;
}
