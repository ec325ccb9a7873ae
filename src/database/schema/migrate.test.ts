import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { readMigrations } from "./migration-files.ts";
import { createPool } from "../pool.ts";

let folder: string;
let database: TestDatabase;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-migrations-"));
  // Without the service's own migrations: a database that never saw any.
  database = await createTestDatabase({ migrated: false });
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function write(files: Record<string, string>): Promise<void> {
  await mkdir(join(folder, "functions"), { recursive: true });
  for (const [file, sql] of Object.entries(files)) await writeFile(join(folder, file), sql);
}

async function run(): Promise<string[]> {
  const applied = await migrate(database.pool, await readMigrations(folder));
  return applied.map(({ file }) => file);
}

async function pending(): Promise<string[]> {
  const found = await pendingMigrations(database.pool, await readMigrations(folder));
  return found.map(({ file }) => file);
}

/** As a process of its own does; answers how many files it applied. */
async function start(): Promise<number> {
  // The wait for another's lock is longer than a statement may take, and must not count as one.
  const pool = createPool({
    url: database.url,
    poolSize: 1,
    applicationName: "starter",
    connectionTimeoutMs: 5000,
    statementTimeoutMs: 100,
  });
  try {
    return (await migrate(pool, await readMigrations(folder))).length;
  } finally {
    await pool.end();
  }
}

const changed = (as: string, applied: string) => ({
  message: `Migration ${as} was changed after it was applied as ${applied}. Restore it, and write the change as a new migration.`,
});

describe("migrate", () => {
  it("applies files in order, records them, and has nothing to do the next time", async () => {
    await write({ "0002_fill.sql": "INSERT INTO a VALUES (1);", "0001_make.sql": "CREATE TABLE a (n int);" });
    assert.deepEqual(await pending(), ["0001_make.sql", "0002_fill.sql"]);
    assert.deepEqual(await run(), ["0001_make.sql", "0002_fill.sql"]);
    assert.deepEqual(await pending(), []);
    assert.deepEqual(await run(), []);
    const { rows } = await database.pool.query(
      "SELECT version, name, length(sha256) AS length, applied_at <= now() AS past FROM postern.schema_migrations ORDER BY 1",
    );
    assert.deepEqual(rows, [
      { version: 1, name: "make", length: 64, past: true },
      { version: 2, name: "fill", length: 64, past: true },
    ]);
  });

  it("leaves nothing of a file that fails, keeps those before it, and names the file and the line", async () => {
    await write({
      "0001_make.sql": "CREATE TABLE a (n int);",
      "0002_break.sql": "CREATE TABLE b (n int);\n\nINSERT INTO nowhere VALUES (1);",
    });
    await assert.rejects(run(), /0002_break\.sql, line 3, failed: relation "nowhere" does not exist/);
    const { rows } = await database.pool.query("SELECT to_regclass('a') AS a, to_regclass('b') AS b");
    assert.deepEqual(rows, [{ a: "a", b: null }]);
    assert.deepEqual(await pending(), ["0002_break.sql"]);
    await write({ "0002_break.sql": "CREATE TABLE b (n int);" });
    assert.deepEqual(await run(), ["0002_break.sql"]);
  });

  it("refuses an applied file that was changed, but not one with other line ends", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a\n(n int);" });
    await run();
    await write({ "0001_make.sql": "CREATE TABLE a\r\n(n int);" });
    assert.deepEqual(await run(), []);
    await write({ "0001_make.sql": "CREATE TABLE a (n bigint);" });
    await assert.rejects(run(), changed("0001_make.sql", "0001_make.sql"));
    await rm(join(folder, "0001_make.sql"));
    await write({ "0001_other.sql": "CREATE TABLE a\n(n int);" });
    await assert.rejects(run(), changed("0001_other.sql", "0001_make.sql"));
  });

  it("lets a release start that is older than the database, and says so", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "0002_more.sql": "CREATE TABLE b (n int);" });
    await run();
    await rm(join(folder, "0002_more.sql"));
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
    assert.deepEqual(await migrate(database.pool, await readMigrations(folder), log), []);
    assert.deepEqual(warnings, [
      "The database is newer than this release: it has 0002_more.sql. A release serves on the schema of the one after it, so finish the upgrade, or the way back, before the next.",
    ]);
    assert.deepEqual(await pending(), []);
    await write({ "0001_make.sql": "CREATE TABLE a (n bigint);" });
    await assert.rejects(run(), /0001_make\.sql was changed after it was applied/);
  });

  it("refuses a gap: an applied file that is missing below the release's newest", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "0002_more.sql": "CREATE TABLE b (n int);" });
    await run();
    await rm(join(folder, "0001_make.sql"));
    await assert.rejects(
      run(),
      /has migration 0001_make\.sql, and this release has only others, up to 2\. Restore the file\.$/,
    );
  });

  it("refuses a new file that is numbered before an applied one, a number used twice, and other names", async () => {
    await write({ "0002_make.sql": "CREATE TABLE a (n int);" });
    await run();
    await write({ "0001_late.sql": "SELECT 1;" });
    await assert.rejects(
      run(),
      /0001_late\.sql is new but numbered before 2, which is applied\. Renumber it\.$/,
    );
    await write({ "0002_again.sql": "SELECT 1;" });
    await assert.rejects(run(), /0002_again\.sql and 0002_make\.sql have the same number/);
    await write({ "3_short.sql": "SELECT 1;" });
    await assert.rejects(run(), /3_short\.sql is not named like/);
  });

  it("lets one of several starting processes work while the others wait", async () => {
    await write({
      "0001_slow.sql": "SELECT pg_sleep(0.2); CREATE TABLE a (n int);",
      "0002_more.sql": "CREATE TABLE b (n int);",
    });
    const results = await Promise.all([1, 2, 3].map(start));
    assert.deepEqual(
      results.sort((a, b) => a - b),
      [0, 0, 2],
    );
  });

  it("lets others wait while one makes an index concurrently, which itself waits for every older statement", async () => {
    await write({
      "0001_make.sql": "CREATE TABLE a (n int); SELECT pg_advisory_xact_lock(1);",
      "0002_index.sql": "-- no transaction\nCREATE INDEX CONCURRENTLY a_n ON a (n);\n",
    });
    const gate = await database.pool.connect();
    await gate.query("SELECT pg_advisory_lock(1)");
    const starting = Promise.all([1, 2].map(start));
    const waiting = { name: "starter", statement: "%advisory%" };
    await eventually(async () => (await sessions(database.pool, waiting)).length === 2);
    gate.release(true);
    assert.deepEqual(
      (await starting).sort((a, b) => a - b),
      [0, 2],
    );
  });

  it("takes longer than the server gives a transaction, where it knows such a limit", async () => {
    await database.pool.query(
      `DO $$ BEGIN
        IF EXISTS (SELECT FROM pg_settings WHERE name = 'transaction_timeout') THEN
          EXECUTE format('ALTER DATABASE %I SET transaction_timeout = 1000', current_database());
        END IF;
      END $$`,
    );
    await write({ "0001_make.sql": "CREATE TABLE a (n int); SELECT pg_sleep(1.5);" });
    assert.equal(await start(), 1);
  });

  it("says for what it waits while another process migrates", async (test) => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int)" });
    const other = createPool({
      url: database.url,
      poolSize: 1,
      applicationName: "other",
      connectionTimeoutMs: 5000,
    });
    test.after(() => other.end());
    const holder = await other.connect();
    const { rows } = await holder.query<{ pid: number }>(
      "SELECT pg_advisory_lock(7067831001), pg_backend_pid() AS pid",
    );
    const told: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void told.push(message) };
    const migrated = migrate(database.pool, await readMigrations(folder), log);
    await eventually(async () => told.length > 0);
    holder.release(true);
    assert.equal((await migrated).length, 1);
    assert.deepEqual(told, [
      `Waits for another process that brings the schema up to date: process ${rows[0]?.pid} of the database`,
    ]);
  });

  it("lets a process of an older release start that waits for the lock in one statement, and goes on behind it", async () => {
    await write({
      "0001_make.sql": "CREATE TABLE a (n int); SELECT pg_advisory_xact_lock(1);",
      "0002_index.sql":
        "-- no transaction\nDROP INDEX CONCURRENTLY IF EXISTS a_n;\nCREATE INDEX CONCURRENTLY a_n ON a (n);\n",
      "0003_more.sql": "CREATE TABLE b (n int);",
    });
    const gate = await database.pool.connect();
    await gate.query("SELECT pg_advisory_lock(1)");
    const starting = start();
    const waiting = async (count: number) => {
      const { rows } = await database.pool.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      return rows.length === count;
    };
    await eventually(() => waiting(1));
    const older = await database.pool.connect();
    // As one that has waited for longer than a second: PostgreSQL looks for deadlocks once in a wait.
    await older.query("SET deadlock_timeout = '1h'");
    const started = older.query("SELECT pg_advisory_lock(7067831001)").finally(() => older.release(true));
    await eventually(() => waiting(2));
    gate.release(true);
    await started;
    assert.equal(await starting, 3);
    assert.deepEqual(await pending(), []);
  });

  it("gives up waiting for a held lock, lets traffic through, and is applied when the lock is free", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int); CREATE TABLE b (n int);" });
    await run();
    // It locks one table and waits for the other.
    await write({ "0002_add.sql": "ALTER TABLE b ADD COLUMN m int; ALTER TABLE a ADD COLUMN m int;" });
    const producer = await database.pool.connect();
    const told = Promise.withResolvers<string>();
    const log = { info: () => undefined, warn: told.resolve };
    try {
      await producer.query("BEGIN; SET LOCAL application_name = 'a producer'; INSERT INTO a VALUES (1)");
      const migrating = migrate(database.pool, await readMigrations(folder), log);
      assert.match(
        await told.promise,
        /^Migration 0002_add\.sql waits for a lock, and is tried again: process \d+ \(a producer\) has a locked$/,
      );
      await database.pool.query("INSERT INTO b VALUES (1)");
      await producer.query("INSERT INTO b VALUES (2); COMMIT");
      assert.deepEqual(
        (await migrating).map(({ file }) => file),
        ["0002_add.sql"],
      );
    } finally {
      producer.release(true);
    }
    const { rows } = await database.pool.query("SELECT n, m FROM b ORDER BY n");
    assert.deepEqual(rows, [
      { n: 1, m: null },
      { n: 2, m: null },
    ]);
  });
});

describe("a file without a transaction", () => {
  it("runs each statement alone, and is recorded after the last", async () => {
    await write({
      "0001_make.sql": "CREATE TABLE a (n int);",
      "0002_index.sql":
        "-- no transaction\n-- Why; with a semicolon.\nDROP INDEX CONCURRENTLY IF EXISTS a_n;\n" +
        "CREATE INDEX CONCURRENTLY a_n\n  ON a (n);\n",
    });
    assert.deepEqual(await run(), ["0001_make.sql", "0002_index.sql"]);
    const { rows } = await database.pool.query(
      "SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_n'::regclass",
    );
    assert.deepEqual(rows, [{ indisvalid: true }]);
    assert.deepEqual(await pending(), []);
  });

  it("is tried again from its beginning when a statement failed, and names the line", async () => {
    const beginning = "-- no transaction\nDROP INDEX CONCURRENTLY IF EXISTS a_n;\n";
    await write({
      "0001_make.sql": "CREATE TABLE a (n int); INSERT INTO a VALUES (1), (1);",
      "0002_index.sql": `${beginning}CREATE UNIQUE INDEX CONCURRENTLY a_n ON a (n);\n`,
    });
    await assert.rejects(run(), /0002_index\.sql failed: could not create unique index/);
    assert.deepEqual(await pending(), ["0002_index.sql"]);
    await write({ "0002_index.sql": `${beginning}CREATE INDEX CONCURRENTLY a_n ON\nnowhere (n);\n` });
    await assert.rejects(run(), /0002_index\.sql failed: relation "nowhere" does not exist/);
    await write({ "0002_index.sql": `${beginning}CREATE INDEX CONCURRENTLY a_n\nONE a (n);\n` });
    await assert.rejects(run(), /0002_index\.sql, line 4, failed: syntax error/);
    await write({ "0002_index.sql": `${beginning}CREATE INDEX CONCURRENTLY a_n ON a (n);\n` });
    assert.deepEqual(await run(), ["0002_index.sql"]);
  });

  it("holds no function, whose body could not be told from the next statement", async () => {
    await write({ "0001_make.sql": "-- no transaction\nDO $$ BEGIN PERFORM 1; END $$;\n" });
    await assert.rejects(run(), /0001_make\.sql has no transaction, so it can't hold a function/);
  });
});

function text(answer: number): string {
  return `CREATE OR REPLACE FUNCTION postern.answer() RETURNS int LANGUAGE sql AS $$ SELECT ${answer} $$;\n`;
}

async function answer(): Promise<unknown> {
  const { rows } = await database.pool.query("SELECT postern.answer()");
  return rows[0]?.answer;
}

describe("a function's file", () => {
  it("is applied after the numbered files, and again when its text changes, with its grants kept", async () => {
    await write({
      "0001_make.sql": "CREATE TABLE a (n int);",
      "functions/answer.sql": `${text(1)}REVOKE EXECUTE ON FUNCTION postern.answer() FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION postern.answer() TO postern_producer;`,
    });
    assert.deepEqual(await run(), ["0001_make.sql", "functions/answer.sql"]);
    assert.deepEqual(await run(), []);
    const other = "CREATE FUNCTION postern.other() RETURNS int LANGUAGE sql AS 'SELECT 1';";
    await write({ "functions/other.sql": other });
    for (const changed of [2, 3]) {
      await write({ "functions/answer.sql": text(changed) });
      const files = ["functions/answer.sql", ...(changed === 2 ? ["functions/other.sql"] : [])];
      assert.deepEqual(await pending(), files);
      assert.deepEqual(await run(), files);
      assert.deepEqual(await pending(), []);
      assert.equal(await answer(), changed);
    }
    const { rows } = await database.pool.query(
      `SELECT has_function_privilege('postern_producer', 'postern.answer()', 'EXECUTE') AS producer,
        has_function_privilege('postern_tenant', 'postern.answer()', 'EXECUTE') AS tenant`,
    );
    assert.deepEqual(rows, [{ producer: true, tenant: false }]);
  });

  it("is left alone by a release that is older than the database", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "functions/answer.sql": text(1) });
    await run();
    await write({ "functions/answer.sql": text(2) });
    await run();
    await write({ "functions/answer.sql": text(1) });
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
    assert.deepEqual(await migrate(database.pool, await readMigrations(folder), log), []);
    assert.match(
      warnings.join(),
      /^The database is newer than this release: it has functions\/answer\.sql\./,
    );
    assert.deepEqual(await pending(), []);
    assert.equal(await answer(), 2);
  });

  it("that the database never had is not applied by a release with fewer migrations than it", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "0002_more.sql": "CREATE TABLE b (n int);" });
    await write({ "functions/answer.sql": text(2) });
    await run();
    await rm(join(folder, "0002_more.sql"));
    await write({ "functions/answer.sql": text(1) });
    assert.deepEqual(await run(), []);
    assert.deepEqual(await pending(), []);
    assert.equal(await answer(), 2);
  });

  it("leaves nothing when it fails, and is named like its function", async () => {
    await write({ "functions/answer.sql": `${text(1)}SELECT 1 / 0;` });
    await assert.rejects(run(), /functions\/answer\.sql failed: division by zero/);
    assert.deepEqual(await pending(), ["functions/answer.sql"]);
    await write({ "functions/Answer-2.sql": text(1) });
    await assert.rejects(run(), /functions\/Answer-2\.sql is not named like/);
  });
});

describe("the service's own functions", () => {
  it("each have a file, so that their present text is in one place", async () => {
    const migrations = await readMigrations(join(import.meta.dirname, "../../../migrations"));
    await migrate(database.pool, migrations);
    const { rows } = await database.pool.query<{ name: string }>(
      "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'postern'::regnamespace ORDER BY 1",
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      migrations.filter(({ version }) => version === null).map(({ name }) => name),
    );
  });
});
