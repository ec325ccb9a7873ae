import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/service.ts";
import { beat, findLockHolders, removeOldHeartbeats } from "./heartbeat-store.ts";
import type { PoolClient } from "./pool.ts";

let database: TestDatabase;
/** Of the same server, whose tables have the same numbers. */
let other: TestDatabase;

before(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
after(() => Promise.all([database.drop(), other.drop()]));
beforeEach(() => database.pool.query("DELETE FROM postern.heartbeats"));

/** Runs the statements in a transaction of its own, and rolls back when `work` is over. */
async function during<T>(
  { pool }: TestDatabase,
  statements: readonly string[],
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    for (const statement of statements) await client.query(statement);
    return await work(client);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

const named = (name: string) => `SET LOCAL application_name = '${name}'`;
const lock = (table: string, mode: string) => `LOCK TABLE postern.${table} IN ${mode} MODE`;

it("names who keeps others from writing, the longest first, and nobody who waits, reads or writes", async () => {
  await during(database, [named("first"), lock("events", "SHARE")], async (first) => {
    const pid = await pidOf(first);
    const second = [named("second"), lock("events", "ROW SHARE"), lock("outbox", "ACCESS EXCLUSIVE")];
    await during(database, second, async (client) => {
      const waiting = during(
        database,
        [named("waits"), lock("events", "SHARE ROW EXCLUSIVE")],
        async () => undefined,
      );
      await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
      assert.deepEqual(await findLockHolders(database.pool), [
        { table: "events", pid, name: "first" },
        { table: "outbox", pid: await pidOf(client), name: "second" },
      ]);
      await first.query("ROLLBACK");
      await waiting.catch(() => undefined);
    });
  });
});

it("names nobody for a lock in another database of the server", async () => {
  await during(other, [lock("events", "ACCESS EXCLUSIVE")], async () => {
    assert.equal((await findLockHolders(other.pool)).length, 1);
    assert.deepEqual(await findLockHolders(database.pool), []);
  });
});

it("forgets processes that ended a day ago, and no others", async () => {
  const [ended, alive] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
  for (const id of [ended, alive]) await beat(database.pool, { id, name: "a process" });
  const age =
    "UPDATE postern.heartbeats SET seen_at = now() - $2 * interval '1 minute' WHERE process_id = $1";
  await database.pool.query(age, [ended, 24 * 60 + 1]);
  await database.pool.query(age, [alive, 24 * 60 - 1]);
  await removeOldHeartbeats(database.pool);
  const { rows } = await database.pool.query("SELECT process_id AS id FROM postern.heartbeats");
  assert.deepEqual(rows, [{ id: alive }]);
});
