/** What a copy asks of its two databases; the copying itself is in test/tenant-copies.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { inOneMoment } from "../../test/support/dispatch-rows.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { createPool } from "../database/pool.ts";
import { dropSlots, dropTableSlots } from "./copy-slot-store.ts";
import {
  ensureDay,
  readCopyName,
  readDays,
  readKeptSince,
  readOpenTransactions,
  readServerFacts,
  type ServerFacts,
} from "./copy-store.ts";
import { insertMark } from "./join-store.ts";

let database: TestDatabase;
let other: TestDatabase;
before(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
after(() => Promise.all([database.drop(), other.drop()]));

it("waits for transactions of its own database that are open, and neither for its own nor for another's", async () => {
  const clients = await Promise.all([database.pool.connect(), other.pool.connect()]);
  for (const client of clients) await client.query("BEGIN; SELECT pg_current_xact_id()");
  const open = await readOpenTransactions(database.pool);
  assert.equal(open.length, 1);
  for (const client of clients) await client.query("COMMIT");
  for (const client of clients) client.release();
  assert.deepEqual(await readOpenTransactions(database.pool), []);
});

it("has a name of its own for each tenant and each target, the same each time", async () => {
  await assert.rejects(readCopyName(database.pool, tenant("acme"), "eu2"), /no shard/);
  await insertMark(database.pool, { name: "eu1", directory: null });
  const names = [];
  for (const [name, target] of [
    ["acme", "eu2"],
    ["acme", "eu3"],
    ["globex", "eu2"],
    ["acme", "eu2"],
  ] as const)
    names.push(await readCopyName(database.pool, tenant(name), target));
  assert.equal(new Set(names).size, 3);
  assert.equal(names[3], names[0]);
  assert.match(names[0] ?? "", /^postern_move_[0-9a-f]{20}$/);
});

/** What a look saw, some of which may be gone. */
const seen = (which: string) =>
  `VIEW pg_replication_slots AS SELECT s.slot_name, current_database() AS database, false AS active
    FROM (VALUES ('gone'::name), ('pg_1_sync_2_3')) AS s (slot_name) WHERE ${which}`;

it("looks again at slots that another command has dropped since it looked", async (test) => {
  const { url, say } = await pretend(database, [seen("true")]);
  const db = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
  test.after(() => db.end());
  const drops = [
    () => dropSlots(db, { name: "gone", tenantId: tenant("acme") }, null),
    () => dropTableSlots(db, ["pg_1_sync_2_3"]),
  ];
  for (const drop of drops) assert.equal(await drop(), false);
  await say([seen("false")]);
  for (const drop of drops) assert.equal(await drop(), true);
});

const ROLE = `postern_test_${randomUUID().replaceAll("-", "")}`;
const OWN = `GRANT postern_owner TO ${ROLE}`;
const CREATE = `DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO ${ROLE}', current_database()); END $$`;
const PASS = `ALTER ROLE ${ROLE} BYPASSRLS`;
/** From PostgreSQL 16 on. */
const SUBSCRIBE = `GRANT pg_create_subscription TO ${ROLE}`;

const RIGHTS: readonly [title: string, granted: readonly string[], may: string][] = [
  ["no right", [], "nothing"],
  ["everything", [`ALTER ROLE ${ROLE} SUPERUSER`], "replicate publish subscribe"],
  ["replication", [`ALTER ROLE ${ROLE} REPLICATION`], "replicate"],
  ["the owner's rights alone", [OWN], "nothing"],
  ["creating alone", [CREATE], "nothing"],
  ["both", [OWN, CREATE], "publish"],
  ["subscribing, without creating", [PASS, SUBSCRIBE], "nothing"],
  ["subscribing, within row-level security", [CREATE, SUBSCRIBE], "nothing"],
  ["creating past row-level security", [CREATE, PASS], "nothing"],
  ["subscribing past row-level security", [CREATE, PASS, SUBSCRIBE], "subscribe"],
];

for (const [title, granted, may] of RIGHTS) {
  it(`knows what a role may do in a move that has ${title}`, async () => {
    if (granted.includes(SUBSCRIBE) && (await readServerFacts(database.pool)).version < 16)
      return assert.rejects(factsWith(granted), /"pg_create_subscription" does not exist/);
    const { mayReplicate, mayPublish, maySubscribe, user } = await factsWith(granted);
    const told = [mayReplicate && "replicate", mayPublish && "publish", maySubscribe && "subscribe"];
    assert.equal(told.filter(Boolean).join(" ") || "nothing", may);
    assert.equal(user, ROLE);
  });
}

/** In a transaction that is rolled back: all databases of a server share its roles. */
async function factsWith(granted: readonly string[]): Promise<ServerFacts> {
  return inOneMoment(database.pool, async (session) => {
    for (const statement of [`CREATE ROLE ${ROLE}`, ...granted, `SET LOCAL ROLE ${ROLE}`])
      await session.query(statement);
    return readServerFacts(session);
  });
}

const NOW_MS = Date.now();
const dayOf = (offset: number) => new Date(NOW_MS + offset * 86_400_000).toISOString().slice(0, 10);
const partition = (table: string, offset: number) => `postern.${table}_${dayOf(offset).replaceAll("-", "")}`;

describe("the days of a log", () => {
  it("are those that either table has, and are kept since the oldest of each", async () => {
    const days = await readDays(database.pool);
    assert.deepEqual(days, [...new Set(days)].sort());
    await ensureDay(database.pool, dayOf(-30));
    await database.pool.query(`DROP TABLE ${partition("events", -30)}`);
    assert.deepEqual(await readDays(database.pool), [dayOf(-30), ...days]);
    const { events, deliveries } = await readKeptSince(database.pool);
    assert.equal(deliveries.toISOString(), `${dayOf(-30)}T00:00:00.000Z`);
    assert.equal(events.toISOString(), `${days[0]}T00:00:00.000Z`);
    await database.pool.query(`CREATE TABLE other (id uuid) PARTITION BY RANGE (id);
      CREATE TABLE other_20200101 PARTITION OF other DEFAULT`);
    assert.deepEqual(await readDays(database.pool), [dayOf(-30), ...days]);
    await ensureDay(database.pool, dayOf(-40));
    await database.pool.query(`DROP TABLE ${partition("deliveries", -40)}`);
    assert.deepEqual(await readKeptSince(database.pool), {
      events: new Date(dayOf(-40)),
      deliveries: new Date(dayOf(-30)),
    });
  });

  it("are made from 399 days ago to 59 to come, and no others", async () => {
    for (const [offset, isMade] of [
      [-399, true],
      [-401, false],
      [59, true],
      [61, false],
    ] as const) {
      await ensureDay(other.pool, dayOf(offset));
      assert.equal((await readDays(other.pool)).includes(dayOf(offset)), isMade, `${offset}`);
    }
  });
});
