/** Rows of several artifacts are changed in the order of their ids: expiry, comparing and an erasure meet the same rows. */
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

const expired = (n: number) => moveState({ id: idOf(n), state: "available", revision: 1 }, "expired");
const erasing = (db: Db) => db.query("SELECT postern.erase_tenant_rows('acme', 1000, true)");

it("locks them in the order of their ids, whatever the order in which they are to change", async () => {
  await sql("DELETE FROM postern.stored_objects");
  for (const n of [3, 1, 2]) {
    await sql(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size,
          sha256, content_type, version_id, etag, state, state_since, available_at)
        VALUES ('acme', $1, $2, $2, $3::int, 'request_body', 'b', 'k' || $3::int, 1, repeat('a', 64), 'a/b', 'v', 'v', 'available',
          now(), now())`,
      idOf(n),
      randomUUID(),
      n,
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
      await holder.query("SELECT FROM postern.stored_objects WHERE id = $1 FOR UPDATE", [idOf(2)]);
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
