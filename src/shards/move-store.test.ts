import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedTwoTenants, type Rows } from "../../test/support/two-tenants.ts";
import { newEventId } from "../shared/id.ts";
import { readHomes } from "./directory-store.ts";
import {
  commitSwitch,
  countRows,
  findMove,
  forgetFence,
  holdTenant,
  isAtWork,
  lacksEvents,
  readKeysOnTheWay,
  readMarks,
  releaseEndpoints,
  takeReplays,
  unfence,
  wasErasedSince,
} from "./move-store.ts";

let database: TestDatabase;
let acme: Rows;
let globex: Rows;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  ({ acme, globex } = await seedTwoTenants(database.pool));
});

const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows;

const unheld = async () =>
  sql(
    "SELECT id FROM postern.dispatches WHERE NOT held AND lease_owner IS NOT NULL AND tenant_id = $1",
    acme.tenantId,
  );

const replays = async () =>
  sql(`SELECT tenant_id, status, lease_until = 'infinity' AS taken, lease_owner IS NULL AS free
      FROM postern.replays ORDER BY tenant_id`);

it("switches a tenant's home once, under a version that no process knows yet", async () => {
  const { tenantId } = acme;
  const move = await findMove(database.pool, tenantId);
  assert.ok(move !== null);
  await commitSwitch(database.pool, move, "[]");
  const homes = await readHomes(database.pool, [tenantId, globex.tenantId]);
  assert.deepEqual(homes.get(tenantId), { shard: "eu2", version: 2 });
  assert.deepEqual(homes.get(globex.tenantId), { shard: "eu1", version: 1 });
  await sql("UPDATE postern.shard_directory SET shard = 'eu1'");
  await assert.rejects(commitSwitch(database.pool, move, "[]"), /has switched/);
});

describe("a tenant that a move holds", () => {
  it("is at work until the lease of its last attempt has ended, and then nothing is left to claim", async () => {
    const { tenantId, leasedId } = acme;
    await sql("DELETE FROM postern.delivery_counts");
    assert.equal(await holdTenant(database.pool, tenantId), true);
    assert.deepEqual(await unheld(), [{ id: leasedId }]);
    await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", leasedId);
    assert.equal(await holdTenant(database.pool, tenantId), false);
    assert.deepEqual(await unheld(), []);
    assert.equal(await isAtWork(database.pool, globex.tenantId), true);
  });

  it("is at work while counts of its attempts are not folded", async () => {
    const { tenantId } = acme;
    await sql("DELETE FROM postern.dispatches");
    assert.equal(await isAtWork(database.pool, tenantId), true);
    await sql("DELETE FROM postern.delivery_counts WHERE tenant_id = $1", tenantId);
    assert.equal(await isAtWork(database.pool, tenantId), false);
  });

  it("has endpoints whose dispatches workers resume once it is let in", async () => {
    await sql("UPDATE postern.endpoints SET moving = true, unsettled = false");
    await releaseEndpoints(database.pool, acme.tenantId);
    assert.deepEqual(await sql("SELECT tenant_id, moving, unsettled FROM postern.endpoints ORDER BY 1"), [
      { tenant_id: "acme", moving: false, unsettled: true },
      { tenant_id: "globex", moving: true, unsettled: false },
    ]);
  });
});

describe("replays of a tenant that moves", () => {
  it("are taken from their workers if they run, and given back with the fence", async () => {
    const untouched = { tenant_id: "globex", status: "running", taken: false, free: false };
    await takeReplays(database.pool, acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: true, free: false },
      untouched,
    ]);
    await unfence(database.pool, acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: false, free: true },
      untouched,
    ]);
  });

  it("stay with their workers where no move took them", async () => {
    await unfence(database.pool, acme.tenantId);
    assert.deepEqual(
      (await replays()).map(({ free }) => free),
      [false, false],
    );
  });
});

it("counts an erasure that runs, or was asked for since the move began, and no earlier one", async () => {
  const { tenantId } = acme;
  const began = new Date();
  const asked = (status: string, minutes: number) =>
    sql(
      `UPDATE postern.tenant_erasures SET status = $1, requested_at = $2::timestamptz + $3 * interval '1 minute',
        finished_at = CASE WHEN $1 = 'finished' THEN now() END WHERE tenant_id = 'acme'`,
      status,
      began,
      minutes,
    );
  for (const [status, minutes, counts] of [
    ["running", -1, true],
    ["finished", -1, false],
    ["finished", 1, true],
  ] as const) {
    await asked(status, minutes);
    assert.equal(await wasErasedSince(database.pool, tenantId, began), counts, `${status}, ${minutes}`);
  }
});

it("needs no copy of a superseded dispatch, nor its event", async () => {
  const { tenantId } = acme;
  const since = { events: new Date(0), deliveries: new Date(0) };
  const { dispatches } = await countRows(database.pool, tenantId, since);
  // The replay's dispatch is of an event that is not there.
  assert.equal(await lacksEvents(database.pool, tenantId), true);
  await sql("UPDATE postern.dispatches SET superseded = true WHERE tenant_id = $1 AND once", tenantId);
  assert.equal(await lacksEvents(database.pool, tenantId), false);
  assert.equal((await countRows(database.pool, tenantId, since)).dispatches, dispatches - 1);
});

it("forgets the keys of events that have yet to reach the tenant's home, whose keys were claimed here", async () => {
  const waiting = { outbox: newEventId(), handover: newEventId() };
  const { tenantId } = acme;
  const outbox =
    "INSERT INTO postern.outbox (tenant_id, type, body, id, key) VALUES ($1, 'a', '{}', $2, 'one')";
  await sql(outbox, tenantId, waiting.outbox);
  const handover = `INSERT INTO postern.handovers (tenant_id, type, version, body, key, id, claimed)
    VALUES ($1, 'a', 1, '{}', 'two', $2, $3)`;
  await sql(handover, tenantId, waiting.handover, true);
  await sql(handover, tenantId, newEventId(), false);
  await sql(handover, globex.tenantId, newEventId(), true);
  const found = await readKeysOnTheWay(database.pool, tenantId);
  assert.deepEqual(found.toSorted(), Object.values(waiting).toSorted());
});

it("forgets a fence where the tenant was not let in", async () => {
  await sql("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'acme'");
  for (const { tenantId } of [acme, globex]) await forgetFence(database.pool, tenantId);
  assert.equal(await readMarks(database.pool, acme.tenantId), null);
  assert.deepEqual(await readMarks(database.pool, globex.tenantId), { moving: false, fenced: false });
});
