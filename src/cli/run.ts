/** What the long-running commands share: from settings to a service that runs until it is told to stop. */
import { join } from "node:path";
import type { Config } from "../config.ts";
import { keepEmbeddedPostgres } from "../database/embedded-keeper.ts";
import { migrate } from "../database/migrate.ts";
import { readMigrations, type Migration } from "../database/migration-files.ts";
import { createPool } from "../database/pool.ts";
import { requireKeysInUse } from "../endpoints/signing-secret.ts";
import type { Role } from "../service/parts.ts";
import { startService, type Service } from "../service/service.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import type { Log } from "../telemetry/log.ts";

const MIGRATIONS_FOLDER = join(import.meta.dirname, "..", "..", "migrations");
const STOP_LIMIT_MS = 25_000;
const ONE_CTRL_C_MS = 1000;
const CONNECTION_TIMEOUT_MS = 5000;

export type Stoppable = { stop(): Promise<void> };

export type RunningDatabase = Stoppable & { url: string };

/** The operator's database, or an embedded one in the data folder. */
export async function openDatabase(config: Config, log: Log): Promise<RunningDatabase> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, stop: async () => undefined };
  return keepEmbeddedPostgres(
    {
      dataDir: config.dataDir,
      log: { info: (message) => log.info(message), warn: (message) => log.warn(message) },
    },
    (reason) => {
      log.fatal(`${reason}: this process ends, so that whatever runs it can start it anew`);
      process.exit(1);
    },
  );
}

export async function loadMigrations(): Promise<Migration[]> {
  return readMigrations(MIGRATIONS_FOLDER);
}

/** Applies pending migrations; answers their files. */
export async function migrateDatabase(databaseUrl: string, log: Log): Promise<string[]> {
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
    return applied.map(({ file }) => file);
  } finally {
    await db.end();
  }
}

async function checkKeys(config: Config, databaseUrl: string): Promise<void> {
  const db = createPool({
    url: databaseUrl,
    poolSize: 1,
    applicationName: "postern start",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    role: "postern_worker",
  });
  try {
    await requireKeysInUse(db, makeSecretBox(config.encryptionKeys));
  } finally {
    await db.end();
  }
}

/** Opens the database, migrates it and starts the roles; what it opened ends with the service. */
export async function startRoles(
  config: Config,
  options: { roles: readonly Role[]; log: Log; extraCaPems?: readonly string[] },
): Promise<{ service: Service; databaseUrl: string } & Stoppable> {
  const database = await openDatabase(config, options.log);
  try {
    await migrateDatabase(database.url, options.log);
    await checkKeys(config, database.url);
    const service = await startService({
      config,
      databaseUrl: database.url,
      migrations: await loadMigrations(),
      roles: new Set(options.roles),
      log: options.log,
      ...(options.extraCaPems === undefined ? {} : { extraCaPems: options.extraCaPems }),
    });
    return {
      service,
      databaseUrl: database.url,
      async stop() {
        await service.stop();
        await database.stop();
      },
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/**
 * Stops everything at the first SIGINT or SIGTERM, in reverse order; one that
 * comes later ends the process at once. Not one that comes right behind: under
 * npm a Ctrl-C arrives twice, from the terminal and from npm. Call it first and
 * add to `parts` what has started: a signal during the start ends that much.
 */
export function stopOnSignal(parts: readonly Stoppable[], log: Log): void {
  let stoppingSince: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > ONE_CTRL_C_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping: attempts in flight finish first");
    setTimeout(() => {
      log.error("did not stop in time");
      process.exit(1);
    }, STOP_LIMIT_MS).unref();
    void stopAll(parts).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop();
}
