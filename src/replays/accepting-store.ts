import type { Db } from "../database/pool.ts";

/**
 * The transactions that are storing events at this moment, of all tenants. Whether
 * one will see an endpoint is decided already, and its events are seen by nobody yet.
 */
export async function findAccepting(db: Db): Promise<string[]> {
  const { rows } = await db.query<{
    id: string;
  }>(/* sql */ `SELECT virtualtransaction AS id FROM pg_locks
      WHERE relation = 'postern.events'::regclass AND mode = 'RowExclusiveLock' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); // Whoever adds events locks the table before it looks for endpoints, and until its commit.
  return rows.map(({ id }) => id);
}
