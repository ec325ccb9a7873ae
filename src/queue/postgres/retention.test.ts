/** Days that are past their retention, and somebody who keeps them. Which days these are is `long-log.test.ts`. */
import assert from "node:assert/strict";
import { after, before, beforeEach, it, type TestContext } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { makeMetrics, type Metrics } from "../../telemetry/metrics.ts";
import { dropOldPartitions } from "./retention.ts";

let database: TestDatabase;
let metrics: Metrics;
let told: string[];

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  [metrics, told] = [makeMetrics(), []];
  await database.pool.query("SELECT postern.ensure_partitions(current_date - 42, current_date - 41)");
});

/** Who holds a day is told instead of its partition's number. */
function tell(about: { partition: string; holders?: string }): void {
  const { partition, holders = "dropped" } = about;
  told.push(`${partition.replace(/_.*/, "")}: ${holders.replace(/[0-9]+/, "N")}`);
}

const drop = (given: Partial<Parameters<typeof dropOldPartitions>[1]> = {}) =>
  dropOldPartitions(database.pool, {
    retentionDays: 30,
    log: { info: tell, warn: tell },
    metrics,
    signal: new AbortController().signal,
    ...given,
  });

const noWait = async () => assert.fail("nothing keeps them");

const blocked = async () => (await metrics.retentionBlocked.get()).values[0]?.value ?? 0;

/** In days, by table. */
const oldest = async () =>
  (await metrics.oldestDay.get()).values.map(({ labels, value }) => [
    labels.table,
    Math.round((Date.now() / 1000 - value) / 86_400 - 0.5),
  ]);

/** So that what changes days waits for who is in its way, however slow the machine. */
async function withoutLockTimeout(test: TestContext): Promise<void> {
  const { pool } = database;
  for (const name of ["drop_past_partitions(integer)", "ensure_partitions(date, date)"]) {
    const [{ text }] = (
      await pool.query("SELECT pg_get_functiondef($1::regprocedure) AS text", [`postern.${name}`])
    ).rows;
    await pool.query(text.replace("'200ms'", "'0'"));
    test.after(() => pool.query(text));
  }
}

const areWaiting = (count: number, calls: string) =>
  eventually(async () => {
    const { rowCount } = await database.pool.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'",
      [calls],
    );
    return rowCount === count;
  });

it("drops them one after the other, and says so", async () => {
  await drop({ wait: noWait });
  assert.deepEqual(told.toSorted(), [
    ...Array(2).fill("deliveries: dropped"),
    ...Array(2).fill("events: dropped"),
  ]);
  assert.deepEqual(await oldest(), [
    ["events", 1],
    ["deliveries", 1],
  ]);
});

it("says every 30 seconds who keeps a day from being dropped, counts it, and drops it when they have ended", async (test) => {
  // Its tables have the same numbers, since both are copies of one.
  const elsewhere = await createTestDatabase();
  const reader = await database.pool.connect();
  const stranger = await elsewhere.pool.connect();
  test.after(() => {
    for (const client of [reader, stranger]) client.release(true);
    return elsewhere.drop();
  });
  await stranger.query("BEGIN");
  await stranger.query("SELECT count(*) FROM postern.deliveries");
  await reader.query("BEGIN; SET LOCAL application_name = 'a long report'");
  await reader.query("SELECT count(*) FROM postern.deliveries");
  const tries: unknown[] = [];
  await drop({
    // The reader ends while it waits for the third time: its locks are gone with the answer.
    async wait(ms) {
      tries.push({ ms, told, blocked: await blocked(), oldest: await oldest() });
      told = [];
      if (tries.length === 3) await reader.query("COMMIT");
    },
  });
  const kept = {
    ms: 30_000,
    oldest: [
      ["events", 1],
      ["deliveries", 42],
    ],
  };
  const holders = "deliveries: process N (a long report)";
  assert.deepEqual(tries, [
    { ...kept, told: ["events: dropped", "events: dropped", holders], blocked: 1 },
    { ...kept, told: [holders], blocked: 2 },
    { ...kept, told: [holders], blocked: 3 },
  ]);
  assert.deepEqual(told, ["deliveries: dropped", "deliveries: dropped"]);
  assert.deepEqual(await oldest(), [
    ["events", 1],
    ["deliveries", 1],
  ]);
});

it("says of both tables who keeps their days, where somebody reads both", async (test) => {
  const reader = await database.pool.connect();
  test.after(() => reader.release(true));
  await reader.query("BEGIN; SET LOCAL application_name = 'a long report'");
  await reader.query("SELECT FROM postern.deliveries, postern.events");
  let counted = 0;
  await drop({
    async wait() {
      counted = await blocked();
      await reader.query("COMMIT");
    },
  });
  const holders = ["deliveries: process N (a long report)", "events: process N (a long report)"];
  assert.deepEqual([counted, told.slice(0, 2)], [2, holders]);
});

it("takes a day for kept also where its lock is seen at nobody", async (test) => {
  const holder = await database.pool.connect();
  test.after(() => holder.release(true));
  // Locks the index alone: neither the day nor its parent.
  await holder.query(
    `BEGIN; DO $$ BEGIN EXECUTE (SELECT format('ALTER INDEX postern.%I SET (fillfactor = 90)', indexname)
      FROM pg_indexes WHERE schemaname = 'postern' AND tablename ~ '^events_[0-9]{8}$' ORDER BY 1 LIMIT 1); END $$`,
  );
  await drop({ wait: async () => void (await holder.query("ROLLBACK")) });
  const gone = ["deliveries: dropped", "deliveries: dropped"];
  assert.deepEqual(told, [...gone, "events: nobody any more", "events: dropped", "events: dropped"]);
});

it("drops nothing once it is to stop", async () => {
  await drop({ signal: AbortSignal.abort() });
  assert.deepEqual(told, []);
});

it("shows no day of a table that has none", async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relname ~ '^events_[0-9]{8}$'",
  );
  await database.pool.query(`DROP TABLE ${rows.map(({ name }) => `postern.${name}`).join()}`);
  await drop();
  const { values } = await metrics.oldestDay.get();
  assert.equal(values.find(({ labels }) => labels.table === "events")?.value, 0);
});

it("keeps a day in which an event is stored while it is about to be dropped", async (test) => {
  const { pool } = database;
  const storing = await pool.connect();
  test.after(() => storing.release(true));
  await withoutLockTimeout(test);
  await storing.query("BEGIN");
  await storing.query(
    `WITH old AS (SELECT postern.lowest_id_at(now() - interval '42 days') AS id), stored AS (
        INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count) SELECT 'acme', id, 'a.b', '{}', 1 FROM old)
      INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT 'acme', postern.uuid_v7(), postern.uuid_v7(), id, 'a.b', 1, now(), now() FROM old`,
  );
  const dropping = drop();
  const pid = await pidOf(storing);
  await eventually(async () => (await waitersFor(pool, pid)) === 1);
  await storing.query("COMMIT");
  await dropping;
  assert.deepEqual(await oldest(), [
    ["events", 42],
    ["deliveries", 1],
  ]);
  const { rowCount } = await pool.query("SELECT FROM postern.events");
  assert.equal(rowCount, 1);
  await pool.query("DELETE FROM postern.dispatches");
  await drop();
});

it("lets two workers drop what is past its retention at once, and neither takes the other for somebody who keeps it", async (test) => {
  const { pool } = database;
  await withoutLockTimeout(test);
  const reader = await pool.connect();
  test.after(() => reader.release(true));
  await reader.query("BEGIN; SELECT FROM postern.events");
  const dropping = Promise.all([drop({ wait: noWait }), drop({ wait: noWait })]);
  await areWaiting(2, "drop_past_partitions");
  await reader.query("COMMIT");
  await dropping;
  assert.deepEqual(told.toSorted(), [
    ...Array(2).fill("deliveries: dropped"),
    ...Array(2).fill("events: dropped"),
  ]);
});

it("drops a day while another is made, and neither waits for what the other has", async (test) => {
  const { pool } = database;
  await withoutLockTimeout(test);
  const storing = await pool.connect();
  test.after(() => storing.release(true));
  await storing.query(`BEGIN; DO $$ BEGIN EXECUTE format('LOCK TABLE ONLY postern.%I IN ROW EXCLUSIVE MODE',
    'events_' || to_char((now() AT TIME ZONE 'UTC')::date - 42, 'YYYYMMDD')); END $$`);
  const dropping = drop({ wait: noWait });
  await areWaiting(1, "drop_past_partitions");
  const making = pool.query("SELECT postern.ensure_partitions(current_date + 50, current_date + 50)");
  await areWaiting(1, "ensure_partitions(current_date");
  await storing.query("COMMIT");
  await Promise.all([dropping, making]);
  assert.deepEqual(
    told.filter((line) => line.startsWith("events")),
    Array(2).fill("events: dropped"),
  );
});
