import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedTwoTenants } from "../../test/support/two-tenants.ts";
import { countHomes, hasTenants, readHandovers } from "./join-store.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => seedTwoTenants(database.pool));

it("says for how many milliseconds the oldest event has waited for another shard", async () => {
  await database.pool.query(
    "UPDATE postern.handovers SET id = postern.lowest_id_at(now() - interval '5 minutes') WHERE tenant_id = 'acme'",
  );
  const { waiting, waitingMs } = await readHandovers(database.pool);
  assert.deepEqual([waiting, Math.floor(Number(waitingMs) / 60_000)], [2, 5]);
  await database.pool.query("DELETE FROM postern.handovers");
  const { waiting: none, waitingMs: never } = await readHandovers(database.pool);
  assert.deepEqual([none, never], [0, null]);
});

it("finds tenants in a database by any of what they have first", async () => {
  const tables = ["endpoints", "events", "outbox", "tenant_settings"];
  for (const kept of tables) {
    await seedTwoTenants(database.pool);
    for (const table of tables) if (table !== kept) await database.pool.query(`DELETE FROM postern.${table}`);
    assert.equal(await hasTenants(database.pool), true, kept);
  }
  for (const table of tables) await database.pool.query(`DELETE FROM postern.${table}`);
  assert.equal(await hasTenants(database.pool), false);
});

it("counts the tenants of each shard, by its name", async () => {
  await database.pool.query(
    `INSERT INTO postern.shard_directory (tenant_id, shard) SELECT tenant, 'eu0' FROM unnest(ARRAY['a', 'b', 'c']) AS tenant`,
  );
  assert.deepEqual(
    [...(await countHomes(database.pool))],
    [
      ["eu0", 3],
      ["eu1", 2],
    ],
  );
});
