import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { eventually } from "../../test/support/eventually.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { beat } from "./heartbeat-store.ts";
import { makeHeartbeat } from "./heartbeat.ts";
import { createPool } from "./pool.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
afterEach(releaseWaits);

const metrics = makeMetrics();
const log = { info: assert.fail, warn: (message: string) => assert.fail(message) };

async function seen(processId: string): Promise<{ name: string; at: Date }[]> {
  const { rows } = await database.pool.query<{ name: string; at: Date }>(
    "SELECT name, seen_at AS at FROM postern.heartbeats WHERE process_id = $1",
    [processId],
  );
  return rows;
}

describe("the heartbeat of a process", () => {
  it("is written once for all who ask within a second", async (test) => {
    let nowMs = performance.now();
    test.mock.method(performance, "now", () => nowMs);
    const heartbeat = makeHeartbeat({ db: database.pool, name: "api", log, metrics });
    const beating = heartbeat.beat();
    assert.equal(heartbeat.beat(), beating);
    await beating;
    const [first] = await seen(heartbeat.processId);
    assert.equal(first?.name, "api");
    nowMs += 999;
    await heartbeat.beat();
    assert.deepEqual(await seen(heartbeat.processId), [first]);
    await database.pool.query("UPDATE postern.heartbeats SET seen_at = seen_at - interval '1 min'");
    nowMs += 1;
    await heartbeat.beat();
    const [second] = await seen(heartbeat.processId);
    assert.ok(second !== undefined && first !== undefined && second.at >= first.at);
  });

  it("finds a clock of this machine that is far from the database's, and logs when it begins and ends", async (test) => {
    const pretended = await pretend(database, []);
    const db = createPool({
      url: pretended.url,
      poolSize: 1,
      applicationName: "clock",
      connectionTimeoutMs: 5000,
    });
    test.after(() => db.end());
    const logged: string[] = [];
    const tell = (message: string) => void logged.push(message);
    const heartbeat = makeHeartbeat({ db, name: "worker", log: { info: tell, warn: tell }, metrics });
    let nowMs = performance.now();
    test.mock.method(performance, "now", () => nowMs);
    const after = async (apartS: number) => {
      const now = `pg_catalog.clock_timestamp() + interval '${apartS} s'`;
      await pretended.say([`FUNCTION clock_timestamp() RETURNS timestamptz RETURN ${now}`]);
      nowMs += 1001;
      const trouble = (await heartbeat.beat()) ?? null;
      const { values } = await metrics.clockDifference.get();
      // To the minute, since a busy machine takes its time.
      assert.deepEqual(
        values.map(({ value }) => Math.round(Math.abs(value + apartS) / 60)),
        [0],
      );
      return trouble;
    };
    assert.equal(await after(0), null);
    assert.match(
      (await after(-3600)) ?? "",
      /^this machine's clock is 3[56]\d\d s ahead of the database's: /,
    );
    // Kept for all who ask within the second.
    assert.match((await heartbeat.beat()) ?? "", /ahead/);
    assert.match((await after(-3000)) ?? "", / (?:2\d|30)\d\d s ahead/);
    assert.equal(await after(0), null);
    assert.match((await after(3600)) ?? "", /^this machine's clock is 3[56]\d\d s behind the database's: /);
    assert.deepEqual(
      logged.map((message) => message.replace(/is \d+ s/, "is s").split(":")[0]),
      [
        "this machine's clock is s ahead of the database's",
        "this machine's clock is that of the database again",
        "this machine's clock is s behind the database's",
      ],
    );
  });

  it("takes the locks that accepting and recording need, and waits a second for each", async (test) => {
    const client = await database.pool.connect();
    test.after(() => client.release(true));
    await client.query("BEGIN");
    await beat(client, { id: "01900000-0000-7000-8000-000000000002", name: "api" });
    const { rows } = await client.query(
      `SELECT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE pid = pg_backend_pid() AND mode = 'RowExclusiveLock' AND relkind IN ('r', 'p') AND NOT relispartition
        ORDER BY 1`,
    );
    const names = [
      "deliveries",
      // By a trigger of deliveries.
      "delivery_counts",
      "dispatches",
      "endpoints",
      "events",
      "heartbeats",
      "idempotency_keys",
      "outbox",
    ];
    assert.deepEqual(
      rows.map(({ name }) => name),
      names,
    );
    await client.query("ROLLBACK");
    await database.pool.query(`CREATE FUNCTION public.tell() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'lock_timeout is %', current_setting('lock_timeout'); END $$;
      CREATE TRIGGER tell BEFORE INSERT ON postern.heartbeats EXECUTE FUNCTION public.tell()`);
    const heartbeat = makeHeartbeat({ db: database.pool, name: "api", log, metrics });
    await assert.rejects(heartbeat.beat(), { message: "lock_timeout is 1s" });
    await database.pool.query("DROP TRIGGER tell ON postern.heartbeats");
  });

  it("that could not be written is tried again by the next who asks", async () => {
    const heartbeat = makeHeartbeat({ db: database.pool, name: "api", log, metrics });
    const rename = (from: string, to: string) =>
      database.pool.query(`ALTER TABLE postern.${from} RENAME TO ${to}`);
    await rename("heartbeats", "away");
    await assert.rejects(heartbeat.beat(), { code: "42P01" });
    await rename("away", "heartbeats");
    await heartbeat.beat();
    assert.equal((await seen(heartbeat.processId)).length, 1);
  });

  it("goes on until it is stopped, and forgets processes that ended a day ago", async (test) => {
    const ended = "01900000-0000-7000-8000-000000000001";
    const silent = "01900000-0000-7000-8000-000000000002";
    await database.pool.query(
      `INSERT INTO postern.heartbeats (process_id, name, seen_at)
        VALUES ($1, 'ended', now() - interval '25 h'), ($2, 'silent', now() - interval '23 h')`,
      [ended, silent],
    );
    const waits = holdWaits();
    const heartbeat = makeHeartbeat({ db: database.pool, name: "worker", log, metrics });
    heartbeat.start();
    heartbeat.start();
    await eventually(
      async () => (await seen(ended)).length === 0 && (await seen(heartbeat.processId)).length === 1,
    );
    await eventually(async () => waits.length === 2);
    assert.deepEqual(new Set(waits.map(({ ms }) => ms)), new Set([10_000, 3_600_000]));
    assert.equal((await seen(silent)).length, 1);
    await database.pool.query("DELETE FROM postern.heartbeats");
    const laterMs = performance.now() + 1001;
    test.mock.method(performance, "now", () => laterMs);
    waits.find(({ ms }) => ms === 10_000)?.end();
    await eventually(async () => (await seen(heartbeat.processId)).length === 1);
    test.mock.restoreAll();
    await heartbeat.stop();
    await makeHeartbeat({ db: database.pool, name: "never started", log, metrics }).stop();
  });

  it("tells what failed, and goes on", async () => {
    const db = createPool({
      url: database.url,
      poolSize: 1,
      applicationName: "test",
      connectionTimeoutMs: 5000,
    });
    await db.end();
    const told: string[] = [];
    const heartbeat = makeHeartbeat({
      db,
      name: "worker",
      log: { ...log, warn: (text) => void told.push(text) },
      metrics,
    });
    heartbeat.start();
    await eventually(async () => told.length === 2);
    await heartbeat.stop();
    assert.deepEqual(
      new Set(told),
      new Set([
        "The heartbeat of this process could not be written: Cannot use a pool after calling end on the pool",
      ]),
    );
  });
});
