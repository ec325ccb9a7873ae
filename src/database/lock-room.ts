/**
 * Room for the locks of a long log. A statement that reads it locks the tables
 * and indexes of every day, also of days that it does not come to. When the
 * server's table of locks is full, statements of any process fail, those of
 * workers too.
 */
import type { Db } from "./pool.ts";

/** Such statements at a time: the readers of the log of two processes with a usual pool. */
const STATEMENTS = 10;
/** That many holders of a lock are what PostgreSQL makes room for. */
const HOLDERS = 2;
/** Events stay five days longer, and there are today's partition, yesterday's and those of a week ahead. */
const DAYS_MORE = 14;

/** `sessions` share room for `each` so many locks; `aDay`: tables and indexes of one day. */
export type LockRoom = { each: number; sessions: number; aDay: number };

export async function readLockRoom(db: Db): Promise<LockRoom> {
  const { rows } = await db.query<LockRoom>(/* sql */ `SELECT
      current_setting('max_locks_per_transaction')::int AS each,
      current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int AS sessions,
      count(DISTINCT c.oid)::int + count(i.indexrelid)::int AS "aDay"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_index i ON i.indrelid = c.oid
    WHERE n.nspname = 'postern' AND c.relname IN ('events', 'deliveries')`);
  return rows[0] ?? { each: 0, sessions: 0, aDay: 0 };
}

/** What max_locks_per_transaction should be for so many days, at least. */
export function locksNeeded({ sessions, aDay }: Omit<LockRoom, "each">, retentionDays: number): number {
  const locks = aDay * (retentionDays + DAYS_MORE);
  return Math.ceil((locks * STATEMENTS) / HOLDERS / sessions);
}
