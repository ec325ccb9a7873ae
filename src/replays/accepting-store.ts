import type { Db } from "../database/pool.ts";

/**
 * The transactions that are storing events at this moment, of all tenants. Whether
 * one will see an endpoint is decided already, and its events are seen by nobody yet.
 */
export async function findAccepting(db: Db): Promise<string[]> {
  // Whoever adds events locks the table before it looks for endpoints, and until its commit. So does what copies
  // those of a tenant that moves here, for minutes: they are no new ones.
  const { rows } = await db.query<{ id: string }>(/* sql */ `SELECT virtualtransaction AS id FROM pg_locks
      WHERE relation = 'postern.events'::regclass AND mode = 'RowExclusiveLock' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND pid NOT IN (SELECT pid FROM pg_stat_subscription WHERE pid IS NOT NULL)`);
  return rows.map(({ id }) => id);
}
