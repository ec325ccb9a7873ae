/** What the long-running commands share: from settings to a service that runs until it is told to stop. */
import { environment, readConfig, SETTING_NAMES, type Config, type Environment } from "../config.ts";
import { nameDatabase } from "../database/database-name.ts";
import { openCatalog, type CatalogFile } from "../events/live-catalog.ts";
import type { StandingCode } from "../portal/portal-sessions.ts";
import type { Role } from "../service/service-options.ts";
import { misspelledSettings } from "../misspelled-settings.ts";
import { paddedSettings } from "../padded-settings.ts";
import { startService, type Service } from "../service/service.ts";
import { ConfigError } from "../shared/config-error.ts";
import { inTurn, together } from "../shared/ending.ts";
import { endLog, makeLog, type Log } from "../telemetry/log.ts";
import { loadMigrations, prepareDatabase, stopAfterFailure, type RunningDatabase } from "./databases.ts";
import { EXTRA_WORKER, startExtraWorkers } from "./extra-workers.ts";
import { parseWait } from "./parse-wait.ts";
import { prepareShards, type PreparedShards } from "./prepare-shards.ts";

const STOP_LIMIT_MS = 25_000;
const ONE_CTRL_C_MS = 1000;

export type Stoppable = { stop(): Promise<void> };

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
  if (config.databaseUrl !== undefined || config.shards !== undefined || isDemo)
    log.info({ database }, "database");
  else log.warn({ database }, "database: DATABASE_URL is not set, so this is an embedded one, for trying");
}

export const WAIT_ARGUMENT = {
  type: "string",
  default: "0s",
  description: "How long to wait for the database to take connections, for example 60s",
} as const;

/** Opens the database, migrates it and starts the roles; what it opened ends with the service. */
export async function startRoles(
  { config, catalog }: StartConfig,
  options: {
    roles: readonly Role[];
    log: Log;
    isDemo?: boolean;
    /** For how long the database may take to be there. */
    waitMs: number;
    /** What runs on the database beside the service, and stops with it. */
    beside?: (databaseUrl: string) => Stoppable;
    extraCaPems?: readonly string[];
    standingCode?: StandingCode;
  },
): Promise<{ service: Service; databaseUrl: string } & Stoppable> {
  tellDatabase(config, options.isDemo === true, options.log);
  const { shards } = config;
  const database: RunningDatabase & Partial<PreparedShards> =
    shards === undefined
      ? await prepareDatabase(config, options.log, options.waitMs)
      : await prepareShards({ ...config, shards }, options.log, options.waitMs);
  try {
    const service = await startService({
      config,
      catalog,
      databaseUrl: database.url,
      ...(database.trouble === undefined ? {} : { embeddedTrouble: database.trouble }),
      ...(database.absent === undefined ? {} : { absentShards: database.absent }),
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
      stop: () => inTurn([() => together([service, beside], (part) => part?.stop()), () => database.stop()]),
    };
  } catch (error) {
    return stopAfterFailure(error, database, options.log);
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
  const exit = (code: number): void => void endLog(log).finally(() => process.exit(code));
  const stop = (signal: NodeJS.Signals | "disconnect"): void => {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > ONE_CTRL_C_MS) exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping: attempts in flight finish first");
    globalThis
      .setTimeout(() => {
        log.error("did not stop in time");
        exit(1);
      }, STOP_LIMIT_MS)
      .unref();
    void inTurn(parts.toReversed().map((part) => () => part.stop())).then(
      () => exit(0),
      (error: unknown) => {
        log.error({ err: error }, "stopping failed");
        exit(1);
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  // An extra worker of a process that is gone. To others a channel says nothing: it is their process manager's.
  if (environment()[EXTRA_WORKER] !== undefined) process.once("disconnect", () => stop("disconnect"));
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
  const doubts = [...misspelledSettings(env, SETTING_NAMES), ...paddedSettings(env)];
  for (const sentence of doubts) log.warn(sentence);
  const parts: Stoppable[] = [];
  stopOnSignal(parts, log);
  const beside = (databaseUrl: string): Stoppable =>
    startExtraWorkers(extraWorkers, { env, databaseUrl, log });
  parts.push(await startRoles(read, { roles, log, waitMs, beside }));
}
