import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededDatabase } from "../../test/support/seeded-database.ts";
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

const seeded = seededDatabase();
const { sql } = seeded;

const unheld = async () =>
  sql(
    "SELECT id FROM postern.dispatches WHERE NOT held AND lease_owner IS NOT NULL AND tenant_id = $1",
    seeded.acme.tenantId,
  );

const replays = async () =>
  sql(`SELECT tenant_id, status, lease_until = 'infinity' AS taken, lease_owner IS NULL AS free
      FROM postern.replays ORDER BY tenant_id`);

it("switches a tenant's home once, under a version that no process knows yet", async () => {
  const { tenantId } = seeded.acme;
  const move = await findMove(seeded.pool, tenantId);
  assert.ok(move !== null);
  await commitSwitch(seeded.pool, move, "[]");
  const homes = await readHomes(seeded.pool, [tenantId, seeded.globex.tenantId]);
  assert.deepEqual(homes.get(tenantId), { shard: "eu2", version: 2 });
  assert.deepEqual(homes.get(seeded.globex.tenantId), { shard: "eu1", version: 1 });
  await sql("UPDATE postern.shard_directory SET shard = 'eu1'");
  await assert.rejects(commitSwitch(seeded.pool, move, "[]"), /has switched/);
});

describe("a tenant that a move holds", () => {
  it("is at work until the lease of its last attempt has ended, and then nothing is left to claim", async () => {
    const { tenantId, leasedId } = seeded.acme;
    await sql("DELETE FROM postern.delivery_counts");
    assert.equal(await holdTenant(seeded.pool, tenantId), true);
    assert.deepEqual(await unheld(), [{ id: leasedId }]);
    await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", leasedId);
    assert.equal(await holdTenant(seeded.pool, tenantId), false);
    assert.deepEqual(await unheld(), []);
    assert.equal(await isAtWork(seeded.pool, seeded.globex.tenantId), true);
  });

  it("is at work while counts of its attempts are not folded", async () => {
    const { tenantId } = seeded.acme;
    await sql("DELETE FROM postern.dispatches");
    assert.equal(await isAtWork(seeded.pool, tenantId), true);
    await sql("DELETE FROM postern.delivery_counts WHERE tenant_id = $1", tenantId);
    assert.equal(await isAtWork(seeded.pool, tenantId), false);
  });

  it("has endpoints whose dispatches workers resume once it is let in", async () => {
    await sql("UPDATE postern.endpoints SET moving = true, unsettled = false");
    await releaseEndpoints(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await sql("SELECT tenant_id, moving, unsettled FROM postern.endpoints ORDER BY 1"), [
      { tenant_id: "acme", moving: false, unsettled: true },
      { tenant_id: "globex", moving: true, unsettled: false },
    ]);
  });
});

describe("replays of a tenant that moves", () => {
  it("are taken from their workers if they run, and given back with the fence", async () => {
    const untouched = { tenant_id: "globex", status: "running", taken: false, free: false };
    await takeReplays(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: true, free: false },
      untouched,
    ]);
    await unfence(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await replays(), [
      { tenant_id: "acme", status: "running", taken: false, free: true },
      untouched,
    ]);
  });

  it("stay with their workers where no move took them", async () => {
    await unfence(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(
      (await replays()).map(({ free }) => free),
      [false, false],
    );
  });
});

it("counts an erasure that runs, or was asked for since the move began, and no earlier one", async () => {
  const { tenantId } = seeded.acme;
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
    assert.equal(await wasErasedSince(seeded.pool, tenantId, began), counts, `${status}, ${minutes}`);
  }
});

it("needs no copy of a superseded dispatch, nor its event", async () => {
  const { tenantId } = seeded.acme;
  const since = { events: new Date(0), deliveries: new Date(0) };
  const { dispatches } = await countRows(seeded.pool, tenantId, since);
  // The replay's dispatch is of an event that is not there.
  assert.equal(await lacksEvents(seeded.pool, tenantId), true);
  await sql("UPDATE postern.dispatches SET superseded = true WHERE tenant_id = $1 AND once", tenantId);
  assert.equal(await lacksEvents(seeded.pool, tenantId), false);
  assert.equal((await countRows(seeded.pool, tenantId, since)).dispatches, dispatches - 1);
});

it("forgets the keys of events that have yet to reach the tenant's home, whose keys were claimed here", async () => {
  const waiting = { outbox: newEventId(), handover: newEventId() };
  const { tenantId } = seeded.acme;
  const outbox =
    "INSERT INTO postern.outbox (tenant_id, type, body, id, key) VALUES ($1, 'a', '{}', $2, 'one')";
  await sql(outbox, tenantId, waiting.outbox);
  const handover = `INSERT INTO postern.handovers (tenant_id, type, version, body, key, id, claimed)
    VALUES ($1, 'a', 1, '{}', 'two', $2, $3)`;
  await sql(handover, tenantId, waiting.handover, true);
  await sql(handover, tenantId, newEventId(), false);
  await sql(handover, seeded.globex.tenantId, newEventId(), true);
  const found = await readKeysOnTheWay(seeded.pool, tenantId);
  assert.deepEqual(found.toSorted(), Object.values(waiting).toSorted());
});

it("forgets a fence where the tenant was not let in", async () => {
  await sql("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'acme'");
  for (const { tenantId } of [seeded.acme, seeded.globex]) await forgetFence(seeded.pool, tenantId);
  assert.equal(await readMarks(seeded.pool, seeded.acme.tenantId), null);
  assert.deepEqual(await readMarks(seeded.pool, seeded.globex.tenantId), { moving: false, fenced: false });
});
