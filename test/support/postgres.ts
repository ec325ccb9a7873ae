/**
 * A database of its own for each test file, on one real server for the run.
 *
 * `npm test` starts the server and names it in POSTERN_TEST_DATABASE_URL, and a
 * second one, of the oldest PostgreSQL that is supported, for test/oldest. A
 * file run by hand (`node --test src/x.test.ts`) starts its own, which ends
 * with the file. The migrated schema is made once, as a template database, and
 * cloned: some 30 ms instead of all migrations.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { readMigrations } from "../../src/database/schema/migration-files.ts";
import { createPool, type Pool } from "../../src/database/pool.ts";
import { installPostgres15, startPostgres15 } from "./postgres-15.ts";
import { serverFolder } from "./server-folder.ts";

export type TestDatabase = {
  /** For programs that a test starts. */
  url: string;
  pool: Pool;
  /** Closes the pool and removes the database, whoever is still connected to it. */
  drop: () => Promise<void>;
};

/** The oldest major that is supported; the embedded server is the newest. */
export const OLDEST = "15";

/** Variables of the environment: the server for tests, that for test/oldest, the major to start where none is named. */
export const SERVER = {
  url: "POSTERN_TEST_DATABASE_URL",
  oldestUrl: "POSTERN_TEST_OLDEST_DATABASE_URL",
  major: "POSTERN_TEST_POSTGRES",
  /** How the names of the databases begin, so that whoever stops a test in the middle can drop what it left. */
  prefix: "POSTERN_TEST_DATABASE_PREFIX",
} as const;

const MIGRATIONS = join(import.meta.dirname, "../../migrations");
const TEMPLATE_LOCK_KEY = 7_067_831_002;

let ownServer: Promise<EmbeddedPostgres> | undefined;
let openDatabases = 0;

const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  // Several test files run at once, each with its own pools and programs.
  max_connections: "200",
};

/** Starts a server for tests in a folder that goes with it. A crash of the machine would lose its rows: it is faster. */
export async function startTestServer(
  major = process.env[SERVER.major],
  more: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const settings = { ...SETTINGS, ...more };
  if (major === OLDEST) {
    await installPostgres15(console.error);
    return startPostgres15(settings);
  }
  const dataDir = mkdtempSync(join(serverFolder(), "postern-test-"));
  await chmod(dataDir, 0o711);
  const log = { info: () => undefined, warn: (message: string) => console.error(message) };
  const server = await startEmbeddedPostgres({ dataDir, log, settings, openFolder: dataDir });
  await easePassword(server.url);
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

/** To prove that a password is known takes both sides 4096 rounds, half of a connection's CPU, and a run makes 15,000 connections. */
async function easePassword(url: string): Promise<void> {
  const { username, password } = new URL(url);
  await administer(url, async (admin) => {
    await admin.query("SET scram_iterations = 1");
    await admin.query(`ALTER ROLE ${username} PASSWORD '${password}'`);
  });
}

/** What a test fills a table with, on a busy machine, takes longer than a service would wait for anything. */
const FILLING_LIMIT_MS = 300_000;

/**
 * A database with the schema of `migrations/` and no rows; with
 * `migrated: false` wholly empty, and then in an `encoding` of its own. Call
 * `drop()` in an `after` hook.
 */
export async function createTestDatabase({
  migrated = true,
  encoding,
}: { migrated?: boolean; encoding?: string } = {}): Promise<TestDatabase> {
  openDatabases += 1;
  const adminUrl = await serverUrl();
  const name = `${process.env[SERVER.prefix] ?? "test_"}${randomUUID().replaceAll("-", "")}`;
  const plain = encoding === undefined ? "template1" : `template0 ENCODING '${encoding}' LOCALE 'C'`;
  const template = migrated ? await ensureTemplate(adminUrl) : plain;
  // Through the WAL, as is the default, a clone takes over ten times as long.
  const clone = `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`;
  await administer(adminUrl, (admin) => admin.query(clone));
  const url = urlOf(adminUrl, name);
  const pool = openPool(url, 10, FILLING_LIMIT_MS);
  const drop = async (): Promise<void> => {
    await pool.end();
    await administer(adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    openDatabases -= 1;
  };
  return { url, pool, drop };
}

async function serverUrl(): Promise<string> {
  const given = process.env[SERVER.url];
  if (given !== undefined && given !== "") return given;
  if (ownServer === undefined) {
    ownServer = startTestServer();
    const server = ownServer;
    // Fires each time nothing is left to do: hooks that still drop a database come first, this once.
    const stopWhenDone = (): void => {
      if (openDatabases > 0) return;
      process.off("beforeExit", stopWhenDone);
      void server.then(({ stop }) => stop());
    };
    process.on("beforeExit", stopWhenDone);
  }
  return (await ownServer).url;
}

/** Test files run side by side: the first that needs the template makes it, the others wait. */
async function ensureTemplate(adminUrl: string): Promise<string> {
  const migrations = existsSync(MIGRATIONS) ? await readMigrations(MIGRATIONS) : [];
  const hash = createHash("sha256");
  for (const { file, sha256 } of migrations) hash.update(`${file} ${sha256}\n`);
  // Migrations make the partitions of the days around theirs: a run that lasts past midnight makes another.
  const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const name = `template_${hash.digest("hex").slice(0, 16)}_${day}`;
  return administer(adminUrl, async (admin) => {
    const client = await admin.connect();
    try {
      await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK_KEY]);
      const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
      if (found.rowCount !== 0) return name;
      // Under another name until it is whole: a run that was killed here leaves no half template.
      const draft = `${name}_draft`;
      await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${draft}`);
      const pool = openPool(urlOf(adminUrl, draft), 1);
      try {
        await migrate(pool, migrations);
      } finally {
        await pool.end();
      }
      await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
      return name;
    } finally {
      client.release(true);
    }
  });
}

async function administer<T>(adminUrl: string, work: (admin: Pool) => Promise<T>): Promise<T> {
  // On a busy machine the template takes longer than a service would wait for anything.
  const admin = openPool(adminUrl, 1, 0);
  try {
    await admin.query("SET lock_timeout = 0");
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function openPool(url: string, poolSize: number, statementTimeoutMs?: number): Pool {
  return createPool({
    url,
    poolSize,
    applicationName: "postern test",
    connectionTimeoutMs: 20_000,
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
  });
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
