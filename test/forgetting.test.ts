/** What ends by time, at both sides of its end: rows age in the database, and upkeep's own statements forget. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { removeOldHeartbeats } from "../src/database/heartbeat-store.ts";
import { removeOldWatches } from "../src/deliveries/tail-store.ts";
import { forgetPortalSessions } from "../src/portal/portal-session-store.ts";
import { dropOldPartition, forgetHeaderSets, readOldestDays } from "../src/queue/postgres/retention-store.ts";
import { deleteOldIdempotencyKeys } from "../src/queue/postgres/upkeep-store.ts";
import { forgetReplays } from "../src/replays/replay-store.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

type Forgotten = {
  name: string;
  /** One row; $1 is its age, $2 its name. */
  insert: string;
  left: string;
  stays: string;
  goes: string;
  forget: () => Promise<unknown>;
};

const cases: Forgotten[] = [
  {
    name: "an idempotency key after 25 hours",
    insert: `INSERT INTO postern.idempotency_keys VALUES ('acme', $2, gen_random_uuid(), '', now() - $1::interval)`,
    left: "SELECT key AS name FROM postern.idempotency_keys",
    stays: "24 hours 59 minutes",
    goes: "25 hours 1 minute",
    forget: () => deleteOldIdempotencyKeys(database.pool),
  },
  {
    name: "a replay after the retention",
    insert: `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, event_type, status, counted,
        is_capped, after_event_id, counted_to, finished_at)
      SELECT 'acme', gen_random_uuid(), gen_random_uuid(), now() - interval '1 h', now(), 'all', $2, 'finished', 0, false,
        gen_random_uuid(), gen_random_uuid(), now() - $1::interval`,
    left: "SELECT event_type AS name FROM postern.replays",
    stays: "2 days 23 hours 59 minutes",
    goes: "3 days 1 minute",
    forget: () => forgetReplays(database.pool, 3),
  },
  {
    name: "a set of headers when the last day of its attempts is gone",
    insert:
      "INSERT INTO postern.header_sets VALUES ($2, gen_random_uuid(), '{}', current_date - $1::interval)",
    left: "SELECT tenant_id AS name FROM postern.header_sets",
    // A day of room for midnight.
    stays: "4 days",
    goes: "6 days",
    forget: () => forgetHeaderSets(database.pool, 3),
  },
  {
    name: "a session of the portal when its time is up",
    insert: `INSERT INTO postern.portal_sessions VALUES ('acme', gen_random_uuid(), $2, 'owner', false, NULL, 60,
      now() - $1::interval)`,
    left: "SELECT sub AS name FROM postern.portal_sessions",
    stays: "-10 seconds",
    goes: "1 second",
    forget: () => forgetPortalSessions(database.pool),
  },
  {
    name: "somebody who watches a log when their time is up",
    insert: "INSERT INTO postern.log_watches VALUES ($2, gen_random_uuid(), now() - $1::interval)",
    left: "SELECT tenant_id AS name FROM postern.log_watches",
    stays: "-10 seconds",
    goes: "1 second",
    forget: () => removeOldWatches(database.pool),
  },
  {
    name: "a process a day after its last sign",
    insert: `INSERT INTO postern.heartbeats (process_id, name, seen_at)
      VALUES (gen_random_uuid(), $2, now() - $1::interval)`,
    left: "SELECT name FROM postern.heartbeats",
    stays: "23 hours 59 minutes",
    goes: "24 hours 1 minute",
    forget: () => removeOldHeartbeats(database.pool),
  },
];

describe("upkeep forgets", () => {
  for (const { name, insert, left, stays, goes, forget } of cases) {
    it(`${name}, and not before`, async () => {
      await sql(insert, [stays, "stays"]);
      await sql(insert, [goes, "goes"]);
      await forget();
      assert.deepEqual((await sql(left)).rows, [{ name: "stays" }]);
    });
  }

  it("as many idempotency keys as it does at once, and says that there may be more", async () => {
    await sql(
      `INSERT INTO postern.idempotency_keys
        SELECT 'acme', n::text, gen_random_uuid(), '', now() - interval '2 days' FROM generate_series(1, 10001) n`,
    );
    const results = [];
    for (let round = 0; round < 2; round++) results.push(await deleteOldIdempotencyKeys(database.pool));
    assert.deepEqual(results, [true, false]);
  });

  it("as many sets of headers as it does at once, and says that there may be more", async () => {
    await sql(
      `INSERT INTO postern.header_sets
        SELECT 'acme', gen_random_uuid(), '{}', current_date - 9 FROM generate_series(1, 10001)`,
    );
    const results = [];
    for (let round = 0; round < 2; round++) results.push(await forgetHeaderSets(database.pool, 3));
    assert.deepEqual(results, [true, false]);
  });

  it("an idempotency key of one tenant, and not the same key of another", async () => {
    await sql("DELETE FROM postern.idempotency_keys");
    await sql(`INSERT INTO postern.idempotency_keys SELECT tenant, 'one', gen_random_uuid(), '', now() - age
      FROM (VALUES ('acme', interval '26 hours'), ('globex', interval '24 hours')) AS given (tenant, age)`);
    await deleteOldIdempotencyKeys(database.pool);
    assert.deepEqual((await sql("SELECT tenant_id FROM postern.idempotency_keys")).rows, [
      { tenant_id: "globex" },
    ]);
  });
});

/** The ages of a table's partitions in days, the oldest first. */
async function days(table: string): Promise<number[]> {
  const { rows } = await sql(
    `SELECT (now() AT TIME ZONE 'UTC')::date - to_date(right(relname, 8), 'YYYYMMDD') AS age FROM pg_class
      WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r' AND relname ~ ('^' || $1 || '_[0-9]{8}$')
      ORDER BY 1 DESC`,
    [table],
  );
  return rows.map(({ age }) => Number(age)).filter((age) => age > 0);
}

/** SQL: an id of so many days ago. */
const idOf = (age: number) =>
  `postern.lowest_id_at(((now() AT TIME ZONE 'UTC')::date - ${age}) AT TIME ZONE 'UTC')`;

describe("a day of the log", () => {
  beforeEach(() => sql("SELECT postern.ensure_partitions(current_date - 12, current_date)"));

  it("is dropped when all of it is older than the retention, its events five days later", async () => {
    for (;;) {
      if ((await dropOldPartition(database.pool, 3)).length === 0) break;
    }
    // The third day back may hold a delivery of less than three days ago until its end.
    assert.deepEqual(await days("deliveries"), [3, 2, 1]);
    assert.deepEqual(await days("events"), [8, 7, 6, 5, 4, 3, 2, 1]);
    const oldest = await readOldestDays(database.pool);
    const today = Date.parse(new Date().toISOString().slice(0, 10));
    assert.deepEqual(
      oldest.map(({ table, day }) => [table, Math.round((today - Number(day)) / 86_400_000)]),
      [
        ["events", 8],
        ["deliveries", 3],
      ],
    );
  });

  it("is kept while something that is still to be sent needs an event of it", async () => {
    await sql(
      `INSERT INTO postern.outbox (id, tenant_id, type, body) VALUES (${idOf(11)}, 'acme', 'a.b', '{}')`,
    );
    await sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
        VALUES ('acme', gen_random_uuid(), gen_random_uuid(), ${idOf(10)}, 'a.b', 1, now(), now(), true)`,
    );
    while ((await dropOldPartition(database.pool, 3)).length > 0);
    assert.deepEqual(await days("events"), [11, 10, 8, 7, 6, 5, 4, 3, 2, 1]);
    await sql("DELETE FROM postern.outbox; DELETE FROM postern.dispatches");
    while ((await dropOldPartition(database.pool, 3)).length > 0);
    assert.deepEqual(await days("events"), [8, 7, 6, 5, 4, 3, 2, 1]);
  });
});
