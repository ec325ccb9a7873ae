/** What a copy asks of its two databases; the copying itself is in test/tenant-copies.test.ts. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { ensureDay, readCopyName, readDays, readKeptSince, readOpenTransactions } from "./copy-store.ts";
import { insertMark } from "./join-store.ts";

let database: TestDatabase;
let other: TestDatabase;
before(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
after(() => Promise.all([database.drop(), other.drop()]));

it("waits for transactions of its own database that are open, and neither for its own nor for another's", async () => {
  const clients = await Promise.all([database.pool.connect(), other.pool.connect()]);
  for (const client of clients) await client.query("BEGIN; SELECT 1");
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

const NOW_MS = Date.now();
const dayOf = (offset: number) => new Date(NOW_MS + offset * 86_400_000).toISOString().slice(0, 10);
const partition = (table: string, offset: number) => `postern.${table}_${dayOf(offset).replaceAll("-", "")}`;

describe("the days of a log", () => {
  it("are those that either table has, and are kept since the oldest of each", async () => {
    const days = await readDays(database.pool);
    assert.deepEqual(days, days.toSorted());
    await ensureDay(database.pool, dayOf(-30));
    await database.pool.query(`DROP TABLE ${partition("events", -30)}`);
    assert.deepEqual(await readDays(database.pool), [dayOf(-30), ...days]);
    const { events, deliveries } = await readKeptSince(database.pool);
    assert.equal(deliveries.toISOString(), `${dayOf(-30)}T00:00:00.000Z`);
    assert.equal(events.toISOString(), `${days[0]}T00:00:00.000Z`);
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
