/**
 * PostgreSQL servers that replicate, on loopback: the first is a primary, others
 * join as its synchronous standbys. A test kills, pauses and promotes them as a
 * failover would. Nothing decides by itself here: that is the work of Patroni or
 * of a cloud, and the test plays its part.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../src/shared/error-code.ts";
import { ignoreGone } from "./gone.ts";
import {
  commandFor,
  ownerOf,
  placeServer,
  type Placement,
} from "../../src/database/embedded/embedded-account.ts";
import { findBinaries } from "../../src/database/embedded/embedded-binaries.ts";
import { readState } from "../../src/database/embedded/embedded-cluster.ts";
import { chownAll } from "../../src/database/embedded/embedded-files.ts";
import { createPool, type Pool } from "../../src/database/pool.ts";
import { makeCluster } from "./new-cluster.ts";
import { installPostgres15 } from "./postgres-15.ts";
import { OLDEST, SERVER } from "./postgres.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { childrenOf, processIds } from "./processes.ts";

const POSTGRES_15 = join(import.meta.dirname, "..", "postgres-15");
const USER = "postern";
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // A killed process loses no page that it has handed to the system: nothing here needs the disk.
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: "16MB",
  max_connections: "100",
  // It would write by itself, and tests look at whether anybody has written.
  autovacuum: "off",
  min_wal_size: "32MB",
  wal_keep_size: "64MB",
  // A standby that has lost its primary tries again soon.
  wal_retrieve_retry_interval: "100ms",
  wal_sender_timeout: "5s",
  wal_receiver_timeout: "5s",
};
/** Neither belong into a copy: what is this server's alone, and the log that the copy fetches from the primary. */
const LEFT_OUT = new Set(["postmaster.pid", "postmaster.opts", "pg_wal", "pg_replslot", "pg_stat_tmp"]);

const running = new Set<ChildProcess>();
// A test that fails must not leave its servers behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGQUIT");
});

export type Replicated = {
  servers: readonly Server[];
  /** Of all servers, for Postern. */
  url: string;
  close(): Promise<void>;
};

/**
 * `count` servers below a folder, the first of which is the primary and the others
 * its synchronous standbys. `settings`: other than for tests.
 */
export async function startReplicated(
  count = 2,
  settings: Record<string, string> = {},
  folder = tmpdir(),
): Promise<Replicated> {
  const home = await mkdtemp(join(folder, "postern-replicated-"));
  await chmod(home, 0o711);
  const isOldest = process.env[SERVER.major] === OLDEST;
  if (isOldest) await installPostgres15(console.error);
  const binaries = isOldest
    ? await findBinaries(home, join(POSTGRES_15, "package.json"))
    : await findBinaries(home);
  const log = { info: () => undefined, warn: (message: string) => console.error(message) };
  const placement = await placeServer({ home, binaries, rootMode: "auto", openFolder: home, log });
  const servers: Server[] = [];
  for (let index = 0; index < count; index++) {
    const name = `server_${index}`;
    const place = { ...placement, cluster: join(home, name) };
    servers.push(new Server(place, { name, port: await freePort(), settings: { ...SETTINGS, ...settings } }));
  }
  const [first, ...others] = servers;
  assert.ok(first);
  await first.initialise();
  await first.start();
  await first.sql(`CREATE DATABASE ${USER}`, "postgres");
  for (const other of others) await other.follow(first);
  return {
    servers,
    url: `postgres://${USER}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${USER}`,
    async close() {
      for (const server of servers) await server.kill();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export class Server {
  readonly name: string;
  readonly port: number;
  readonly #placement: Placement;
  readonly #settings: Record<string, string>;
  #process: ChildProcess | null = null;

  constructor(
    placement: Placement,
    { name, port, settings }: { name: string; port: number; settings: Record<string, string> },
  ) {
    this.#placement = placement;
    this.#settings = { ...settings, port: String(port) };
    this.name = name;
    this.port = port;
  }

  url(database = USER): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/${database}`;
  }

  initialise(): Promise<void> {
    return makeCluster(this.#placement, USER, ["--wal-segsize=4", "--no-sync"]);
  }

  /** Resolves once it takes connections. */
  async start(): Promise<void> {
    const { account, native, cluster } = this.#placement;
    await eventually(() => Promise.resolve(!isInUse(cluster)));
    await rm(join(cluster, "postmaster.pid"), { force: true });
    const settings = Object.entries(this.#settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = ["-D", cluster, ...settings];
    const command = commandFor(account, join(native, "bin", "postgres"), args);
    const child = spawn(command.file, command.args, {
      ...command.options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString("utf8")).slice(-4000)));
    running.add(child);
    child.once("exit", () => running.delete(child));
    this.#process = child;
    await eventually(async () => {
      assert.equal(child.exitCode, null, `PostgreSQL did not start: ${said}`);
      return readState(cluster)?.ready === true;
    });
  }

  /** Makes it anew, as a synchronous standby of `primary`, from a copy that is taken while that one runs. */
  async follow(primary: Server): Promise<void> {
    await this.kill();
    const { account, cluster } = this.#placement;
    await rm(cluster, { recursive: true, force: true });
    await this.#copy(primary);
    const conninfo = `host=127.0.0.1 port=${primary.port} user=${USER} application_name=${this.name}`;
    await writeFile(join(cluster, "standby.signal"), "");
    await writeFile(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
    const owner = ownerOf(account);
    if (owner !== undefined) await chownAll(cluster, owner, owner);
    await this.start();
    await primary.requireStandby("*");
    await eventually(async () => {
      const rows = await primary.sql(
        `SELECT FROM pg_stat_replication WHERE application_name = '${this.name}' AND sync_state = 'sync'`,
      );
      return rows.length === 1 || undefined;
    });
  }

  /** Takes over. Like a failover tool, lets commits go on without a standby until one follows. */
  async promote(): Promise<void> {
    const [row] = await this.sql("SELECT pg_promote() AS done");
    assert.equal(row?.["done"], true);
    await this.requireStandby("");
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    this.#process = null;
    const gone = once(child, "exit");
    if (child.exitCode !== null) return;
    const pid = this.pid;
    const children = childrenOf(pid).map((child) => child.pid);
    for (const one of [pid, ...children]) signalProcess(one, "SIGKILL");
    await gone;
  }

  /** Every process of it stands still; its sockets stay open. */
  pause(): void {
    const pid = this.pid;
    signalProcess(pid, "SIGSTOP");
    for (const child of childrenOf(pid)) signalProcess(child.pid, "SIGSTOP");
  }

  resume(): void {
    const pid = this.pid;
    for (const child of [...childrenOf(pid), { pid }]) signalProcess(child.pid, "SIGCONT");
  }

  async sql(text: string, database = USER): Promise<Record<string, unknown>[]> {
    const pool = this.openPool(database);
    try {
      return (await pool.query(text)).rows;
    } finally {
      await pool.end();
    }
  }

  openPool(database = USER): Pool {
    const url = this.url(database);
    return createPool({ url, poolSize: 1, applicationName: "replication test", connectionTimeoutMs: 20_000 });
  }

  /** `*`: commits wait for any standby; an empty text: for none. */
  async requireStandby(names: "" | "*"): Promise<void> {
    await this.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await this.sql("SELECT pg_reload_conf()");
    await eventually(async () => {
      const [row] = await this.sql("SHOW synchronous_standby_names");
      return row?.["synchronous_standby_names"] === names || undefined;
    });
  }

  /** An online copy, as a base backup takes it: its server replays the log from where the copy began. */
  async #copy(primary: Server): Promise<void> {
    const { cluster } = this.#placement;
    const pool = primary.openPool();
    // The backup ends with its session, so the session must not be one that the pool closes.
    const session = await pool.connect();
    try {
      await session.query("SELECT pg_backup_start('copy', fast => true)");
      await copyFolder(primary.#placement.cluster, cluster);
      const { rows } = await session.query<{ labelfile: string }>(
        "SELECT labelfile FROM pg_backup_stop(false)",
      );
      await writeFile(join(cluster, "backup_label"), rows[0]?.labelfile ?? "");
    } finally {
      session.release();
      await pool.end();
    }
    for (const empty of ["pg_wal", "pg_wal/archive_status", "pg_replslot", "pg_stat_tmp"]) {
      await mkdir(join(cluster, empty), { mode: 0o700 });
    }
  }

  get pid(): number {
    const state = readState(this.#placement.cluster);
    assert.ok(state, `${this.name} does not run`);
    return state.pid;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    // Files come and go while a server runs; what matters of them is in its log.
    else await copyFile(source, target).catch(ignoreGone);
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

/** Whether a process of a server that was killed has not ended yet: it holds the memory that they shared. */
function isInUse(cluster: string): boolean {
  return processIds().some((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === cluster;
    } catch {
      // It ended meanwhile.
      return false;
    }
  });
}
