import type { Pool, PoolClient } from "pg";

export async function pidOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

/** How many sessions wait for a lock of this one. The pool's, since a transaction sees these as they were at its first look. */
export async function waitersFor(pool: Pool, pid: number): Promise<number> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))",
    [pid],
  );
  return rowCount ?? 0;
}
