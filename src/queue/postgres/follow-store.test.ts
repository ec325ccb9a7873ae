import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/service.ts";
import { leased } from "../../../test/support/store-inputs.ts";
import { seedTwoTenants, type Rows } from "../../../test/support/two-tenants.ts";
import { followAll } from "./follow.ts";
import { holdDispatches, resumeDispatches, supersedeDispatches } from "./follow-store.ts";
import { deferDispatch, releaseDispatches } from "./release-store.ts";
import { lockUnsettled } from "./unsettled-store.ts";
import { deleteSuperseded } from "./upkeep-store.ts";

let database: TestDatabase;
let rows: Rows;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  ({ acme: rows } = await seedTwoTenants(database.pool));
});

const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows;

/** Minutes until the leased dispatch may be claimed, and its state. */
async function state() {
  const [found] = await sql(
    `SELECT held, parked, superseded, lease_owner IS NOT NULL AS leased,
      round(extract(epoch FROM claimable_at - now()) / 60)::int AS minutes FROM postern.dispatches WHERE id = $1`,
    rows.leasedId,
  );
  return found;
}
const FREE = { held: false, parked: false, superseded: false, leased: false, minutes: 0 };

const setDue = (minutes: number) =>
  sql(
    "UPDATE postern.dispatches SET due_at = now() + $2 * interval '1 minute' WHERE id = $1",
    rows.leasedId,
    minutes,
  );

describe("a leased dispatch that comes back", () => {
  it("keeps its place in the order of what is due", async () => {
    await setDue(-10);
    await releaseDispatches(database.pool, [leased(rows)], "claimable");
    assert.deepEqual(await state(), { ...FREE, minutes: -10 });
  });

  it("may be claimed again after as long as it has been due, and an hour at most", async () => {
    for (const [due, minutes] of [
      [-10, 10],
      [-300, 60],
    ] as const) {
      ({ acme: rows } = await seedTwoTenants(database.pool));
      await setDue(due);
      await deferDispatch(database.pool, leased(rows));
      assert.deepEqual(await state(), { ...FREE, minutes });
    }
  });

  it("is held where its endpoint is disabled, and released where it is enabled or deleted, not before it is due", async () => {
    for (const [change, held] of [
      ["enabled = true", false],
      ["enabled = false, disabled_reason = 'manual'", true],
      ["mode = 'pull'", true],
      ["moving = true", true],
      ["mode = 'pull', deleted_at = now()", false],
    ] as const) {
      ({ acme: rows } = await seedTwoTenants(database.pool));
      await sql(`UPDATE postern.endpoints SET ${change} WHERE tenant_id = 'acme'`);
      await setDue(10);
      await holdDispatches(database.pool, [leased(rows)], "wait");
      assert.deepEqual(await state(), { ...FREE, held, minutes: 10 }, change);
      const isDeleted = change.includes("deleted_at");
      const pending = isDeleted ? "deleted" : held ? "held" : "claimed";
      assert.equal(await lockUnsettled(database.pool, rows, "wait"), pending, change);
    }
  });
});

it("resumes what was held when it is due, and at once what was due before", async () => {
  for (const [before, minutes] of [
    [10, 10],
    [-10, 0],
  ] as const) {
    await sql(
      "UPDATE postern.dispatches SET held = true, lease_owner = NULL, claimable_at = now() + $2 * interval '1 minute' WHERE id = $1",
      rows.leasedId,
      before,
    );
    await resumeDispatches(database.pool, rows, null);
    assert.deepEqual(await state(), { ...FREE, minutes });
  }
});

const left = async () =>
  sql(
    "SELECT id, superseded, once FROM postern.dispatches WHERE tenant_id = 'acme' AND event_id = $1",
    rows.eventId,
  );

describe("an event that a person delivered", () => {
  it("keeps of its automatic attempts the one in flight, and each that a person asked for", async () => {
    await sql("UPDATE postern.dispatches SET once = true WHERE tenant_id = 'acme' AND held");
    await supersedeDispatches(database.pool, rows);
    assert.deepEqual(
      (await left()).map(({ superseded, once }) => ({ superseded, once })).toSorted((a) => (a.once ? 1 : -1)),
      [
        { superseded: true, once: false },
        { superseded: false, once: true },
      ],
    );
  });

  it("keeps the one in flight until its lease has ended", async () => {
    await sql("DELETE FROM postern.dispatches WHERE id <> $1", rows.leasedId);
    await supersedeDispatches(database.pool, rows);
    await deleteSuperseded(database.pool);
    assert.deepEqual(await left(), [{ id: rows.leasedId, superseded: true, once: false }]);
    await sql("UPDATE postern.dispatches SET claimable_at = now()");
    await deleteSuperseded(database.pool);
    assert.deepEqual(await left(), []);
  });

  it("keeps none whose lease has ended", async () => {
    await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE tenant_id = 'acme'");
    await supersedeDispatches(database.pool, rows);
    assert.deepEqual(await left(), []);
  });

  it("keeps no next attempt that was recorded while it waited for the one before", async () => {
    await sql("DELETE FROM postern.dispatches WHERE tenant_id = 'acme' AND id <> $1", rows.leasedId);
    const worker = await database.pool.connect();
    await worker.query("BEGIN");
    await worker.query(
      `WITH done AS (DELETE FROM postern.dispatches WHERE id = $1 RETURNING *)
        INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        SELECT tenant_id, endpoint_id, postern.uuid_v7(), event_id, event_type, 2, now(), now() FROM done`,
      [rows.leasedId],
    );
    const superseding = supersedeDispatches(database.pool, rows);
    const pid = await pidOf(worker);
    await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    await worker.query("COMMIT");
    worker.release();
    await superseding;
    assert.deepEqual(await left(), []);
  });
});

it("lets a large backlog follow from its beginning when its endpoint's state changes between two slices", async () => {
  await sql("DELETE FROM postern.dispatches");
  await sql(
    "UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual', unsettled = tenant_id = 'acme'",
  );
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $1, $2, postern.uuid_v7(), $3, 'invoice.paid', 1, now(), now() FROM generate_series(1, 5001)`,
    rows.tenantId,
    rows.endpointId,
    rows.eventId,
  );
  // With the commit of the first slice, which holds all but one.
  await sql(`CREATE FUNCTION public.enable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE postern.endpoints SET enabled = true, disabled_reason = NULL WHERE NOT enabled AND tenant_id = 'acme';
    RETURN NULL; END $$`);
  await sql("CREATE TRIGGER enable AFTER UPDATE ON postern.dispatches EXECUTE FUNCTION public.enable()");
  try {
    await followAll(database.pool, new AbortController().signal);
  } finally {
    await sql("DROP TRIGGER enable ON postern.dispatches");
  }
  assert.deepEqual(await sql("SELECT held, count(*)::int FROM postern.dispatches GROUP BY held"), [
    { held: false, count: 5001 },
  ]);
});
