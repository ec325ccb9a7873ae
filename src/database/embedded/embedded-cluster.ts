/** One PostgreSQL cluster folder: making it, starting its server, reading its state, stopping it. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chown, type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../shared/error-code.ts";
import { type Account, canRun, commandFor, ownerOf, type Placement } from "./embedded-account.ts";
import { chownAll } from "./embedded-files.ts";
import { isServerOf } from "./embedded-process.ts";

/** The server's superuser and its password; everything logs in with it. */
export type Login = { user: string; password: string };
/** What postmaster.pid says of a server that runs. */
export type ServerState = { pid: number; port: number; ready: boolean };

const MAJOR = "18";
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
/** How long a server that is not ready may log nothing. Of its recovery from a crash PostgreSQL tells every 10 s, and that may take minutes. */
const SILENT_LIMIT_MS = 60_000;
const POLL_MS = 20;
/** How long a start waits for the sessions of a server that was killed: each looks for it once it has something to say. */
const SESSIONS_LIMIT_MS = 30_000;
const SESSIONS_LOOK_MS = 200;
const SESSIONS_RUN = /pre-existing shared memory block .* is still in use/;

const SETTINGS: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  // Enough for a log of a year: see lock-room.ts.
  max_locks_per_transaction: "256",
  shared_buffers: "128MB",
  effective_cache_size: "512MB",
  maintenance_work_mem: "64MB",
  // Bulk inserts: fewer and steadier checkpoints, smaller full-page images.
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  wal_compression: "on",
  wal_buffers: "16MB",
  random_page_cost: "1.1",
  // Compiling small queries costs more than running them.
  jit: "off",
  // Failed statements hold payloads; the service logs its own errors. Only the server's own life is kept.
  log_min_error_statement: "panic",
  log_min_messages: "log",
  log_checkpoints: "off",
  log_timezone: "UTC",
  timezone: "UTC",
};

/** Throws where there is no cluster. */
export function requireCluster({ cluster }: Placement): void {
  if (!existsSync(join(cluster, "PG_VERSION")))
    throw new Error(`The cluster ${cluster} is gone. Bring it back.`);
}

/**
 * Makes the cluster if it is absent: UTF-8, the built-in C.UTF-8 locale (the
 * same order on every system), and no way in but the password over 127.0.0.1.
 */
export async function ensureCluster(placement: Placement, login: Login): Promise<void> {
  const { cluster } = placement;
  if (!existsSync(join(cluster, "PG_VERSION"))) await initialise(placement, login);
  const major = (await readFile(join(cluster, "PG_VERSION"), "utf8")).trim();
  if (major !== MAJOR) {
    throw new Error(
      `${cluster} was made by PostgreSQL ${major}, and this is ${MAJOR}. Dump it with the release of Postern ` +
        "that made it (pg_dump) and restore the dump into a new DATA_DIR, or into DATABASE_URL.",
    );
  }
  const owner = ownerOf(placement.account);
  // The account may differ from the last start's, when the folders around were opened or closed.
  if (owner !== undefined && (await stat(cluster)).uid !== owner) await chownAll(cluster, owner, owner);
}

async function initialise(placement: Placement, login: Login): Promise<void> {
  const draft = `${placement.cluster}.new`;
  const passwordFile = `${draft}.${randomUUID()}`;
  const owner = ownerOf(placement.account);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, login.password, { mode: 0o600 });
  try {
    if (owner !== undefined) {
      await chown(draft, owner, owner);
      await chown(passwordFile, owner, owner);
    }
    await run({ ...placement, account: accountForInitdb(placement.account) }, "initdb", [
      `--pgdata=${draft}`,
      `--username=${login.user}`,
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--auth-local=reject",
      "--auth-host=scram-sha-256",
      "--no-instructions",
    ]);
    await rename(draft, placement.cluster);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * initdb, unlike the server, insists that its user has a name. Containers are
 * often run under a bare number; inside a user namespace that number is `nobody`.
 */
function accountForInitdb(account: Account): Account {
  if (account !== "self") return account;
  try {
    userInfo();
    return "self";
  } catch {
    if (canRun("namespace", "/bin/true", [])) return "namespace";
    throw new Error(
      `The embedded database cannot be made: user ${process.getuid?.()} has no entry in /etc/passwd. ` +
        "Add one, run Postern as another user, or set DATABASE_URL.",
    );
  }
}

/**
 * Starts the server on `port` of 127.0.0.1 and waits until it takes
 * connections. It is in a session of its own, so that a Ctrl-C in the terminal
 * does not reach it before the service has drained. Waits for sessions that a
 * killed server left. Throws with the end of the server's log when it exits.
 */
export async function startServer(
  placement: Placement,
  port: number,
  extra: Record<string, string>,
): Promise<ChildProcess> {
  const deadline = performance.now() + SESSIONS_LIMIT_MS;
  for (;;) {
    try {
      return await launch(placement, port, extra);
    } catch (error) {
      const mayEnd = error instanceof Error && SESSIONS_RUN.test(error.message);
      if (!mayEnd || performance.now() > deadline) throw error;
    }
    await sleep(SESSIONS_LOOK_MS);
  }
}

async function launch(
  placement: Placement,
  port: number,
  extra: Record<string, string>,
): Promise<ChildProcess> {
  const { cluster, account, native } = placement;
  await forgetDeadServer(cluster);
  const settings = Object.entries({ ...SETTINGS, ...extra, port: String(port) });
  const args = ["-D", cluster, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const command = commandFor(account, join(native, "bin", "postgres"), args);
  const logPath = join(dirname(cluster), "server.log");
  const log = await open(logPath, (await hasGrown(logPath)) ? "w" : "a", 0o600);
  const from = (await log.stat()).size;
  try {
    // First, because this process may be killed before the server has written its file.
    const watchdog = spawnWatchdog(END_TOLD, []);
    const child = spawn("/bin/sh", ["-c", ONCE_TOLD, command.file, ...command.args], {
      ...command.options,
      detached: true,
      stdio: ["pipe", log.fd, log.fd],
    });
    // Behind that: where this process is killed in between, no server runs that nobody would end.
    const begin = (): void => void child.stdin?.on("error", () => undefined).end("\n");
    // Where no watchdog could be started, there is none to tell.
    if (watchdog.stdin?.write(`${child.pid}\n`, begin) === undefined) begin();
    child.once("close", () => watchdog.kill("SIGKILL"));
    const failure = Promise.withResolvers<never>();
    const onExit = (): void => {
      failure.reject(new Error(`The embedded database did not start. Its log says:\n${tail(logPath, from)}`));
    };
    child.once("error", failure.reject);
    child.once("exit", onExit);
    await Promise.race([untilReady(cluster, child, { log, logPath, from }), failure.promise]);
    // Once it runs, its end is no failed start, and its log may be gone by then.
    child.off("exit", onExit);
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

/** Becomes the server, if this process lives to tell it so. */
const ONCE_TOLD = 'read -r _ && exec "$0" "$@" < /dev/null';
/** Ends the server whose id it is told, if this process lives to tell it. */
const END_TOLD = 'read -r pid || exit; read -r _; kill -INT "$pid"';
/** Ends the server that its file names by then: its id may be another process's. */
const END_NAMED = 'read -r _; read -r pid < "$0/postmaster.pid" && kill -INT "$pid"';

/** Ends a server that another process started when this one is gone, however it went. */
export function watch(cluster: string): ChildProcess {
  return spawnWatchdog(END_NAMED, [cluster]);
}

/** Its read ends when our end of the pipe closes, which the kernel does even after kill -9. */
function spawnWatchdog(script: string, args: readonly string[]): ChildProcess {
  const watchdog = spawn("/bin/sh", ["-c", script, ...args], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.on("error", () => undefined);
  watchdog.unref();
  // Nothing is read from it, so it keeps this process no more alive than the watchdog does.
  watchdog.stdin?.on("error", () => undefined);
  return watchdog;
}

/** Killed in the middle of its recovery, a server would begin that anew at each start, and never come to its end. */
async function untilReady(
  cluster: string,
  child: ChildProcess,
  { log, logPath, from }: { log: FileHandle; logPath: string; from: number },
): Promise<void> {
  let logged = from;
  let deadline = performance.now() + SILENT_LIMIT_MS;
  while (child.exitCode === null && child.signalCode === null) {
    const state = readState(cluster);
    if (state?.ready === true && state.pid === child.pid) return;
    const now = performance.now();
    const { size } = await log.stat();
    if (size !== logged) deadline = now + SILENT_LIMIT_MS;
    logged = size;
    if (now > deadline) {
      child.kill("SIGKILL");
      throw new Error(
        `The embedded database was not ready, logged nothing for ${SILENT_LIMIT_MS / 1000} s, and was ended. Its log says:\n${tail(logPath, from)}`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** The state of the server that runs on the cluster; undefined when none does. */
export function readState(cluster: string): ServerState | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid < 2 || !isServerOf(pid, cluster)) return undefined;
  return { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === "ready" };
}

/**
 * Asks the server to end its sessions and write a checkpoint (a fast
 * shutdown), and waits. After 15 s it is ended at once, to recover from its
 * log at the next start. Another that is started behind it is left alone.
 */
export async function stopServer(cluster: string): Promise<void> {
  const pid = readState(cluster)?.pid;
  if (pid === undefined) return;
  for (const [signal, limitMs] of [
    ["SIGINT", 15_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const) {
    signalProcess(pid, signal);
    if (await untilGone(cluster, limitMs, pid)) return;
  }
}

/** Waits until no server runs on the cluster, or not the one of that id; false when it still does after `limitMs`. */
export async function untilGone(cluster: string, limitMs: number, pid?: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const state = readState(cluster);
    if (state === undefined || (pid !== undefined && state.pid !== pid)) return true;
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

/**
 * A server that was killed leaves postmaster.pid. PostgreSQL refuses to start
 * when some other process has got that id since (common in containers), so a
 * file that names no server of this cluster goes.
 */
async function forgetDeadServer(cluster: string): Promise<void> {
  if (readState(cluster) === undefined) await rm(join(cluster, "postmaster.pid"), { force: true });
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

async function run(placement: Placement, program: string, args: string[]): Promise<void> {
  const command = commandFor(placement.account, join(placement.native, "bin", program), args);
  const child = spawn(command.file, command.args, { ...command.options, stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0) {
    throw new Error(
      `${program} failed (status ${status ?? "none"}):\n${Buffer.concat(output).toString("utf8").trim()}`,
    );
  }
}

async function hasGrown(path: string): Promise<boolean> {
  return existsSync(path) && (await stat(path)).size > LOG_LIMIT_BYTES;
}

function tail(path: string, from: number): string {
  return readFileSync(path).subarray(from).toString("utf8").trim().split("\n").slice(-8).join("\n");
}
