import type { Db } from "./pool.ts";

/** A process for as long as it runs. */
export type ProcessIdentity = { id: string; name: string };

/** Who holds a lock that keeps others from writing to a table. */
export type LockHolder = { table: string; pid: number; name: string };

/**
 * Writes that the process lives, and takes on the way the locks that accepting
 * and recording need, without changing a row: it fails as they would fail.
 * Answers the server's clock, in milliseconds since 1970.
 */
export async function beat(db: Db, { id, name }: ProcessIdentity): Promise<number> {
  const { rows } = await db.query<{ nowMs: number }>({
    name: "beat",
    text: /* sql */ `WITH endpoints AS (
        UPDATE postern.endpoints SET updated_at = now() WHERE false
      ), events AS (
        INSERT INTO postern.events (id) SELECT NULL WHERE false
      ), keys AS (
        INSERT INTO postern.idempotency_keys (key) SELECT NULL WHERE false
      ), dispatches AS (
        INSERT INTO postern.dispatches (id) SELECT NULL WHERE false
      ), deliveries AS (
        INSERT INTO postern.deliveries (id) SELECT NULL WHERE false
      ), outbox AS (
        DELETE FROM postern.outbox WHERE false
      )
      INSERT INTO postern.heartbeats (process_id, name) VALUES ($1, $2)
      ON CONFLICT (process_id) DO UPDATE SET seen_at = now()
      RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
    values: [id, name],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a heartbeat answers its time");
  return row.nowMs;
}

/** Processes that ended are forgotten after a day. */
export async function removeOldHeartbeats(db: Db): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.heartbeats WHERE process_id IN (
    SELECT process_id FROM postern.heartbeats WHERE seen_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED)`);
}

/** The sessions that keep others from writing to tables of Postern, the longest first. */
export async function findLockHolders(db: Db): Promise<LockHolder[]> {
  const { rows } =
    await db.query<LockHolder>(/* sql */ `SELECT DISTINCT ON (a.xact_start, l.pid) c.relname AS table, l.pid,
        -- Null where this user may not see it.
        coalesce(nullif(a.application_name, ''), 'unknown') AS name
      FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND c.relnamespace = 'postern'::regnamespace
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      ORDER BY a.xact_start, l.pid, c.relname LIMIT 3`);
  return rows;
}
