import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { migrate, pendingMigrations, readMigrations } from "./migrate.ts";
import { createPool } from "./pool.ts";

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
    await assert.rejects(run(), /0001_make\.sql was changed after it was applied/);
  });

  it("lets a release start that is older than the database, and says so", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "0002_more.sql": "CREATE TABLE b (n int);" });
    await run();
    await rm(join(folder, "0002_more.sql"));
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
    assert.deepEqual(await migrate(database.pool, await readMigrations(folder), log), []);
    assert.equal(warnings.length, 1);
    assert.match(warnings.join(), /^The database is newer than this release: it has 0002_more\.sql\./);
    assert.deepEqual(await pending(), []);
    await write({ "0001_make.sql": "CREATE TABLE a (n bigint);" });
    await assert.rejects(run(), /0001_make\.sql was changed after it was applied/);
  });

  it("refuses a gap: an applied file that is missing below the release's newest", async () => {
    await write({ "0001_make.sql": "CREATE TABLE a (n int);", "0002_more.sql": "CREATE TABLE b (n int);" });
    await run();
    await rm(join(folder, "0001_make.sql"));
    await assert.rejects(run(), /has migration 0001_make\.sql, and this release has only others, up to 2/);
  });

  it("refuses a new file that is numbered before an applied one, a number used twice, and other names", async () => {
    await write({ "0002_make.sql": "CREATE TABLE a (n int);" });
    await run();
    await write({ "0001_late.sql": "SELECT 1;" });
    await assert.rejects(run(), /0001_late\.sql is new but numbered before 2/);
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
    const migrations = await readMigrations(folder);
    const results = await Promise.all(
      [1, 2, 3].map(async () => {
        // The wait is longer than a statement may take, and must not count as one.
        const pool = createPool({
          url: database.url,
          poolSize: 1,
          applicationName: "starter",
          connectionTimeoutMs: 5000,
          statementTimeoutMs: 100,
        });
        try {
          return (await migrate(pool, migrations)).length;
        } finally {
          await pool.end();
        }
      }),
    );
    assert.deepEqual(
      results.sort((a, b) => a - b),
      [0, 0, 2],
    );
  });

  it("gives up a lock that somebody has, lets traffic through, and is applied when the lock is free", async () => {
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
