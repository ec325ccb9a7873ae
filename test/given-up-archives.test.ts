/** What storage remembers of archives that their export gave up: it goes 10,000 at a time, past what somebody holds. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { functionTests } from "./support/sql-functions.ts";

const t = functionTests();

const insertArchives = (count: number) => `WITH export AS (
    INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status)
    VALUES ('acme', gen_random_uuid(), 'max', now() - interval '1 h', now(), 'failed') RETURNING id
  )
  INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size,
    sha256, content_type, state, state_since)
  SELECT 'acme', gen_random_uuid(), gen_random_uuid(), id, 1, 'export', 'bucket', n, 0, '', '', 'pending',
    now() - n * interval '1 hour'
  FROM export, generate_series(1, ${count}) n ORDER BY random()`;
const forget = () => t.value("SELECT postern.forget_old_storage(3)");
const left = () => t.names("SELECT key AS name FROM postern.stored_objects ORDER BY 1");

it("goes 10,000 at a time, the oldest first", async () => {
  await t.rows(insertArchives(10_001));
  assert.equal(await forget(), 10_000);
  assert.deepEqual(await left(), ["1"]);
});

it("goes beside what somebody else holds, and does not wait for it", async (test) => {
  const other = await t.pool.connect();
  test.after(async () => {
    await t.rollBack();
    other.release(true);
    await t.pool.query("TRUNCATE postern.stored_objects, postern.storage_exports");
  });
  await t.pool.query(insertArchives(2));
  await other.query("BEGIN");
  await other.query("SELECT FROM postern.stored_objects WHERE key = '1' FOR UPDATE");
  assert.equal(await forget(), 1);
  assert.deepEqual(await left(), ["1"]);
});
