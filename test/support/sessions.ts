/** The connections to a test's database, as its server sees them. */
import type { Db } from "../../src/database/pool.ts";

/** Those whose application's name and last statement are like these, in the words of SQL's LIKE; default: all others than `db`. */
type Like = { name?: string; statement?: string };

const OTHERS = /* sql */ `FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE $1 AND query LIKE $2`;

/** Their processes. */
export async function sessions(db: Db, { name = "%", statement = "%" }: Like): Promise<number[]> {
  const { rows } = await db.query<{ pid: number }>(`SELECT pid ${OTHERS}`, [name, statement]);
  return rows.map(({ pid }) => pid);
}

/** Ends them, as an administrator does. */
export async function endSessions(db: Db, { name = "%", statement = "%" }: Like): Promise<void> {
  await db.query(`SELECT pg_terminate_backend(pid) ${OTHERS}`, [name, statement]);
}
