/** How a shard lets a tenant work again that a move had held, while it is at work. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { seededDatabase } from "../../test/support/seeded-database.ts";
import { inTransaction } from "../database/transaction.ts";
import { followAll } from "../queue/postgres/follow.ts";
import { releaseLate } from "./hold-store.ts";
import { releaseWhenOpenEnd, reopen } from "./reopen.ts";
import { endRestored } from "./restored-move.ts";

const LAST = "ffffffff-0000-7000-8000-000000000001";

const seeded = seededDatabase();
const { sql } = seeded;
const site = () => ({ name: "eu1", db: seeded.pool });
const home = { shard: "eu1", version: 1 };
const quiet = (): void => undefined;

beforeEach(async () => {
  await seeded.seedAnew();
  await sql("UPDATE postern.endpoints SET unsettled = false");
  await sql(
    `INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ($1, 1, false, true)
      ON CONFLICT (tenant_id) DO UPDATE SET version = 1, fenced = false, moving = true`,
    seeded.acme.tenantId,
  );
});

const follow = () => followAll(seeded.pool, new AbortController().signal);

describe("a tenant whose move is undone", () => {
  it("keeps no dispatch waiting that a killed command's last statement held", async () => {
    const { tenantId } = seeded.acme;
    await sql("UPDATE postern.endpoints SET moving = true WHERE tenant_id = $1", tenantId);
    await sql("DELETE FROM postern.dispatches WHERE held OR superseded");
    const killed = await seeded.pool.connect();
    await killed.query("BEGIN");
    await killed.query("UPDATE postern.dispatches SET held = true, lease_owner = NULL WHERE tenant_id = $1", [
      tenantId,
    ]);
    const told: string[] = [];
    await inTransaction(seeded.pool, (db) => reopen(db, tenantId));
    const released = releaseWhenOpenEnd(site(), tenantId, (text) => told.push(text));
    await eventually(async () => told.length === 1);
    await follow();
    assert.deepEqual(await sql("SELECT FROM postern.endpoints WHERE unsettled"), []);
    await killed.query("COMMIT");
    killed.release();
    await released;
    await follow();
    assert.deepEqual(await sql("SELECT FROM postern.dispatches WHERE held"), []);
  });

  it("nor one that was being added while an endpoint of it was followed", async () => {
    const { tenantId, endpointId } = seeded.acme;
    await sql("UPDATE postern.endpoints SET moving = true WHERE tenant_id = $1", tenantId);
    await sql("DELETE FROM postern.dispatches WHERE held OR superseded");
    const adding = await seeded.pool.connect();
    await inTransaction(seeded.pool, async (following) => {
      await following.query("SELECT pg_advisory_xact_lock(hashtextextended('postern.held ' || $1, 0))", [
        tenantId,
      ]);
      await adding.query("BEGIN");
      await adding.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
          SELECT $1, $2::uuid, postern.uuid_v7(), gen_random_uuid(), 'a', 1, now(), now(), postern.still_held($1, $2::uuid)`,
        [tenantId, endpointId],
      );
    });
    const told: string[] = [];
    await inTransaction(seeded.pool, (db) => reopen(db, tenantId));
    const released = releaseWhenOpenEnd(site(), tenantId, (text) => told.push(text));
    await eventually(async () => told.length === 1);
    await follow();
    await adding.query("COMMIT");
    adding.release();
    const isHeld = () => sql("SELECT endpoint_id FROM postern.dispatches WHERE held");
    assert.deepEqual(await isHeld(), [{ endpoint_id: endpointId }]);
    await released;
    await follow();
    assert.deepEqual(await isHeld(), []);
  });
});

it("endpoints that are released while they are at work are locked in the order of their ids, as by who records outcomes", async () => {
  const { tenantId, endpointId } = seeded.acme;
  await sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ($1, $2, 'https://example.com/', '{*}', '', now(), now())`,
    tenantId,
    LAST,
  );
  // Now it lies behind the other.
  await sql("UPDATE postern.endpoints SET updated_at = now() WHERE id = $1", endpointId);
  const recording = await seeded.pool.connect();
  await recording.query("BEGIN");
  await recording.query("SELECT FROM postern.endpoints WHERE id = $1 FOR SHARE", [endpointId]);
  const pid = await pidOf(recording);
  const releasing = await seeded.pool.connect();
  // As where an index would not help.
  await releasing.query("SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off");
  const released = releaseLate(releasing, tenantId);
  await eventually(async () => (await waitersFor(seeded.pool, pid)) === 1);
  const free = await sql("SELECT FROM postern.endpoints WHERE id = $1 FOR SHARE SKIP LOCKED", LAST);
  await recording.query("COMMIT");
  recording.release();
  await released;
  releasing.release(true);
  assert.equal(free.length, 1);
});

describe("a tenant for whom a restore had brought back a move", () => {
  it("has no endpoint waiting that was being added as the command was killed, once that is run again", async () => {
    const { tenantId } = seeded.acme;
    const asked = { tenantId, home };
    assert.equal(await endRestored(site(), asked, quiet), true);
    await sql("UPDATE postern.endpoints SET moving = true");
    assert.equal(await endRestored(site(), asked, quiet), true);
    assert.deepEqual(await sql("SELECT tenant_id FROM postern.endpoints WHERE moving"), [
      { tenant_id: seeded.globex.tenantId },
    ]);
    assert.equal(await endRestored(site(), asked, quiet), false);
  });
});
