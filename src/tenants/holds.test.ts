/** A hold that is set while an erasure begins: each waits for the other, and sees what it did. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { isTenantErasing } from "../storage/rows/stored-object-store.ts";
import { insertErasure, lockHolds } from "./tenant-store.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("a hold is refused by an erasure that began before it, and delays none of another tenant", async () => {
  const { pool } = database;
  const erasing = await pool.connect();
  try {
    await erasing.query("BEGIN");
    await lockHolds(erasing, acme);
    await insertErasure(erasing, acme);
    assert.equal(await isTenantErasing(pool, globex), false);
    const asked = isTenantErasing(pool, acme);
    const pid = await pidOf(erasing);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    await erasing.query("COMMIT");
    assert.equal(await asked, true);
  } finally {
    erasing.release(true);
  }
});

it("an erasure begins behind a hold that is being set", async () => {
  const { pool } = database;
  const holding = await pool.connect();
  try {
    await holding.query("BEGIN");
    assert.equal(await isTenantErasing(holding, globex), false);
    const locked = lockHolds(pool, globex);
    const pid = await pidOf(holding);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    await holding.query("COMMIT");
    assert.deepEqual(await locked, { count: 0, first: null });
  } finally {
    holding.release(true);
  }
});
