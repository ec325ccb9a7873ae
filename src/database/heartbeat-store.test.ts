import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { findLockHolders } from "./heartbeat-store.ts";
import type { PoolClient } from "./pool.ts";

let database: TestDatabase;
/** Of the same server, whose tables have the same numbers. */
let other: TestDatabase;

before(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
after(() => Promise.all([database.drop(), other.drop()]));

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
