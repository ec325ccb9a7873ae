/** What a worker asks about due dispatches when slots arrive, beside more of them than one statement may read. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findDue } from "../src/queue/postgres/claim-store.ts";
import { ALL_SLOTS, SlotSet, slotOf } from "../src/queue/slots.ts";
import { newEndpointId, type EndpointId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { rowsReadBy } from "./support/rows-read.ts";

const MANY = 20_000;
const MOST_READ = 100;
const busy = newEndpointId();
const quiet = newEndpointId();
const waiting = newEndpointId();
const parked = newEndpointId();
const leased = newEndpointId();

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  await add(busy, MANY, "due_at = now() - interval '1 hour'");
  await add(waiting, 1, "claimable_at = now() + interval '1 hour'");
  await add(parked, 1, "parked = true");
  await add(leased, 1, "claimable_at = now() + interval '1 minute'");
  await add(quiet, 1, "due_at = now()");
  await database.pool.query("ANALYZE postern.dispatches");
});
after(() => database.drop());

async function add(endpointId: EndpointId, count: number, change: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 1, now(), now() - interval '1 second'
      FROM generate_series(1, $2)`,
    [endpointId, count],
  );
  await database.pool.query(`UPDATE postern.dispatches SET ${change} WHERE endpoint_id = $1`, [endpointId]);
}

describe("the due dispatches of slots that arrive", () => {
  it("are found at each endpoint that has any, where fewer are read than are due", async () => {
    for (const mostRead of [MOST_READ, MANY + 1, MANY + 2]) {
      const found = await findDue(database.pool, ALL_SLOTS, mostRead);
      assert.deepEqual(new Set(found), new Set([busy, quiet]), `${mostRead}`);
      assert.equal(found.length, 2);
    }
  });

  it("are those of these slots alone", async () => {
    const expected = [busy, quiet].filter((id) => slotOf(id) === slotOf(quiet));
    const found = await findDue(database.pool, new SlotSet([slotOf(quiet)]), MOST_READ);
    assert.deepEqual(new Set(found), new Set(expected));
  });

  it("count as there where an endpoint's first rows are not due, and not all were read", async () => {
    const full = newEndpointId();
    await add(full, 501, "claimable_at = now() + interval '1 hour'");
    assert.ok((await findDue(database.pool, ALL_SLOTS, MOST_READ)).includes(full));
    assert.ok(!(await findDue(database.pool, ALL_SLOTS, MANY * 2)).includes(full));
    await database.pool.query("DELETE FROM postern.dispatches WHERE endpoint_id = $1", [full]);
  });

  it("are not all read", async () => {
    const rows = await rowsReadBy(database.pool, (db) => findDue(db, ALL_SLOTS, MOST_READ));
    assert.ok(rows < MANY / 4, `${rows} rows of ${MANY}`);
  });
});
