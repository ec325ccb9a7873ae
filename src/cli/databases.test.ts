import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { after, before, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { freePort } from "../../test/support/free-port.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeLog, type Log } from "../telemetry/log.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { checkKeys, loadMigrations, migrateDatabase, openDatabase, withDatabases } from "./databases.ts";

const LONG_MS = 60_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** A log whose lines of waiting are handed over. */
function logOf(waiting: () => void): Log {
  return Object.assign(makeLog("silent"), { info: waiting });
}

/** Says that it does wait where it must not. */
const impatient = logOf(() => assert.fail("it waits"));

describe("the database of a command", () => {
  it("is one, with the certificates that its URL names", async () => {
    const log = makeLog("silent");
    const dataDir = temporaryPath("data");
    const shards = [{ name: "eu1", url: database.url, weight: 1 }];
    await assert.rejects(openDatabase({ databaseUrl: undefined, shards, dataDir }, log), {
      name: "ConfigError",
      message: /This command works on one database, and SHARDS names several/,
    });
    const databaseUrl = "postgres://a/postern?sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
    await assert.rejects(openDatabase({ databaseUrl, dataDir }, log), {
      name: "ConfigError",
      message: /\/nowhere\/ca\.pem/,
    });
  });

  it("is waited for while nothing answers there, and once it does it has the whole schema", async () => {
    const url = new URL(database.url);
    const real = Number(url.port);
    url.port = String(await freePort());
    const proxy = createServer((client) => {
      pipeline(client, connect(real, "127.0.0.1"), client, () => undefined);
    });
    const applied = await migrateDatabase(
      url.href,
      logOf(() => {
        if (!proxy.listening) proxy.listen(Number(url.port), "127.0.0.1");
      }),
      LONG_MS,
    );
    assert.deepEqual(applied, []);
    assert.ok(proxy.listening, "it was waited for");
    proxy.close();
  });

  it("is brought up to date for as long as that takes", { timeout: 20_000 }, async (test) => {
    const holder = await database.pool.connect();
    try {
      await holder.query("BEGIN; LOCK TABLE postern.schema_migrations");
      const pid = await pidOf(holder);
      // Those of every statement: an hour goes by while one of them runs.
      test.mock.timers.enable({ apis: ["setTimeout"] });
      const migrating = migrateDatabase(database.url, makeLog("silent"), 0);
      while ((await waitersFor(database.pool, pid)) === 0);
      test.mock.timers.tick(3_600_000);
      test.mock.timers.reset();
      await holder.query("ROLLBACK");
      assert.deepEqual(await migrating, []);
    } finally {
      holder.release(true);
    }
  });

  it("has no connection of a start left behind its questions", { timeout: 15_000 }, async () => {
    const config = readConfig({ ...makeSecrets(), DATABASE_URL: database.url });
    await migrateDatabase(database.url, makeLog("silent"), 0);
    await checkKeys(config, database.url);
    // One that is left ends by itself after twice the time of this test.
    await eventually(async () => {
      const { rows } = await database.pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ('postern migrate', 'postern start')",
      );
      return rows.length === 0;
    });
  });

  it("is not waited for where it says no, or where no time is given", async () => {
    const url = new URL(database.url);
    url.pathname = "/no_such_database";
    await assert.rejects(migrateDatabase(url.href, impatient, LONG_MS), { code: "3D000" });
    const nobody = `postgres://127.0.0.1:${await freePort()}/postern`;
    await assert.rejects(migrateDatabase(nobody, impatient, 0), /ECONNREFUSED/);
  });
});

describe("several databases of a start", () => {
  it("are opened in their order, each with its name, and closed behind the work, be it done or failed", async () => {
    const places = ["eu1", "eu2"].map((name) => ({ name, url: database.url }));
    const asked = await withDatabases(places, async (databases) =>
      Promise.all(
        databases.map(async ({ name, db }) => {
          const { rows } = await db.query("SELECT current_setting('application_name') AS told");
          return [name, rows[0]?.told];
        }),
      ),
    );
    assert.deepEqual(asked, [
      ["eu1", "postern start"],
      ["eu2", "postern start"],
    ]);
    let kept: { query(sql: string): Promise<unknown> } | undefined;
    await assert.rejects(
      withDatabases(places, async ([first]) => {
        kept = first?.db;
        throw new Error("no");
      }),
      /^Error: no$/,
    );
    await assert.rejects(async () => kept?.query("SELECT"), /after calling end/);
  });
});

describe("the migrations of a command", () => {
  it("are missing where their folder is, and no other fault of them is told as that", async () => {
    const folder = temporaryPath("migrations");
    await assert.rejects(loadMigrations(folder), {
      name: "NoMigrationsError",
      message: `${folder} is missing`,
    });
    await mkdir(folder);
    await writeFile(join(folder, "endpoints.sql"), "SELECT 1;");
    await assert.rejects(loadMigrations(folder), {
      name: "Error",
      message: /endpoints\.sql is not named like/,
    });
  });
});
