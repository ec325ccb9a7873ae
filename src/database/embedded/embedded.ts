/**
 * The embedded database: a real PostgreSQL in the data folder, for a first
 * start, for development, and for a small installation on one machine.
 *
 * The first process that asks starts the server and owns it. Others on the
 * same data folder (`postern api` and `postern worker` apart) find it running
 * and join; the server ends with its owner. Should the owner be killed before
 * it can stop the server, a watchdog, one sleeping shell, does it; should that
 * be killed too, the next process that asks takes the running server over.
 *
 * Users who can read the password file (mode 0600) may connect. The server
 * listens on 127.0.0.1 only and accepts nothing but SCRAM.
 *
 * Files, all below `<dataDir>/postgres`: `data` (the cluster), `password`,
 * `owner` (the process that stops the server), `start.lock`, `server.log`.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Client } from "pg";
import { ConfigError } from "../../shared/config-error.ts";
import { endOfFailed } from "../../shared/ending.ts";
import { hasCode } from "../../shared/error-code.ts";
import { makeFolders, OPEN } from "../../shared/make-folders.ts";
import { messageOf } from "../../shared/message-of.ts";
import { placeServer, type RootMode } from "./embedded-account.ts";
import { findBinaries } from "./embedded-binaries.ts";
import {
  ensureCluster,
  type Login,
  readState,
  requireCluster,
  startServer,
  stopServer,
  watch,
} from "./embedded-cluster.ts";
import { secretFile } from "./embedded-files.ts";
import { withFileLock } from "./embedded-lock.ts";
import { startOnFreePort } from "./embedded-port.ts";
import { isRunning, ownMark, parseMark, type ProcessMark } from "./embedded-process.ts";
import type { DatabaseLog } from "../log.ts";

export type EmbeddedOptions = {
  /** Made if absent. */
  dataDir: string;
  /** Default: the port of the last start if it is free, else any free one. */
  port?: number;
  log: DatabaseLog;
  /** How to run when we are root; only tests choose. */
  rootMode?: RootMode;
  /** Where the cluster goes when root's folder is closed to PostgreSQL; default /var/lib. */
  openFolder?: string;
  /** The cluster must be there: one that is lost, as by an unmounted disk, is not replaced by an empty one. */
  isRestart?: boolean;
  /** Settings for postgresql.conf beyond the defaults. */
  settings?: Record<string, string>;
};

export type EmbeddedPostgres = {
  /** Holds the password: never log it. */
  url: string;
  /** Ends the server if this call started it or took it over; otherwise nothing. */
  stop: () => Promise<void>;
};

export type EmbeddedServer = EmbeddedPostgres & {
  /** The folder of a cluster whose server another process owns; null of one's own. */
  joined: string | null;
  /** Of a server that another process owns, whether that process is gone: its server stops with it. */
  isLeft: () => boolean;
  /** Resolves when a server that this call started ends without `stop`. */
  ended: Promise<void>;
};

const DATABASE = "postern";
const START_LIMIT_MS = 90_000;
const POLL_MS = 50;

/**
 * Starts PostgreSQL 18 in `dataDir`, or joins the one that already runs there.
 * Resolves when it takes connections and its database exists.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const home = await openHome(options.dataDir);
  return withFileLock(join(home, "start.lock"), START_LIMIT_MS, async () => {
    const password = await secretFile(join(home, "password"), () => randomBytes(24).toString("base64url"));
    const login = { user: DATABASE, password };
    // Before a placement, which may move the cluster: one that a server writes to stays.
    const here = await joinRunning(home, join(home, "data"), { login, log: options.log });
    if (here !== undefined) return here;
    const placement = await placeServer({
      home,
      binaries: await findBinaries(home),
      rootMode: options.rootMode ?? "auto",
      openFolder: options.openFolder ?? "/var/lib",
      log: options.log,
    });
    const elsewhere = await joinRunning(home, placement.cluster, { login, log: options.log });
    if (elsewhere !== undefined) return elsewhere;
    if (options.isRestart === true) requireCluster(placement);
    await ensureCluster(placement, login);
    const { child, port } = await startOnFreePort(join(home, "port"), options.port, (port) =>
      startServer(placement, port, options.settings ?? {}),
    );
    const { cluster } = placement;
    let stop = () => stopServer(cluster);
    try {
      const server = await own({ home, cluster, url: urlOf(login, port), child });
      ({ stop } = server);
      await createDatabase(login, port);
      return server;
    } catch (error) {
      return await endOfFailed(error, stop, (failure) =>
        options.log.warn(`The embedded database was not stopped: ${messageOf(failure)}`),
      );
    }
  });
}

async function openHome(dataDir: string): Promise<string> {
  try {
    await makeFolders(join(dataDir, "postgres"), OPEN);
    return realpathSync(join(dataDir, "postgres"));
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM", "EROFS")) throw error;
    throw new ConfigError(
      `The data folder ${dataDir} cannot be written: ${messageOf(error)}.\n` +
        "Let the user that runs Postern write there, or set DATA_DIR to another folder.",
      { cause: error },
    );
  }
}

/** Joins the server that runs on the cluster, or takes it over; undefined when none runs. */
async function joinRunning(
  home: string,
  cluster: string,
  { login, log }: { login: Login; log: DatabaseLog },
): Promise<EmbeddedServer | undefined> {
  const running = await findRunning(cluster, login);
  if (running === undefined) return undefined;
  const url = urlOf(login, running.port);
  if (isOwned(home))
    return {
      url,
      joined: cluster,
      isLeft: () => !isOwned(home),
      stop: async () => undefined,
      ended: never(),
    };
  log.info("Taking over the embedded database: the process that started it is gone.");
  return own({ home, cluster, url });
}

/** The server on the cluster once it takes connections; undefined when none runs, or once it has ended. */
async function findRunning(cluster: string, login: Login): Promise<{ port: number } | undefined> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const state = readState(cluster);
    if (state === undefined) return undefined;
    if (state.ready && (await accepts(login, state.port))) return { port: state.port };
    if (performance.now() > deadline) {
      throw new Error(
        `The server of ${cluster} (process ${state.pid}) runs but accepts no connection. End it and start again.`,
      );
    }
    await sleep(POLL_MS);
  }
}

async function accepts(login: Login, port: number): Promise<boolean> {
  const client = new Client({ connectionString: urlOf(login, port), connectionTimeoutMillis: 5000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    if (hasCode(error, "28P01")) {
      throw new Error(
        "The embedded database refuses the password of this data folder: the file `password` was replaced. Restore it.",
        { cause: error },
      );
    }
    return false;
  }
}

/** Undefined where the file is none, or names no process. */
function readOwner(home: string): ProcessMark | undefined {
  try {
    return parseMark(readFileSync(join(home, "owner"), "utf8"));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function isOwned(home: string): boolean {
  const owner = readOwner(home);
  return owner !== undefined && isRunning(owner);
}

type Owned = { home: string; cluster: string; url: string; child?: ChildProcess };

async function own(owned: Owned): Promise<EmbeddedServer> {
  const { home, cluster, url, child } = owned;
  await writeFile(join(home, "owner"), JSON.stringify(ownMark()), { mode: 0o600 });
  // One that this process started has its watchdog already.
  const watchdog = child === undefined ? watch(cluster) : null;
  const ended = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  child?.once("exit", () => {
    if (stopping === undefined) ended.resolve();
  });
  const stop = async (): Promise<void> => {
    await stopServer(cluster);
    watchdog?.kill("SIGKILL");
    // Another process may have started a server since this one's ended.
    if (isDeepStrictEqual(readOwner(home), ownMark())) await rm(join(home, "owner"), { force: true });
  };
  return { url, joined: null, isLeft: () => false, stop: () => (stopping ??= stop()), ended: ended.promise };
}

function never(): Promise<never> {
  return Promise.withResolvers<never>().promise;
}

async function createDatabase(login: Login, port: number): Promise<void> {
  const client = new Client({ connectionString: urlOf(login, port, "postgres") });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

function urlOf(login: Login, port: number, database: string = DATABASE): string {
  return `postgres://${login.user}:${login.password}@127.0.0.1:${port}/${database}`;
}
