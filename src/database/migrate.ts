/**
 * Brings the schema up to date: plain SQL files, forward only.
 *
 * `migrations/NNNN_name.sql` are applied in order, each in a transaction of
 * its own together with its row in `postern.schema_migrations`, so a file is
 * applied wholly and once. Every starting process may call `migrate`: an
 * advisory lock lets one work while the others wait and then find nothing to
 * do. An applied file never changes; its hash is compared at each start.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { DatabaseLog } from "./log.ts";
import type { Db, Pool, PoolClient } from "./pool.ts";
import { ensureRoles } from "./roles.ts";

export type Migration = { version: number; name: string; file: string; sha256: string; sql: string };
type Applied = { version: number; name: string; sha256: string };

// Any number, but the same in every release: processes of two releases exclude each other by it.
const LOCK_KEY = 7_067_831_001;
const LOCK_TIMEOUT_MS = 2000;
const LOCK_PAUSE_MS = 1000;
const LOCK_PATIENCE_MS = 5 * 60_000;
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** Reads a folder of migrations, in order. Throws on a `.sql` name that does not fit, or a version used twice. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const migrations = await Promise.all(files.map((file) => readMigration(folder, file)));
  for (const [index, migration] of migrations.entries()) {
    const before = migrations[index - 1];
    if (before?.version === migration.version) {
      throw new Error(`${before.file} and ${migration.file} have the same number. Renumber the newer one.`);
    }
  }
  return migrations;
}

async function readMigration(folder: string, file: string): Promise<Migration> {
  const [, digits, name] = FILE_NAME.exec(file) ?? [];
  if (digits === undefined || name === undefined) {
    throw new Error(`${join(folder, file)} is not named like 0001_create_endpoints.sql. Rename it.`);
  }
  // A checkout with other line ends is the same migration.
  const sql = (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n");
  return { version: Number(digits), name, file, sql, sha256: createHash("sha256").update(sql).digest("hex") };
}

/**
 * Makes the roles that are missing, applies the files that are not applied yet
 * and returns these. Throws, naming the file,
 * when one fails or waits five minutes for a lock, when an applied one was changed or is missing, or when a new
 * one is numbered before an applied one. What came before the failing file stays applied.
 */
export async function migrate(pool: Pool, migrations: Migration[], log?: DatabaseLog): Promise<Migration[]> {
  const client = await pool.connect();
  try {
    // A migration, or the wait for another process's, may take longer than any request.
    await client.query("SET statement_timeout = 0");
    await client.query("SET lock_timeout = 0");
    await client.query("SET idle_in_transaction_session_timeout = 0");
    await client.query("SELECT pg_advisory_lock($1)", [LOCK_KEY]);
    await ensureRoles(client);
    await createLedger(client);
    const applied = await readApplied(client);
    const { pending, newer } = compare(migrations, applied);
    if (newer.length > 0) log?.warn(newerDatabase(newer));
    for (const migration of pending) {
      await applyPatiently(client, migration, log);
      log?.info(`Applied migration ${migration.file}`);
    }
    return pending;
  } finally {
    // Closing the connection gives back the lock and the settings, whatever happened above.
    client.release(true);
  }
}

/**
 * The migrations that the database does not have yet; empty means ready. One
 * query that changes nothing. A database newer than this release is ready too.
 */
export async function pendingMigrations(db: Db, migrations: Migration[]): Promise<Migration[]> {
  const versions = new Set((await readApplied(db)).map(({ version }) => version));
  return migrations.filter(({ version }) => !versions.has(version));
}

/**
 * What to apply, and the files of a newer release that are applied already: an
 * older release may start beside it, as when one is rolled back or scaled
 * while the other is rolled out. A file that is missing below this release's
 * newest is no newer release, but a loss.
 */
function compare(migrations: Migration[], applied: Applied[]): { pending: Migration[]; newer: string[] } {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  const newestKnown = migrations.at(-1)?.version ?? 0;
  const newer: string[] = [];
  for (const { version, name, sha256 } of applied) {
    const file = `${String(version).padStart(4, "0")}_${name}.sql`;
    const migration = byVersion.get(version);
    if (migration === undefined && version > newestKnown) {
      newer.push(file);
      continue;
    }
    if (migration === undefined) {
      throw new Error(
        `The database has migration ${file}, and this release has only others, up to ${newestKnown}. Restore the file.`,
      );
    }
    if (migration.sha256 !== sha256 || migration.name !== name) {
      throw new Error(
        `Migration ${migration.file} was changed after it was applied as ${file}. ` +
          "Restore it, and write the change as a new migration.",
      );
    }
    byVersion.delete(version);
  }
  const newest = applied.at(-1)?.version ?? 0;
  const pending = [...byVersion.values()];
  const late = pending.find(({ version }) => version < newest);
  if (late !== undefined) {
    throw new Error(
      `Migration ${late.file} is new but numbered before ${newest}, which is applied. Renumber it.`,
    );
  }
  return { pending, newer };
}

function newerDatabase(files: string[]): string {
  return (
    `The database is newer than this release: it has ${files.join(", ")}. ` +
    "A release serves on the schema of the one after it, so finish the upgrade, or the way back, before the next."
  );
}

/**
 * A statement that waits for a lock keeps waiting whoever comes after it, and
 * whoever needs what the file has locked so far. So it gives up soon, with the
 * whole file, lets traffic through, and tries again.
 */
async function applyPatiently(client: PoolClient, migration: Migration, log?: DatabaseLog): Promise<void> {
  const endsAt = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return await apply(client, migration);
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() > endsAt) throw error;
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
    await client.query(
      /* sql */ `INSERT INTO postern.schema_migrations (version, name, sha256) VALUES ($1, $2, $3)`,
      [migration.version, migration.name, migration.sha256],
    );
    await client.query("COMMIT");
  } catch (error) {
    // The caller rolls back, or closes the connection; only the reason is needed here.
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Migration ${migration.file}${lineOf(migration.sql, error)} failed: ${reason}`, {
      cause: error,
    });
  }
}

/** Or a deadlock. Not a cancelled query: whoever cancelled it wants it to end. */
function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && (cause.code === "55P03" || cause.code === "40P01");
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
  return rows.length === 0 ? "nobody has it any more" : rows.map(({ holder }) => holder).join("; ");
}

/** PostgreSQL names the place of an error in characters, from 1. */
function lineOf(sql: string, error: unknown): string {
  if (!(error instanceof Error) || !("position" in error)) return "";
  const position = Number(error.position);
  return Number.isInteger(position) ? `, line ${sql.slice(0, position).split("\n").length},` : "";
}

async function createLedger(client: PoolClient): Promise<void> {
  await client.query(/* sql */ `
    CREATE SCHEMA IF NOT EXISTS postern;
    CREATE TABLE IF NOT EXISTS postern.schema_migrations (
      version    integer PRIMARY KEY,
      name       text NOT NULL,
      sha256     text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
}

async function readApplied(db: Db): Promise<Applied[]> {
  const found = await db.query<{ exists: boolean }>(
    /* sql */ `SELECT to_regclass('postern.schema_migrations') IS NOT NULL AS exists`,
  );
  if (found.rows[0]?.exists !== true) return [];
  const applied = await db.query<Applied>(
    /* sql */ `SELECT version, name, sha256 FROM postern.schema_migrations ORDER BY version`,
  );
  return applied.rows;
}
