import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { pidOf } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { createPool } from "../database/pool.ts";
import { findAccepting } from "./accepting-store.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("finds who stores events, and not what copies those of a tenant that moves here", async () => {
  const { pool } = database;
  const [storing, copying] = [await pool.connect(), await pool.connect()];
  const { url } = await pretend(database, [
    `VIEW pg_stat_subscription AS SELECT ${await pidOf(copying)} AS pid UNION ALL SELECT NULL`,
  ]);
  const db = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
  try {
    await copying.query("BEGIN; LOCK TABLE postern.events IN ROW EXCLUSIVE MODE");
    assert.deepEqual(await findAccepting(db), []);
    await storing.query("BEGIN; LOCK TABLE postern.events IN ROW EXCLUSIVE MODE");
    assert.equal((await findAccepting(db)).length, 1);
    await storing.query("ROLLBACK");
    assert.deepEqual(await findAccepting(db), []);
  } finally {
    await db.end();
    for (const session of [storing, copying]) session.release(true);
  }
});
