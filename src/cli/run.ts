/** What the long-running commands share: from settings to a service that runs until it is told to stop. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { environment, readConfig, type Config, type Environment } from "../config.ts";
import { requireCertificateFiles } from "../database/certificate-files.ts";
import { nameDatabase, type DatabasePlace } from "../database/database-name.ts";
import { keepEmbeddedPostgres } from "../database/embedded-keeper.ts";
import { migrate } from "../database/migrate.ts";
import { readMigrations, type Migration } from "../database/migration-files.ts";
import { hostsOf } from "../database/hosts.ts";
import { openTimelineFolder } from "../database/timeline-folder.ts";
import { codeOf, isPassing } from "../database/passing-errors.ts";
import { createPool } from "../database/pool.ts";
import { refuseSharedConnections } from "../database/pooler.ts";
import { requireKeysInUse } from "../endpoints/signing-secret.ts";
import { openCatalog, type CatalogFile } from "../events/live-catalog.ts";
import type { StandingCode } from "../portal/portal-sessions.ts";
import type { Role } from "../service/parts.ts";
import { startService, type Service } from "../service/service.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseDurationMs } from "../shared/duration.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { makeLog, type Log } from "../telemetry/log.ts";
import { EXTRA_WORKER, startExtraWorkers } from "./extra-workers.ts";

const MIGRATIONS_FOLDER = join(import.meta.dirname, "..", "..", "migrations");
const STOP_LIMIT_MS = 25_000;
const ONE_CTRL_C_MS = 1000;
const CONNECTION_TIMEOUT_MS = 5000;
const WAIT_PAUSE_MS = 500;

export type Stoppable = { stop(): Promise<void> };

export type RunningDatabase = Stoppable & { url: string };

/** The operator's database, or an embedded one in the data folder. */
export async function openDatabase(config: DatabasePlace, log: Log): Promise<RunningDatabase> {
  const told = {
    info: (message: string) => log.info(message),
    warn: (message: string) => log.warn(message),
  };
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

export async function loadMigrations(): Promise<Migration[]> {
  return readMigrations(MIGRATIONS_FOLDER).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new ConfigError(
      `${MIGRATIONS_FOLDER} is missing.\nIt is part of the program: take the whole release, with migrations/ beside dist/.`,
    );
  });
}

/** Waits up to `waitMs` until the database takes connections, applies pending migrations and answers their files. */
export async function migrateDatabase(databaseUrl: string, log: Log, waitMs = 0): Promise<string[]> {
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

/** What a start reads: its settings and the event catalog. */
export type StartConfig = { config: Config; catalog: CatalogFile };

/** Every mistake is told at once, the catalog's too, before anything is opened or changed. */
export async function readStartConfig(env: Environment): Promise<StartConfig> {
  const faults: string[] = [];
  const collect = (error: unknown): null => {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error.message);
    return null;
  };
  const config = await Promise.try(readConfig, env).catch(collect);
  const file = config === null ? env["EVENT_CATALOG"] : config.eventCatalogFile;
  const catalog = await openCatalog(file).catch(collect);
  if (config === null || catalog === null) throw new ConfigError(faults.join("\n"));
  return { config, catalog };
}

/** Says which database it is: without DATABASE_URL an embedded one, which is for trying. */
function tellDatabase(config: Config, isDemo: boolean, log: Log): void {
  const database = nameDatabase(config);
  if (config.databaseUrl !== undefined || isDemo) log.info({ database }, "database");
  else log.warn({ database }, "database: DATABASE_URL is not set, so this is an embedded one, for trying");
}

export const WAIT_ARGUMENT = {
  type: "string",
  default: "0s",
  description: "How long to wait for the database to take connections, for example 60s",
} as const;

/** Throws ConfigError. */
export function parseWait(text: string): number {
  const waitMs = parseDurationMs(text);
  if (waitMs === null) throw new ConfigError(`--wait ${text} is not a duration such as 60s or 2m`);
  return waitMs;
}

/** Returns once the database takes connections; throws its last refusal when that takes longer than `waitMs`. */
async function untilReachable(databaseUrl: string, waitMs: number, log: Log): Promise<void> {
  const endsAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await refuseSharedConnections(databaseUrl, CONNECTION_TIMEOUT_MS);
    } catch (error) {
      if (!isPassing(error) || performance.now() > endsAt) throw error;
      log.info({ err: error }, "waiting for the database");
      await setTimeout(WAIT_PAUSE_MS);
    }
  }
}

/** Opens the database, migrates it and starts the roles; what it opened ends with the service. */
export async function startRoles(
  { config, catalog }: StartConfig,
  options: {
    roles: readonly Role[];
    log: Log;
    isDemo?: boolean;
    waitMs?: number;
    /** What runs on the database beside the service, and stops with it. */
    beside?: (databaseUrl: string) => Stoppable;
    extraCaPems?: readonly string[];
    standingCode?: StandingCode;
  },
): Promise<{ service: Service; databaseUrl: string } & Stoppable> {
  tellDatabase(config, options.isDemo === true, options.log);
  const database = await openDatabase(config, options.log);
  try {
    await migrateDatabase(database.url, options.log, options.waitMs);
    await checkKeys(config, database.url);
    const service = await startService({
      config,
      catalog,
      databaseUrl: database.url,
      migrations: await loadMigrations(),
      roles: new Set(options.roles),
      log: options.log,
      ...(options.extraCaPems === undefined ? {} : { extraCaPems: options.extraCaPems }),
      ...(options.standingCode === undefined ? {} : { standingCode: options.standingCode }),
    });
    const beside = options.beside?.(database.url);
    return {
      service,
      databaseUrl: database.url,
      async stop() {
        await Promise.all([service.stop(), beside?.stop()]);
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
  const stop = (signal: NodeJS.Signals | "disconnect"): void => {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > ONE_CTRL_C_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping: attempts in flight finish first");
    globalThis
      .setTimeout(() => {
        log.error("did not stop in time");
        process.exit(1);
      }, STOP_LIMIT_MS)
      .unref();
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
  // An extra worker of a process that is gone. To others a channel says nothing: it is their process manager's.
  if (environment()[EXTRA_WORKER] !== undefined) process.once("disconnect", () => stop("disconnect"));
}

async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop();
}

/** A whole command: the roles with the settings of the environment, until a signal. `wait` is that of {@link WAIT_ARGUMENT}. */
export async function runRoles(
  roles: readonly Role[],
  { wait, extraWorkers = 0 }: { wait: string; extraWorkers?: number },
): Promise<void> {
  const waitMs = parseWait(wait);
  const env = environment();
  const read = await readStartConfig(env);
  const log = makeLog(read.config.logLevel);
  const parts: Stoppable[] = [];
  stopOnSignal(parts, log);
  const beside = (databaseUrl: string): Stoppable =>
    startExtraWorkers(extraWorkers, { env, databaseUrl, log });
  parts.push(await startRoles(read, { roles, log, waitMs, beside }));
}
