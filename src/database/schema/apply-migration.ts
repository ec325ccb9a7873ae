/** Applies one file, and lets traffic through while it can't have its locks. */
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseError } from "pg";
import { messageOf } from "../../shared/message-of.ts";
import type { DatabaseLog } from "../log.ts";
import type { Migration } from "./migration-files.ts";
import { recordApplied } from "./migration-ledger.ts";
import { isLockConflict } from "../passing-errors.ts";
import type { PoolClient } from "../pool.ts";

const LOCK_TIMEOUT_MS = 2000;
const LOCK_PAUSE_MS = 1000;
const LOCK_PATIENCE_MS = 5 * 60_000;
/** The first line of a file whose statements each run alone, such as CREATE INDEX CONCURRENTLY. */
const NO_TRANSACTION = /^-- no transaction\n/;

/**
 * Applies the file and its entry in the ledger in one transaction, or, where
 * its first line is `-- no transaction`, each statement by itself and the entry
 * last. Throws, naming the file and the line, when a statement fails.
 */
export async function applyMigration(
  client: PoolClient,
  migration: Migration,
  log?: DatabaseLog,
): Promise<void> {
  if (NO_TRANSACTION.test(migration.sql)) await applyStatements(client, migration);
  else await applyPatiently(client, migration, log);
}

/**
 * A statement that waits for a lock blocks every later one, and
 * all that need the file's locks so far. So it gives up soon, with the
 * whole file, lets traffic through, and tries again.
 */
async function applyPatiently(client: PoolClient, migration: Migration, log?: DatabaseLog): Promise<void> {
  const endsAt = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return await apply(client, migration);
    } catch (error) {
      if (!isLockConflict(error) || performance.now() > endsAt) throw error;
      await client.query("ROLLBACK");
      log?.warn(`Migration ${migration.file} waits for a lock, and is tried again: ${await holders(client)}`);
      await delay(LOCK_PAUSE_MS);
    }
  }
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(migration.sql);
    await recordApplied(client, migration);
    await client.query("COMMIT");
  } catch (error) {
    // The caller rolls back, or closes the connection; only the reason is needed here.
    throw failure(migration, error);
  }
}

/**
 * One by one, as a statement that refuses a transaction needs. These wait for
 * other transactions without keeping traffic waiting, so they may wait long.
 */
async function applyStatements(client: PoolClient, migration: Migration): Promise<void> {
  if (migration.sql.includes("$$")) {
    throw new Error(`Migration ${migration.file} has no transaction, so it can't hold a function or block.`);
  }
  await client.query(`SET lock_timeout = ${LOCK_PATIENCE_MS}`);
  let before = "";
  for (const statement of migration.sql.split(/(?<=;)[ \t]*\n/)) {
    try {
      // Comments alone are an empty query, which does nothing.
      await client.query(statement);
    } catch (error) {
      throw failure(migration, error, before);
    }
    before += `${statement}\n`;
  }
  await recordApplied(client, migration);
}

function failure(migration: Migration, error: unknown, before = ""): Error {
  const line = lineOf(before, migration.sql.slice(before.length), error);
  return new Error(`Migration ${migration.file}${line} failed: ${messageOf(error)}`, { cause: error });
}

/** Whose transactions are older than the wait was and have something locked here: PostgreSQL does not say what it waited for. */
async function holders(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ holder: string }>(
    /* sql */ `SELECT format('process %s%s has %s locked', l.pid, ' (' || nullif(a.application_name, '') || ')',
        string_agg(DISTINCT l.relation::regclass::text, ', ')) AS holder
      FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND c.relnamespace <> 'pg_catalog'::regnamespace
        -- Null where this user may not see it.
        AND coalesce(a.xact_start <= clock_timestamp() - $1 * interval '1 ms', true)
      GROUP BY l.pid, a.application_name ORDER BY min(a.xact_start) LIMIT 5`,
    [LOCK_TIMEOUT_MS],
  );
  return rows.length === 0 ? "it has been released" : rows.map(({ holder }) => holder).join("; ");
}

/** PostgreSQL names the place of an error in characters of its statement, from 1. */
function lineOf(before: string, sql: string, error: unknown): string {
  const position = error instanceof DatabaseError ? Number(error.position) : Number.NaN;
  return Number.isInteger(position) ? `, line ${(before + sql.slice(0, position)).split("\n").length},` : "";
}
