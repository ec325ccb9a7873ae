/**
 * Brings the schema up to date: plain SQL files, forward only.
 *
 * `migrations/NNNN_name.sql` are applied in order, each in a transaction of
 * its own together with its row in `postern.schema_migrations`, so a file is
 * applied wholly and once. An applied file never changes; its hash is compared
 * at each start. Then come `migrations/functions/*.sql`, each when the database
 * does not have its present text. Every starting process may call `migrate`: an
 * advisory lock lets one work while the others wait and then find nothing to do.
 */
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../../shared/error-code.ts";
import { messageOf } from "../../shared/message-of.ts";
import { applyMigration } from "./apply-migration.ts";
import type { DatabaseLog } from "../log.ts";
import {
  isFunction,
  isNumbered,
  type FunctionFile,
  type Migration,
  type NumberedMigration,
} from "./migration-files.ts";
import {
  createLedger,
  readAppliedMigrations,
  readFunctionTexts,
  type AppliedMigration,
  type FunctionTexts,
} from "./migration-ledger.ts";
import type { Db, Pool, PoolClient } from "../pool.ts";
import { ensureRoles } from "../roles.ts";
import { requireSupported } from "../server-version.ts";
import { requireWhole } from "./whole-schema.ts";

// Any number, but the same in every release: processes of two releases exclude each other by it.
const LOCK_KEY = 7_067_831_001;
const LOCK_PAUSE_MS = 100;
/** PostgreSQL 17 and newer have it; to older ones it would be an unknown setting. */
const LIFT_TRANSACTION_TIMEOUT = /* sql */ `SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`;
/** Processes that start at once wait for each other, and nobody need know. */
const TOLD_AFTER_MS = 1000;
const OLDER_PAUSE_MS = 1000;
const OLDER_PATIENCE_MS = 5 * 60_000;

/**
 * Makes the roles that are missing, applies the files that are not applied yet
 * and returns these. Throws ConfigError on a PostgreSQL that is too old. Throws, naming the file,
 * when one fails or waits five minutes for a lock, when an applied one was changed or is missing, or when a new
 * one is numbered before an applied one. What came before the failing file stays applied.
 */
export async function migrate(pool: Pool, migrations: Migration[], log?: DatabaseLog): Promise<Migration[]> {
  const client = await pool.connect();
  try {
    await requireSupported(client);
    // A migration may take longer than any request.
    await client.query("SET statement_timeout = 0");
    await client.query("SET idle_in_transaction_session_timeout = 0");
    await client.query(LIFT_TRANSACTION_TIMEOUT);
    const applied: Migration[] = [];
    const endsAt = performance.now() + OLDER_PATIENCE_MS;
    for (;;) {
      await lock(client, log);
      try {
        await applyPending(
          client,
          migrations,
          (migration) => {
            applied.push(migration);
            log?.info(`Applied migration ${migration.file}`);
          },
          log,
        );
        return applied;
      } catch (error) {
        if (!isDeadlock(error) || performance.now() > endsAt) throw error;
        log?.warn(
          `${messageOf(error)}: tried again once the process of an older release that waits has started`,
        );
        await client.query("SELECT pg_advisory_unlock($1)", [LOCK_KEY]);
        await delay(OLDER_PAUSE_MS);
      }
    }
  } finally {
    // Closing the connection gives back the lock and the settings, whatever happened above.
    client.release(true);
  }
}

async function applyPending(
  client: PoolClient,
  migrations: Migration[],
  applied: (migration: Migration) => void,
  log?: DatabaseLog,
): Promise<void> {
  await client.query("SET lock_timeout = 0");
  await ensureRoles(client);
  await createLedger(client);
  await requireWhole(client);
  const { numbered, newer } = compare(migrations.filter(isNumbered), await readAppliedMigrations(client));
  const functions = compareTexts(migrations.filter(isFunction), await readFunctionTexts(client));
  newer.push(...functions.newer);
  if (newer.length > 0) log?.warn(newerDatabase(newer));
  for (const migration of newer.length > 0 ? numbered : [...numbered, ...functions.pending]) {
    await applyMigration(client, migration, log);
    applied(migration);
  }
}

/**
 * A release up to 0.2.0 that starts meanwhile waits in one statement (see
 * {@link lock}). It starts on the schema as it is once it has the lock.
 */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause) === "40P01";
}

/**
 * Asks again and again. A statement that waits holds a snapshot, and CREATE INDEX
 * CONCURRENTLY waits for all of these: the process that migrates and one that
 * waits for it would be a deadlock.
 */
async function lock(client: PoolClient, log?: DatabaseLog): Promise<void> {
  const toldAt = performance.now() + TOLD_AFTER_MS;
  for (let isTold = false; ;) {
    const { rows } = await client.query<{ locked: boolean }>(
      /* sql */ `SELECT pg_try_advisory_lock($1) AS locked`,
      [LOCK_KEY],
    );
    if (rows[0]?.locked === true) return;
    if (!isTold && performance.now() > toldAt) {
      isTold = true;
      log?.warn(`Waits for another process that brings the schema up to date${await describeHolder(client)}`);
    }
    await delay(LOCK_PAUSE_MS);
  }
}

async function describeHolder(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ pid: number }>(
    /* sql */ `SELECT pid FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) + objid::bigint = $1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCK_KEY],
  );
  return rows[0] === undefined ? "" : `: process ${rows[0].pid} of the database`;
}

/**
 * The files that the database does not have yet; empty means ready. Changes
 * nothing. A database newer than this release is ready too.
 */
export async function pendingMigrations(db: Db, migrations: Migration[]): Promise<Migration[]> {
  const versions = new Set((await readAppliedMigrations(db)).map(({ version }) => version));
  const numbered = migrations.filter(isNumbered);
  const newest = numbered.at(-1)?.version ?? 0;
  const functions = compareTexts(migrations.filter(isFunction), await readFunctionTexts(db));
  const isNewer = functions.newer.length > 0 || [...versions].some((version) => version > newest);
  return [...numbered.filter(({ version }) => !versions.has(version)), ...(isNewer ? [] : functions.pending)];
}

/**
 * A text that the database never had is pending. One that it had before its
 * present text is an older release's: that release may start beside the newer
 * one, and must not take the function back.
 */
function compareTexts(
  functions: FunctionFile[],
  texts: FunctionTexts,
): { pending: FunctionFile[]; newer: string[] } {
  const pending = functions.filter(({ file, sha256 }) => texts.get(file)?.includes(sha256) !== true);
  const newer = functions.filter(
    (one) => !pending.includes(one) && texts.get(one.file)?.at(-1) !== one.sha256,
  );
  return { pending, newer: newer.map(({ file }) => file) };
}

/**
 * What to apply, and the files of a newer release that are applied already: an
 * older release may start beside it, as when one is rolled back or scaled
 * while the other is rolled out. A file that is missing below this release's
 * newest is no newer release, but a loss.
 */
function compare(
  migrations: NumberedMigration[],
  applied: AppliedMigration[],
): { numbered: NumberedMigration[]; newer: string[] } {
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
  const numbered = [...byVersion.values()];
  const late = numbered.find(({ version }) => version < newest);
  if (late !== undefined) {
    throw new Error(
      `Migration ${late.file} is new but numbered before ${newest}, which is applied. Renumber it.`,
    );
  }
  return { numbered, newer };
}

function newerDatabase(files: string[]): string {
  return (
    `The database is newer than this release: it has ${files.join(", ")}. ` +
    "A release serves on the schema of the one after it, so finish the upgrade, or the way back, before the next."
  );
}
