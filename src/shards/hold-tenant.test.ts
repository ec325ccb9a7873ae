/** How a move brings a tenant's work to rest in its source, and lets it go on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addDispatches, inOneMoment } from "../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../test/support/seeded-database.ts";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { inTransaction } from "../database/transaction.ts";
import { hasCounts, holdTenant, isAtWork, releaseEndpoints } from "./hold-store.ts";
import { deleteAllRows } from "./delete-rows.ts";
import { deleteTenantRows, hasTenantRows } from "./move-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;

const unheld = async () =>
  sql(
    "SELECT id FROM postern.dispatches WHERE NOT held AND lease_owner IS NOT NULL AND tenant_id = $1",
    seeded.acme.tenantId,
  );

const endpointRows = async () =>
  sql("SELECT tenant_id, moving, xmin FROM postern.endpoints ORDER BY tenant_id");

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
    // Held, a superseded one would never end.
    await sql("UPDATE postern.dispatches SET superseded = true, held = false WHERE id = $1", leasedId);
    assert.equal(await holdTenant(seeded.pool, tenantId), true);
  });

  it("holds a dispatch from the moment on in which its lease ends, none of another tenant, and its endpoints once", async () => {
    const { acme, globex, pool } = seeded;
    const others = () =>
      sql("SELECT * FROM postern.dispatches WHERE tenant_id <> $1 ORDER BY id", acme.tenantId);
    const before = await others();
    await inOneMoment(pool, async (session) => {
      await session.query("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", [
        acme.leasedId,
      ]);
      await holdTenant(session, acme.tenantId);
      const { rows } = await session.query("SELECT held, lease_owner FROM postern.dispatches WHERE id = $1", [
        acme.leasedId,
      ]);
      assert.deepEqual(rows, [{ held: true, lease_owner: null }]);
    });
    await holdTenant(pool, acme.tenantId);
    assert.deepEqual(await others(), before);
    const held = await endpointRows();
    assert.deepEqual(
      held.map(({ tenant_id, moving }) => ({ tenant_id, moving })),
      [
        { tenant_id: acme.tenantId, moving: true },
        { tenant_id: globex.tenantId, moving: false },
      ],
    );
    await holdTenant(pool, acme.tenantId);
    assert.deepEqual(await endpointRows(), held);
  });

  it("is held and deleted in statements that others need not wait for long", async () => {
    const { acme, pool } = seeded;
    const { tenantId } = acme;
    await sql("DELETE FROM postern.dispatches; DELETE FROM postern.delivery_counts");
    await addDispatches(
      pool,
      acme,
      Array.from({ length: 5001 }, (_, attempt) => ({ attempt })),
    );
    assert.equal(await holdTenant(pool, tenantId), true);
    assert.deepEqual(await sql("SELECT count(*) FROM postern.dispatches WHERE held"), [{ count: 5000 }]);
    assert.equal(await holdTenant(pool, tenantId), false);
    const told: number[] = [0];
    await deleteTenantRows(pool, tenantId, (count) => told.push(count));
    const steps = told.slice(1).map((count, index) => count - (told[index] ?? 0));
    assert.equal(Math.max(...steps), 5000);
    assert.deepEqual(await sql("SELECT count(*) FROM postern.dispatches"), [{ count: 0 }]);
  });

  it("is not at work while counts of its attempts are not folded, but has counts", async () => {
    const { tenantId } = seeded.acme;
    await sql("DELETE FROM postern.dispatches");
    assert.equal(await isAtWork(seeded.pool, tenantId), false);
    assert.equal(await hasCounts(seeded.pool, tenantId), true);
    await sql("DELETE FROM postern.delivery_counts WHERE tenant_id = $1", tenantId);
    assert.equal(await hasCounts(seeded.pool, tenantId), false);
    assert.equal(await hasCounts(seeded.pool, seeded.globex.tenantId), true);
  });

  it("has endpoints whose dispatches workers resume once it is let in", async () => {
    await sql("UPDATE postern.endpoints SET moving = true, unsettled = false");
    await releaseEndpoints(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await sql("SELECT tenant_id, moving, unsettled FROM postern.endpoints ORDER BY 1"), [
      { tenant_id: "acme", moving: false, unsettled: true },
      { tenant_id: "globex", moving: true, unsettled: false },
    ]);
    await releaseEndpoints(seeded.pool, seeded.globex.tenantId);
    await sql("UPDATE postern.endpoints SET unsettled = false");
    await releaseEndpoints(seeded.pool, seeded.acme.tenantId);
    assert.deepEqual(await sql("SELECT FROM postern.endpoints WHERE moving OR unsettled"), []);
  });

  it("is held but for the dispatch that a worker is just claiming, which nothing waits for", async () => {
    const { acme, pool } = seeded;
    const locked = "SELECT FROM postern.dispatches WHERE tenant_id = $1 AND id = $2 FOR UPDATE";
    const [claimed] = await sql(
      "SELECT id FROM postern.dispatches WHERE tenant_id = $1 AND lease_owner IS NULL AND NOT held AND NOT superseded",
      acme.tenantId,
    );
    // It is held long before it is due.
    await sql(
      "UPDATE postern.dispatches SET claimable_at = now() + interval '1 h' WHERE id = $1",
      claimed.id,
    );
    await inTransaction(pool, async (worker) => {
      await worker.query(locked, [acme.tenantId, claimed.id]);
      assert.equal(await holdTenant(pool, acme.tenantId), true);
    });
    const free =
      "SELECT id FROM postern.dispatches WHERE tenant_id = $1 AND lease_owner IS NULL AND NOT held";
    assert.deepEqual(await sql(free, acme.tenantId), [claimed]);
    await holdTenant(pool, acme.tenantId);
    assert.deepEqual(await sql(free, acme.tenantId), []);
  });

  it("leaves no rows behind that go to a partition of their day while they are deleted", async () => {
    const { acme, pool } = seeded;
    const days = "(now() AT TIME ZONE 'UTC')::date + 40, (now() AT TIME ZONE 'UTC')::date + 40";
    await sql(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        VALUES ('acme', postern.lowest_id_at(now() + interval '40 days'), 'a', '{}', 0)`,
    );
    const making = await pool.connect();
    try {
      await making.query(`BEGIN; SELECT postern.ensure_partitions(${days})`);
      const deleted = deleteAllRows(pool, acme.tenantId, () => undefined);
      const pid = await pidOf(making);
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      await making.query("COMMIT");
      await deleted;
    } finally {
      making.release(true);
    }
    assert.equal(await hasTenantRows(pool, acme.tenantId), false);
    assert.equal(await hasTenantRows(pool, seeded.globex.tenantId), true);
  });
});
