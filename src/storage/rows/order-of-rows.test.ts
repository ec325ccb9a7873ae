/** Rows of several artifacts are changed in the order of their deliveries: expiry, comparing and an erasure meet the same rows. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import type { Db } from "../../database/pool.ts";
import { moveState } from "../rules/mutations.ts";
import { applyMutations } from "./mutation-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;

const idOf = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;

/** Their ids are in another order than their deliveries. */
const artifactOf = (n: number) => idOf(9 - n);
const expired = (n: number) => moveState({ id: artifactOf(n), state: "available", revision: 1 }, "expired");
const erasing = (db: Db) => db.query("SELECT postern.erase_tenant_rows('acme', 1000, true)");

it("locks them in the order of their deliveries, whatever the order in which they are to change", async () => {
  await sql("DELETE FROM postern.stored_objects");
  for (const n of [3, 1, 2]) {
    await sql(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size,
          sha256, content_type, version_id, etag, state, state_since, available_at)
        VALUES ('acme', $1, $2, $4, $3::int, 'request_body', 'b', 'k' || $3::int, 1, repeat('a', 64), 'a/b', 'v', 'v', 'available',
          now(), now())`,
      artifactOf(n),
      randomUUID(),
      n,
      idOf(n),
    );
  }
  await sql("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('acme') ON CONFLICT DO NOTHING");
  const now = new Date().toISOString();
  const changing = (db: Db) => applyMutations(db, [3, 2, 1].map(expired), { now, bucket: null });
  const found = [];
  for (const work of [changing, erasing]) {
    const [holder, worker] = [await seeded.pool.connect(), await seeded.pool.connect()];
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT FROM postern.stored_objects WHERE id = $1 FOR UPDATE", [artifactOf(2)]);
      const pid = await pidOf(holder);
      await worker.query("BEGIN");
      const working = work(worker);
      await eventually(async () => (await waitersFor(seeded.pool, pid)) === 1);
      const free = await sql("SELECT attempt FROM postern.stored_objects FOR UPDATE SKIP LOCKED");
      await holder.query("ROLLBACK");
      await working;
      await worker.query("ROLLBACK");
      found.push(free);
    } finally {
      for (const session of [holder, worker]) session.release(true);
    }
  }
  const behind = [{ attempt: 3 }];
  assert.deepEqual(found, [behind, behind]);
});

it("reads few more of them than it erases, however many of others are before them", async () => {
  await sql("DELETE FROM postern.stored_objects");
  for (const [tenantId, count] of [
    ["globex", 5000],
    ["acme", 5000],
  ]) {
    await sql(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size,
          sha256, content_type, version_id, etag, state, state_since, available_at)
        SELECT $1, postern.uuid_v7(), gen_random_uuid(), gen_random_uuid(), 1, 'request_body', 'b', gen_random_uuid(), 1,
          repeat('a', 64), 'a/b', 'v', 'v', 'available', now(), now() FROM generate_series(1, $2::int)`,
      tenantId,
      count,
    );
  }
  await sql("ANALYZE postern.stored_objects");
  await sql("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('acme') ON CONFLICT DO NOTHING");
  const client = await seeded.pool.connect();
  try {
    // As all who serve.
    await client.query("BEGIN; SET LOCAL enable_seqscan = off");
    await erasing(client);
    const { rows } = await client.query(
      "SELECT idx_tup_fetch AS read, n_tup_del AS erased FROM pg_stat_xact_user_tables WHERE relname = 'stored_objects'",
    );
    const [{ read, erased }] = rows;
    assert.ok(erased > 900 && read < 2 * erased, `${read} read, ${erased} erased`);
  } finally {
    client.release(true);
  }
});
