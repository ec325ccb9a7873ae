/** A shard's part of an erasure, and what an erasure asks of its own tenant; as the owner of the tables, whom row-level security does not bind, so that each statement itself keeps to it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { insertRow } from "../../test/support/stored-row.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { inTransaction } from "../database/transaction.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import * as erasures from "./tenant-store.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];
const requestedAt = new Date("2026-03-01T00:00:00.000Z");
const later = new Date("2026-03-02T00:00:00.000Z");
const SHARD = { name: "second", directory: randomUUID() };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  await sql("INSERT INTO postern.shard (name, directory, keeps_directory) VALUES ($1, $2, false)", [
    SHARD.name,
    SHARD.directory,
  ]);
});
after(() => database.drop());
beforeEach(async () => {
  for (const table of ["tenant_erasures", "endpoints", "stored_objects", "handovers"])
    await sql(`DELETE FROM postern.${table}`);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

const begin = (at = requestedAt, shard = SHARD, tenantId = acme) =>
  erasures.insertErasurePart(database.pool, { tenantId, leaseOwner: "", requestedAt: at }, shard);
const reopen = (tenantId = acme, at = requestedAt) =>
  erasures.reopenErasurePart(database.pool, { tenantId, requestedAt: at });

/** As if it had erased something, an hour ago, and met with trouble. */
const age = (status: "running" | "finished") =>
  sql(
    `UPDATE postern.tenant_erasures SET status = $1, rows_erased = 3, objects_erased = 4, trouble = 'none',
      lease_until = now() - interval '1 h', finished_at = CASE WHEN $1 = 'finished' THEN now() END`,
    [status],
  );

async function shown() {
  const { rows } = await sql(
    `SELECT tenant_id AS of, status, rows_erased AS rows, objects_erased AS objects, trouble, requested_at AS at,
        lease_until > now() - interval '30 min' AS "isNew", finished_at IS NOT NULL AS "hasEnded"
      FROM postern.tenant_erasures ORDER BY tenant_id`,
  );
  return rows;
}

const BEGUN = {
  of: "acme",
  status: "running",
  rows: 0,
  objects: 0,
  trouble: null,
  at: requestedAt,
  isNew: true,
  hasEnded: false,
};
const AGED = { ...BEGUN, rows: 3, objects: 4, trouble: "none", isNew: false };
const ENDED = { ...AGED, status: "finished", hasEnded: true };

describe("a shard's part of an erasure", () => {
  it("begins in that shard alone, once for each time that it is asked for", async () => {
    await begin(requestedAt, { ...SHARD, name: "first" });
    await begin(requestedAt, { ...SHARD, directory: randomUUID() });
    assert.deepEqual(await shown(), []);
    await begin();
    assert.deepEqual(await shown(), [BEGUN]);
    await age("running");
    await begin(later);
    assert.deepEqual(await shown(), [AGED]);
    await age("finished");
    await begin();
    assert.deepEqual(await shown(), [ENDED]);
    await begin(later);
    assert.deepEqual(await shown(), [{ ...BEGUN, at: later }]);
  });

  it("goes on after its end where its tenant has rows again, and no other's does", async () => {
    for (const tenantId of [acme, globex]) await begin(requestedAt, SHARD, tenantId);
    await age("finished");
    await insertEndpoint(database.pool, newEndpoint({ tenantId: globex }));
    await reopen();
    await reopen(globex, later);
    const others = { ...ENDED, of: "globex" };
    assert.deepEqual(await shown(), [ENDED, others]);
    await insertEndpoint(database.pool, newEndpoint({ tenantId: acme }));
    await reopen();
    const again = { ...AGED, isNew: true };
    assert.deepEqual(await shown(), [again, others]);
    await age("running");
    await reopen();
    assert.deepEqual(await shown(), [AGED, { ...AGED, of: "globex" }]);
  });
});

const handOver = (of: string) =>
  sql(
    `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body)
      VALUES (gen_random_uuid(), $1, 'first', 'invoice.paid', 1, '{}')`,
    [of],
  );

describe("an erasure", () => {
  it("is found, ended and counted by its own tenant", async () => {
    for (const tenantId of [acme, globex]) await begin(requestedAt, SHARD, tenantId);
    await insertEndpoint(database.pool, newEndpoint({ tenantId: acme }));
    const erased = await erasures.eraseTenantRows(database.pool, acme, { most: 10, withObjects: false });
    assert.equal(erased, 1);
    for (const [of, rows] of [
      [acme, 1],
      [globex, 0],
    ] as const) {
      const found = await erasures.findErasure(database.pool, of);
      assert.deepEqual([found?.tenantId, found?.rows], [of, rows]);
    }
    assert.equal(await erasures.findErasure(database.pool, tenant("other")), null);
    const run = await erasures.claimErasure(database.pool, randomUUID(), 60_000);
    assert.ok(run !== null);
    await erasures.finishErasure(database.pool, run, { rows: 2, objects: 0 });
    const { rows } = await sql(
      "SELECT status, lease_owner FROM postern.tenant_erasures ORDER BY tenant_id = $1 DESC",
      [run.tenantId],
    );
    assert.deepEqual(rows, [
      { status: "finished", lease_owner: null },
      { status: "running", lease_owner: null },
    ]);
  });

  it("waits for its own tenant's uploads, as long as they may take", async () => {
    const isUploading = (of = acme) => erasures.isUploading(database.pool, of, 60);
    await insertRow(database.pool, "bucket", { state: "pending", of: globex });
    await insertRow(database.pool, "bucket");
    assert.equal(await isUploading(), false);
    for (const _ of [1, 2]) await insertRow(database.pool, "bucket", { state: "pending" });
    assert.equal(await isUploading(), true);
    await inTransaction(database.pool, async (db) => {
      // Stored in whole milliseconds.
      await db.query("UPDATE postern.stored_objects SET state_since = now() - interval '60.001 s'");
      assert.equal(await erasures.isUploading(db, acme, 60), false);
    });
  });

  it("waits for its own tenant's events that are handed over, and knows its buckets", async () => {
    await handOver("globex");
    assert.equal(await erasures.isHandingOver(database.pool, acme), false);
    for (const _ of [1, 2]) await handOver("acme");
    assert.equal(await erasures.isHandingOver(database.pool, acme), true);
    for (const bucket of ["one", "one", "two"]) await insertRow(database.pool, bucket);
    await insertRow(database.pool, "three", { of: globex });
    assert.deepEqual((await erasures.listBucketsOf(database.pool, acme)).toSorted(), ["one", "two"]);
  });
});
