import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { inOneMoment } from "../../test/support/dispatch-rows.ts";
import { seedTwoTenants, snapshot } from "../../test/support/two-tenants.ts";
import { beat, findLockHolders, removeOldHeartbeats } from "./heartbeat-store.ts";
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
  return inOneMoment(pool, async (client) => {
    for (const statement of statements) await client.query(statement);
    return work(client);
  });
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

it("names in the order of their processes those whose transactions its user may not see, each with one table", async () => {
  const statements = [lock("outbox", "EXCLUSIVE"), lock("endpoints", "ROW SHARE")];
  await during(database, [lock("endpoints", "SHARE"), named("reader")], async (reader) => {
    await during(database, [...statements, lock("dispatches", "EXCLUSIVE")], async (writer) => {
      const holders = [
        { table: "endpoints", pid: await pidOf(reader), name: "reader" },
        { table: "dispatches", pid: await pidOf(writer), name: "postern test" },
      ];
      await during(database, ["SET LOCAL ROLE postern_worker"], async (asking) => {
        assert.deepEqual(
          await findLockHolders(asking),
          holders.toSorted((one, other) => one.pid - other.pid),
        );
      });
    });
  });
});

it("names nobody for a lock in another database of the server, or of what is no table", async () => {
  await during(other, [lock("events", "ACCESS EXCLUSIVE")], async () => {
    assert.equal((await findLockHolders(other.pool)).length, 1);
    assert.deepEqual(await findLockHolders(database.pool), []);
  });
  await during(database, ["ALTER SEQUENCE postern.schema_functions_id_seq CACHE 1"], async () => {
    assert.deepEqual(await findLockHolders(database.pool), []);
  });
});

it("names three at most, no table of somebody else's, and not whoever asks", async () => {
  await database.pool.query("CREATE SCHEMA theirs; CREATE TABLE theirs.things ()");
  await during(database, ["LOCK TABLE theirs.things IN EXCLUSIVE MODE"], async () => {
    await during(database, [lock("events", "EXCLUSIVE")], async (client) => {
      assert.deepEqual(await findLockHolders(client), []);
    });
  });
  const tables = ["endpoints", "events", "outbox", "dispatches"];
  const nested = async (left: readonly string[]): Promise<void> => {
    const [table, ...others] = left;
    if (table !== undefined) return during(database, [lock(table, "EXCLUSIVE")], () => nested(others));
    const found = await findLockHolders(database.pool);
    assert.deepEqual(
      found.map((holder) => holder.table),
      tables.slice(0, 3),
    );
  };
  await nested(tables);
});

it("beats without a change to what it looks at", async () => {
  await seedTwoTenants(other.pool);
  const before = await snapshot(other.pool, null);
  const process = { id: randomUUID(), name: "one" };
  for (let times = 0; times < 2; times++) await beat(other.pool, process);
  const { rows } = await other.pool.query("SELECT name FROM postern.heartbeats WHERE process_id = $1", [
    process.id,
  ]);
  assert.deepEqual(rows, [{ name: "one" }]);
  await other.pool.query("DELETE FROM postern.heartbeats WHERE process_id = $1", [process.id]);
  assert.deepEqual(await snapshot(other.pool, null), before);
});

it("forgets a process that was seen more than a day ago, and waits for nobody who does the same", async () => {
  await inOneMoment(other.pool, async (session) => {
    await session.query("DELETE FROM postern.heartbeats");
    await session.query(
      `INSERT INTO postern.heartbeats (process_id, name, seen_at)
        SELECT gen_random_uuid(), age, now() - age::interval FROM unnest(ARRAY['1 day 1 ms', '1 day']) AS age`,
    );
    await removeOldHeartbeats(session);
    const { rows } = await session.query("SELECT name FROM postern.heartbeats");
    assert.deepEqual(rows, [{ name: "1 day" }]);
  });
  await other.pool.query(
    "INSERT INTO postern.heartbeats (process_id, name, seen_at) VALUES (gen_random_uuid(), 'old', 'epoch')",
  );
  await during(other, ["SELECT FROM postern.heartbeats FOR UPDATE"], () => removeOldHeartbeats(other.pool));
  await removeOldHeartbeats(other.pool);
  const { rows } = await other.pool.query("SELECT FROM postern.heartbeats WHERE name = 'old'");
  assert.deepEqual(rows, []);
});
