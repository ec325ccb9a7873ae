/** The database server of the test stand: the embedded one, or PostgreSQL 15 as its makers ship it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../src/database/embedded/embedded.ts";
import { freePort } from "../test/support/free-port.ts";
import { installPostgres15, startPostgres15 } from "../test/support/postgres-15.ts";
import { startReplicated } from "../test/support/replicated-postgres.ts";
import { familyCpuSeconds } from "./measure.ts";

export type Major = "15" | "18";

/** Nothing that makes a commit less durable than on a production server. */
export const POSTGRES_SETTINGS = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  wal_compression: "off",
};

export type Database = {
  url: string;
  cpuSeconds: () => number;
  stop: () => Promise<void>;
  /** Ends it as a power cut would, and starts it again at the same address. */
  crash: () => Promise<void>;
};

export async function startDatabase(major: Major, folder: string): Promise<Database> {
  if (major === "15") {
    await installPostgres15(console.error);
    const { readPid, ...server } = await startPostgres15(POSTGRES_SETTINGS);
    return { ...server, cpuSeconds: () => familyCpuSeconds(readPid()) };
  }
  const log = { info: () => undefined, warn: (message: string) => console.error(message) };
  // Of those that nobody is given unasked: another program's connection may take one of these while the server is down.
  const port = await freePort();
  const start = () =>
    startEmbeddedPostgres({ dataDir: folder, port, log, settings: POSTGRES_SETTINGS, openFolder: folder });
  const readPid = async (): Promise<number> =>
    Number((await readFile(join(folder, "postgres", "data", "postmaster.pid"), "utf8")).split("\n")[0]);
  let server = await start();
  let pid = await readPid();
  const { url } = server;
  return {
    url,
    cpuSeconds: () => familyCpuSeconds(pid),
    stop: () => server.stop(),
    async crash() {
      process.kill(pid, "SIGKILL");
      server = await start();
      pid = await readPid();
    },
  };
}

export type ReplicatedDatabase = Database & {
  /** Ends the standby, whose primary then waits for none. */
  dropStandby(): Promise<void>;
  /** Makes the standby anew, from a copy of the primary, whose commits wait for it from then on. */
  addStandby(): Promise<void>;
};

/** A primary, at first without its standby. */
export async function startReplicatedDatabase(): Promise<ReplicatedDatabase> {
  const replicated = await startReplicated(2, { ...POSTGRES_SETTINGS, autovacuum: "on" });
  const [primary, standby] = replicated.servers;
  if (primary === undefined || standby === undefined) throw new Error("two servers were asked for");
  let hasStandby = true;
  const dropStandby = async (): Promise<void> => {
    await primary.requireStandby("");
    await standby.kill();
    hasStandby = false;
  };
  await dropStandby();
  return {
    url: primary.url(),
    cpuSeconds: () => familyCpuSeconds(primary.pid) + (hasStandby ? familyCpuSeconds(standby.pid) : 0),
    stop: () => replicated.close(),
    crash: () => Promise.reject(new Error("a pair is not crashed here: that is bench:failover")),
    dropStandby,
    async addStandby() {
      await standby.follow(primary);
      hasStandby = true;
    },
  };
}
