import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend } from "../../../test/support/pretended-server.ts";
import { applyMigration } from "./apply-migration.ts";
import { migrate } from "./migrate.ts";
import type { NumberedMigration } from "./migration-files.ts";
import { createPool, type Pool, type PoolClient } from "../pool.ts";

let database: TestDatabase;
let client: PoolClient;
let place = 9000;
let nowMs: number;
let warnings: string[];

before(async () => {
  database = await createTestDatabase();
  await database.pool.query(`CREATE FUNCTION public.fail(code text) RETURNS void LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'it fails' USING ERRCODE = code; END $$`);
});
after(() => database.drop());
beforeEach(async () => {
  client = await database.pool.connect();
  nowMs = 0;
  warnings = [];
});
afterEach(() => {
  client.release(true);
  releaseWaits();
});

const log = {
  info: () => undefined,
  warn: (text: string) => void warnings.push(text),
};

function file(sql: string): NumberedMigration {
  const version = place++;
  return { file: `${version}_test.sql`, name: "test", version, sha256: "0", sql };
}

async function isThere(table: string): Promise<boolean> {
  const { rows } = await database.pool.query("SELECT to_regclass($1) IS NOT NULL AS is", [table]);
  return rows[0]?.is;
}

async function until(holds: () => boolean): Promise<void> {
  const endsAt = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < endsAt, "it waits for too long");
    await new Promise(setImmediate);
  }
}

/** In the last warning. */
const named = () => warnings.at(-1)?.split("tried again: ")[1]?.split("; ");

const FIVE_MINUTES_MS = 300_000;

describe("a migration that meets a lock", () => {
  it("is tried again for five minutes, a second after each failure, and says what it waits for", async (test) => {
    const waits = holdWaits("all");
    mock.method(performance, "now", () => nowMs);
    // Its transaction is too young to be what was waited for.
    const young = await database.pool.connect();
    test.after(() => young.release(true));
    await young.query("BEGIN; LOCK TABLE postern.events");
    const migration = file("CREATE TABLE undone (n int); SELECT fail('55P03');");
    const applying = applyMigration(client, migration, log).catch((error: unknown) => error);
    for (const passed of [FIVE_MINUTES_MS, FIVE_MINUTES_MS + 1]) {
      const tries = waits.length + 1;
      await until(() => waits.length === tries);
      nowMs = passed;
      waits.at(-1)?.end();
    }
    assert.equal(String(await applying), `Error: Migration ${migration.file} failed: it fails`);
    const line = `Migration ${migration.file} waits for a lock, and is tried again: it has been released`;
    assert.deepEqual(warnings, [line, line]);
    assert.deepEqual(
      waits.map(({ ms }) => ms),
      [1000, 1000],
    );
  });

  it("names the five whose transactions are oldest and not younger than its wait, and the tables they have locked", async (test) => {
    // A session's name says how long before the wait its transaction began.
    const { url } = await pretend(database, [
      "FUNCTION clock_timestamp() RETURNS timestamptz RETURN 'epoch'::timestamptz + interval '2 s'",
      `VIEW pg_stat_activity AS SELECT pid, application_name,
        'epoch'::timestamptz - concat('0', substring(application_name FROM '\\d+$'))::int * interval '1 s' AS xact_start
        FROM pg_catalog.pg_stat_activity`,
    ]);
    const pool = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
    const late = await pool.connect();
    const sessions: PoolClient[] = [];
    test.after(async () => {
      for (const session of [late, ...sessions]) session.release(true);
      await pool.end();
    });
    const begin = async (name: string): Promise<PoolClient> => {
      const session = await database.pool.connect();
      sessions.push(session);
      await session.query(`BEGIN; SET LOCAL application_name = '${name}'`);
      return session;
    };
    const holders: string[] = [];
    for (const name of ["", "job 2", "job 1", "job 3", "job 5", "job 4"]) {
      const holder = await begin(name);
      await holder.query("LOCK TABLE postern.outbox, postern.endpoints IN ROW SHARE MODE");
      // This locks their indexes and a catalog too.
      await holder.query("SELECT FROM postern.outbox, postern.endpoints, pg_catalog.pg_class");
      const who = name === "" ? "" : ` (${name})`;
      holders.push(`process ${await pidOf(holder)}${who} has postern.endpoints, postern.outbox locked`);
    }
    const waiter = await begin("waits 6");
    const waiting = waiter.query("LOCK TABLE postern.outbox").catch(() => undefined);
    const pid = await pidOf(sessions[0] ?? waiter);
    await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    const waits = holdWaits("all");
    const applying = applyMigration(late, file("SELECT public.fail('40P01');"), log).catch(() => "ended");
    await until(() => waits.length === 1);
    const oldest = [4, 5, 3, 1, 2, 0].map((index) => holders[index]);
    assert.deepEqual(named(), oldest.slice(0, 5));
    await sessions[4]?.query("ROLLBACK");
    waits[0]?.end();
    await until(() => waits.length === 2);
    assert.deepEqual(named(), oldest.slice(1));
    mock.method(performance, "now", () => Number.MAX_VALUE);
    waits[1]?.end();
    assert.equal(await applying, "ended");
    for (const session of sessions) if (session !== waiter) await session.query("ROLLBACK");
    await waiting;
  });

  it("names those too whose transactions its user may not see", async (test) => {
    const holder = await database.pool.connect();
    test.after(() => holder.release(true));
    await holder.query("BEGIN; LOCK TABLE postern.outbox");
    await client.query("SET ROLE postern_tenant");
    const waits = holdWaits("all");
    const applying = applyMigration(client, file("SELECT public.fail('40P01');"), log).catch(() => "ended");
    await until(() => waits.length === 1);
    assert.match(
      warnings.join(),
      new RegExp(`: process ${await pidOf(holder)} \\(postern test\\) has postern.outbox locked$`),
    );
    mock.method(performance, "now", () => Number.MAX_VALUE);
    waits[0]?.end();
    assert.equal(await applying, "ended");
  });

  it("fails at once of anything else, with its cause", async () => {
    const migration = file("SELECT 1;\nSELECT fail('22012');");
    await assert.rejects(applyMigration(client, migration, log), (error: Error) => {
      assert.equal(error.message, `Migration ${migration.file} failed: it fails`);
      assert.ok(error.cause instanceof Error && "code" in error.cause && error.cause.code === "22012");
      return true;
    });
    assert.deepEqual(warnings, []);
  });
});

describe("a migration whose statements run alone", () => {
  it("says so in its first line, and nowhere else", async () => {
    const migration = file("CREATE TABLE together (n int);\n-- no transaction\nSELECT 1 / 0;\n");
    await assert.rejects(applyMigration(client, migration), /failed: division by zero$/);
    await client.query("ROLLBACK");
    assert.equal(await isThere("together"), false);
    await assert.rejects(
      applyMigration(client, { ...migration, sql: `-- no transaction\n${migration.sql}` }),
    );
    assert.equal(await isThere("together"), true);
  });

  it("has one at each end of a line, blanks or not", async () => {
    await applyMigration(
      client,
      file(
        "-- no transaction\nCREATE TABLE apart (n int, m int); \t\nCREATE INDEX CONCURRENTLY apart_n ON apart (n);  \n" +
          "CREATE INDEX CONCURRENTLY apart_m\n  ON apart (m);\n",
      ),
    );
    assert.equal(await isThere("apart_m"), true);
  });
});

/** Files that a starting process applies, on a database that had none. */
async function starting(work: (pool: Pool, empty: TestDatabase) => Promise<void>): Promise<void> {
  const empty = await createTestDatabase({ migrated: false });
  try {
    await work(empty.pool, empty);
  } finally {
    releaseWaits();
    await empty.drop();
  }
}

describe("migrations at a start", () => {
  it("may take longer than a request, and wait for a lock for two seconds, or alone for five minutes", async () => {
    await starting(async (pool) => {
      await pool.query(`CREATE TABLE said (made text, lock text, statement text, idle text);
        CREATE FUNCTION say() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO public.said SELECT object_identity, current_setting('lock_timeout'),
            current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')
          FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE';
        END $$;
        CREATE EVENT TRIGGER say ON ddl_command_end EXECUTE FUNCTION say()`);
      const files = [file("CREATE TABLE a (n int);"), file("-- no transaction\nCREATE TABLE b (n int);\n")];
      const infos: string[] = [];
      const applied = await migrate(pool, files, { ...log, info: (text) => void infos.push(text) });
      assert.deepEqual(applied, files);
      assert.deepEqual(
        infos,
        files.map((one) => `Applied migration ${one.file}`),
      );
      const { rows } = await pool.query(
        "SELECT concat_ws(' ', made, lock, statement, idle) AS said FROM said",
      );
      assert.deepEqual(
        rows.map(({ said }) => said),
        [
          "postern.schema_migrations 0 0 0",
          "postern.schema_functions 0 0 0",
          "postern.a 2s 0 0",
          "postern.b 5min 0 0",
        ],
      );
    });
  });

  it("change nothing on a server that is too old", async () => {
    await starting(async (pool, empty) => {
      const { url } = await pretend(empty, [
        "FUNCTION current_setting(text) RETURNS text RETURN CASE $1 WHEN 'server_version' THEN '14.1' ELSE pg_catalog.current_setting($1) END",
      ]);
      const old = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
      await assert.rejects(migrate(old, []), { name: "ConfigError", message: /PostgreSQL 14\.1/ });
      await old.end();
      const { rows } = await pool.query("SELECT to_regnamespace('postern') AS schema");
      assert.deepEqual(rows, [{ schema: null }]);
    });
  });

  it("wait for another process's lock by asking every tenth of a second", async () => {
    await starting(async (pool) => {
      const holder = await pool.connect();
      try {
        await holder.query("SELECT pg_advisory_lock(7067831001)");
        const waits = holdWaits("all");
        const migrating = migrate(pool, []);
        await until(() => waits.length === 1);
        await holder.query("SELECT pg_advisory_unlock(7067831001)");
        waits[0]?.end();
        await migrating;
        assert.deepEqual(
          waits.map(({ ms }) => ms),
          [100],
        );
      } finally {
        holder.release(true);
      }
    });
  });

  it("let an older release's process have its turn after a deadlock, and are tried again for five minutes", async () => {
    await starting(async (pool) => {
      await pool.query(`CREATE FUNCTION fail() RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a deadlock' USING ERRCODE = '40P01'; END $$`);
      const waits = holdWaits("all");
      mock.method(performance, "now", () => nowMs);
      const files = [file("-- no transaction\nSELECT fail();\n")];
      const migrating = migrate(pool, files, log).catch((error: unknown) => error);
      for (const passed of [FIVE_MINUTES_MS, FIVE_MINUTES_MS + 1]) {
        const tries = waits.length + 1;
        await until(() => waits.length === tries);
        const { rows } = await pool.query(
          "SELECT pg_try_advisory_lock(7067831001) AS free, pg_advisory_unlock(7067831001)",
        );
        assert.equal(rows[0]?.free, true);
        nowMs = passed;
        waits.at(-1)?.end();
      }
      const failed = `Migration ${files[0]?.file} failed: a deadlock`;
      assert.equal(String(await migrating), `Error: ${failed}`);
      const line = `${failed}: tried again once the process of an older release that waits has started`;
      assert.deepEqual(warnings, [line, line]);
      assert.deepEqual(
        waits.map(({ ms }) => ms),
        [1000, 1000],
      );
    });
  });
});
