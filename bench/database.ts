/** The database server of the test stand: the embedded one, or PostgreSQL 15 as its makers ship it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../src/database/embedded.ts";
import { freePort } from "../test/support/free-port.ts";
import { installPostgres15, startPostgres15 } from "../test/support/postgres-15.ts";

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
  readPid: () => number;
  stop: () => Promise<void>;
  /** Ends it as a power cut would, and starts it again at the same address. */
  crash: () => Promise<void>;
};

export async function startDatabase(major: Major, folder: string): Promise<Database> {
  if (major === "15") {
    await installPostgres15(console.error);
    return startPostgres15(POSTGRES_SETTINGS);
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
    readPid: () => pid,
    stop: () => server.stop(),
    async crash() {
      process.kill(pid, "SIGKILL");
      server = await start();
      pid = await readPid();
    },
  };
}
