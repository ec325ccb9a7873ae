import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { inTransaction } from "../database/transaction.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import type { TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { storageTenantId } from "../storage/rows/storage-ids.ts";
import {
  claimErasure,
  countTenantRows,
  insertErasure,
  lockErasure,
  releaseErasure,
  type ErasureRun,
} from "./tenant-store.ts";
import { Tenants } from "./tenants.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];
const LEASE_MS = 30_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() =>
  database.pool.query(
    `DELETE FROM postern.tenant_erasures; DELETE FROM postern.endpoints; DELETE FROM postern.audit_log;
      DELETE FROM postern.stored_objects`,
  ),
);
after(() => database.drop());

const claim = () => claimErasure(database.pool, randomUUID(), LEASE_MS);

/** Its lease ended so many seconds ago. */
async function waitFor(tenantId: TenantId, seconds: number): Promise<void> {
  await database.pool.query(
    "UPDATE postern.tenant_erasures SET lease_until = now() - $2 * interval '1 s' WHERE tenant_id = $1",
    [tenantId, seconds],
  );
}

async function claimed(): Promise<ErasureRun> {
  const run = await claim();
  assert.ok(run !== null);
  return run;
}

describe("an erasure", () => {
  it("could be claimed from the moment it was asked for, however its fraction of a millisecond", async () => {
    for (let round = 0; round < 20; round++) {
      const tenantId = tenant(`acme${round}`);
      await inTransaction(database.pool, async (transaction) => {
        await insertErasure(transaction, tenantId);
        assert.equal((await claimErasure(transaction, randomUUID(), LEASE_MS))?.tenantId, tenantId);
      });
    }
  });

  it("is leased to one worker at a time, the one that waits longest first", async () => {
    await insertErasure(database.pool, acme);
    await insertErasure(database.pool, globex);
    await waitFor(globex, 2);
    const runs = [await claim(), await claim(), await claim()];
    assert.deepEqual(
      runs.map((run) => run?.tenantId),
      [globex, acme, undefined],
    );
  });

  it("is claimed again when its lease has ended, and then is no longer the former worker's", async () => {
    await insertErasure(database.pool, acme);
    const former = await claimed();
    assert.equal(await lockErasure(database.pool, former), true);
    await waitFor(acme, 1);
    const present = await claimed();
    assert.deepEqual(
      [await lockErasure(database.pool, former), await lockErasure(database.pool, present)],
      [false, true],
    );
    await releaseErasure(database.pool, former, { delayMs: 0, objects: 7, trouble: "of the former" });
    const { rows } = await database.pool.query(
      "SELECT lease_owner, objects_erased, trouble FROM postern.tenant_erasures",
    );
    assert.deepEqual(rows, [{ lease_owner: present.leaseOwner, objects_erased: 0, trouble: null }]);
    assert.equal(await claim(), null);
  });

  it("goes on after the time for which it was given back, and counts what was done", async () => {
    await insertErasure(database.pool, acme);
    for (const objects of [2, 3]) {
      await releaseErasure(database.pool, await claimed(), { delayMs: 60_000, objects, trouble: "held up" });
      assert.equal(await claim(), null);
      await waitFor(acme, 1);
    }
    const { rows } = await database.pool.query("SELECT objects_erased, trouble FROM postern.tenant_erasures");
    assert.deepEqual(rows, [{ objects_erased: 5, trouble: "held up" }]);
  });
});

describe("the count of a tenant's rows", () => {
  it("says that there may be more where a part of a table has ten thousand", async () => {
    const tenants = new Tenants(database.pool);
    const add = (rows: number) =>
      database.pool.query(
        `INSERT INTO postern.idempotency_keys
          SELECT $1, postern.uuid_v7()::text, postern.uuid_v7(), '' FROM generate_series(1, $2)`,
        [acme, rows],
      );
    await add(9_999);
    assert.equal((await tenants.count(acme)).isCapped, false);
    await add(1);
    await insertEndpoint(database.pool, newEndpoint({ tenantId: acme }));
    const { rows, isCapped } = await tenants.count(acme);
    assert.deepEqual([rows.get("idempotency_keys"), isCapped], [10_000, true]);
  });
});

/** Artifacts of the tenant, each held. */
async function hold(count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline, hold)
      SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 1, 'request_body', 'bucket', 'key ' || place, 1, repeat('a', 64),
        'application/json', 'v', 'v', 'available', now(), now(), now() + interval '1 day', true
      FROM generate_series(1, $3::int) AS place RETURNING id`,
    [acme, storageTenantId(acme), count],
  );
  return rows.map(({ id }) => id).toSorted();
}

/** The audit log. */
async function told(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    "SELECT tenant_id, action, outcome, actor_sub, details FROM postern.audit_log",
  );
  return rows;
}

describe("asking for an erasure", () => {
  const by = { actor: { type: "user", sub: "ada" }, requestId: null, address: null } as const;
  it("is told in the audit log once, however often it is asked for while it runs", async () => {
    const tenants = new Tenants(database.pool);
    const settled: unknown[] = [];
    for (const _ of [1, 2]) {
      const { status, rows, objects, trouble, finishedAt } = await tenants.erase(
        by,
        acme,
        async (transaction) => {
          settled.push(transaction !== database.pool);
        },
      );
      assert.deepEqual([status, rows, objects, trouble, finishedAt], ["running", 0, 0, null, null]);
    }
    assert.deepEqual(settled, [true, true]);
    const entry = {
      tenant_id: acme,
      action: "tenant.erased",
      outcome: "done",
      actor_sub: "ada",
      details: {},
    };
    assert.deepEqual(await told(), [entry]);
    await database.pool.query(
      `UPDATE postern.tenant_erasures SET status = 'finished', finished_at = now(), rows_erased = 3, objects_erased = 4,
        trouble = 'none', requested_at = now() - interval '1 d', lease_until = now() + interval '1 h'`,
    );
    const { requestedAt, ...again } = await tenants.erase(by, acme);
    assert.deepEqual(again, {
      tenantId: acme,
      status: "running",
      rows: 0,
      objects: 0,
      trouble: null,
      finishedAt: null,
    });
    assert.ok(Date.now() - requestedAt.getTime() < 3_600_000);
    assert.equal((await claim())?.tenantId, acme);
    assert.deepEqual(await told(), [entry, entry]);
  });

  it("begins nothing where the tenant is being moved, or where an artifact is held", async () => {
    const tenants = new Tenants(database.pool);
    const moving = new Refusal("tenant_moving");
    await assert.rejects(
      tenants.erase(by, acme, async () => {
        throw moving;
      }),
      moving,
    );
    for (const count of [1, 3]) {
      const [first = ""] = await hold(count);
      assert.equal((await tenants.count(acme)).held, count);
      const others = count === 1 ? "" : " and 2 more";
      await assert.rejects(tenants.erase(by, acme), (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.code, "held");
        assert.deepEqual(error.issues, [
          {
            path: ["tenant_id"],
            message: `${first}${others} of the tenant's artifacts are held: end the holds first`,
            code: "held",
          },
        ]);
        return true;
      });
      await database.pool.query("DELETE FROM postern.stored_objects");
    }
    assert.deepEqual(await told(), []);
    await assert.rejects(
      tenants.getErasure(acme),
      (error) => error instanceof Refusal && error.code === "not_found",
    );
    await assert.rejects(
      tenants.getErasure(null),
      (error) => error instanceof Refusal && error.code === "not_found",
    );
  });
});

describe("a tenant", () => {
  it("is found by its whole id, and not by the beginning of one", async () => {
    const tenants = new Tenants(database.pool);
    for (const id of [acme, tenant("-0")]) {
      await insertEndpoint(database.pool, newEndpoint({ tenantId: id }));
      assert.equal((await tenants.get(id)).id, id);
    }
    for (const id of [tenant("acm"), tenant("acme2"), null]) {
      await assert.rejects(
        tenants.get(id),
        (error) => error instanceof Refusal && error.code === "not_found",
      );
    }
  });
});

it("counts a tenant's rows while retention drops a day of them", async () => {
  const { pool } = database;
  const before = await countTenantRows(pool, acme, 10);
  await pool.query("SELECT postern.ensure_partitions(current_date - 40, current_date - 40)");
  const holder = await pool.connect();
  try {
    // Counted before any day.
    await holder.query("BEGIN; LOCK TABLE postern.handovers");
    const pid = await pidOf(holder);
    const counted = countTenantRows(pool, acme, 10);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    let isDropped = false;
    const dropped = pool.query("SELECT postern.drop_past_partitions(30)").then(() => (isDropped = true));
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await eventually(async () => isDropped || (await pool.query(waiting)).rowCount === 1);
    await holder.query("ROLLBACK");
    assert.deepEqual(await counted, before);
    await dropped;
  } finally {
    holder.release(true);
  }
});
