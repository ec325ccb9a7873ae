/** The databases of a command: opened, migrated and checked before anything runs on them. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endOfFailed } from "../shared/ending.ts";
import { codeOf } from "../shared/error-code.ts";
import type { Config } from "../config.ts";
import { requireCertificateFiles } from "../database/certificate-files.ts";
import { crashTrouble, readCommitSettings } from "../database/replication/commit-settings.ts";
import type { DatabasePlace } from "../database/database-name.ts";
import { keepEmbeddedPostgres, type EmbeddedTrouble } from "../database/embedded/embedded-keeper.ts";
import { hostsOf } from "../database/hosts/hosts.ts";
import { migrate } from "../database/schema/migrate.ts";
import { readMigrations, type Migration } from "../database/schema/migration-files.ts";
import { isAway } from "../database/passing-errors.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { refuseSharedConnections } from "../database/pooler.ts";
import type { ServingRole } from "../database/session-settings.ts";
import { openTimelineFolder } from "../database/hosts/timeline-folder.ts";
import { requireKeysInUse } from "../endpoints/signing-secret.ts";
import { requireNoShard } from "../shards/join.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import type { Log } from "../telemetry/log.ts";
import { NoMigrationsError } from "./command-errors.ts";

const MIGRATIONS_FOLDER = join(import.meta.dirname, "..", "..", "migrations");
/** Of every command. */
export const CONNECTION_TIMEOUT_MS = 5000;
const WAIT_PAUSE_MS = 500;

export type RunningDatabase = {
  url: string;
  /** Of an embedded one: whether it ran already, in another process. */
  isJoined?: boolean;
  /** Of an embedded one: why it does not run. */
  trouble?: () => EmbeddedTrouble | null;
  stop(): Promise<void>;
};

/** The operator's database, or an embedded one in the data folder. */
export async function openDatabase(config: DatabasePlace, log: Log): Promise<RunningDatabase> {
  const told = {
    info: (message: string) => log.info(message),
    warn: (message: string) => log.warn(message),
  };
  if (config.shards !== undefined) {
    throw new ConfigError(
      "This command works on one database, and SHARDS names several.\nRun it once for each, with its URL as DATABASE_URL and without SHARDS.",
    );
  }
  if (config.databaseUrl !== undefined) {
    requireCertificateFiles(config.databaseUrl);
    hostsOf(config.databaseUrl)?.remember(openTimelineFolder(config.dataDir, told));
    return { url: config.databaseUrl, stop: async () => undefined };
  }
  return keepEmbeddedPostgres({ dataDir: config.dataDir, log: told }, (reason) => {
    log.fatal(`${reason}: this process ends, so that its supervisor can start it again`);
    process.exit(1);
  });
}

export async function loadMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  return readMigrations(folder).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new NoMigrationsError(`${folder} is missing`, { cause: error });
  });
}

/** Waits up to `waitMs` until the database takes connections, applies pending migrations and answers their files. */
export async function migrateDatabase(databaseUrl: string, log: Log, waitMs: number): Promise<string[]> {
  await untilReachable(databaseUrl, waitMs, log);
  const db = createPool({
    url: databaseUrl,
    poolSize: 2,
    applicationName: "postern migrate",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    statementTimeoutMs: 0,
  });
  try {
    const applied = await migrate(db, await loadMigrations(), {
      info: (message) => log.info(message),
      warn: (message) => log.warn(message),
    });
    const trouble = crashTrouble(await readCommitSettings(db));
    if (trouble !== null) log.warn(`${trouble.detail}: ${trouble.fix}`);
    return applied.map(({ file }) => file);
  } finally {
    await db.end();
  }
}

/** Throws ConfigError where the settings lack a key that the database's secrets need. */
export async function checkKeys(config: Config, databaseUrl: string): Promise<void> {
  await withDatabase(databaseUrl, (db) => requireKeysInUse(db, makeSecretBox(config.encryptionKeys)), {
    role: "postern_worker",
  });
}

/** For the questions of a start. */
export async function withDatabase<T>(
  url: string,
  work: (db: Pool) => Promise<T>,
  options: { role?: ServingRole } = {},
): Promise<T> {
  const db = createPool({
    url,
    poolSize: 1,
    applicationName: "postern start",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    ...options,
  });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}

/** The same for several at once. */
export async function withDatabases<T>(
  [next, ...left]: readonly { name: string; url: string }[],
  work: (databases: readonly { name: string; db: Pool }[]) => Promise<T>,
): Promise<T> {
  if (next === undefined) return work([]);
  return withDatabase(next.url, (db) =>
    withDatabases(left, (others) => work([{ name: next.name, db }, ...others])),
  );
}

/** Throws why a start on it failed; a failure to stop it goes to the log. */
export function stopAfterFailure(why: unknown, database: RunningDatabase, log: Log): Promise<never> {
  return endOfFailed(
    why,
    () => database.stop(),
    (failure) => log.error({ err: failure }, "the database could not be stopped after a failed start"),
  );
}

/** The only database: opened, migrated, and found to be this installation's. */
export async function prepareDatabase(config: Config, log: Log, waitMs: number): Promise<RunningDatabase> {
  const database = await openDatabase(config, log);
  try {
    await migrateDatabase(database.url, log, waitMs);
    await checkKeys(config, database.url);
    await withDatabase(database.url, requireNoShard);
    return database;
  } catch (error) {
    return stopAfterFailure(error, database, log);
  }
}

/** Returns once the database takes connections; throws its last refusal when that takes longer than `waitMs`. */
async function untilReachable(databaseUrl: string, waitMs: number, log: Log): Promise<void> {
  const endsAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await refuseSharedConnections(databaseUrl, CONNECTION_TIMEOUT_MS);
    } catch (error) {
      if (!isAway(error) || performance.now() > endsAt) throw error;
      log.info({ err: error }, "waiting for the database");
      await delay(WAIT_PAUSE_MS);
    }
  }
}
