import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { openStored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import {
  addBucket,
  findRowIdentities,
  hasRowsWithBytes,
  listKnownTenants,
  raiseGeneration,
  readBucket,
  readDestroyed,
  recordDestroyed,
  recordOwner,
  setGeneration,
} from "./owner-store.ts";
import {
  findOwners,
  insertOrphanMark,
  listMarks,
  readStorageState,
  readStorageTroubles,
  writeCursor,
} from "./reconcile-store.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describe("what was destroyed in a bucket", () => {
  it("counts for a day in all passes, and in its own however long that takes", async () => {
    const { pool } = database;
    const [earlier, own] = [randomUUID(), randomUUID()];
    await addBucket(pool, "artifacts");
    const record = async (runId: string, number: number, age: string) => {
      await recordDestroyed(pool, "artifacts", { runId, number });
      await pool.query(
        `UPDATE postern.storage_destroyed SET at = now() - $2::interval WHERE number = $1 AND bucket = 'artifacts'`,
        [number, age],
      );
    };
    await record(earlier, 1, "25 h");
    await record(earlier, 2, "23 h");
    await record(own, 4, "3 d");
    await recordDestroyed(pool, "other", { runId: own, number: 8 });
    await recordDestroyed(pool, "artifacts", { runId: own, number: 16 });
    assert.deepEqual(await readDestroyed(pool, "artifacts", own), { inPass: 20, inDay: 18, known: 0 });
  });
});

describe("a pass that waits for an operator", () => {
  it("is shown to wait since it was halted first, and no more once it goes on", async () => {
    const { pool } = database;
    const halted = { runId: randomUUID(), afterKey: null, haltedReason: "too much" };
    await writeCursor(pool, "artifacts", halted);
    await pool.query(`UPDATE postern.storage_cursor SET halted_at = now() - interval '2 h'`);
    const since = (await readStorageTroubles(pool, "artifacts")).haltedAt;
    await writeCursor(pool, "artifacts", { ...halted, haltedReason: "far too much" });
    const { haltedAt, haltedReason } = await readStorageTroubles(pool, "artifacts");
    assert.deepEqual([haltedAt, haltedReason], [since, "far too much"]);
    await writeCursor(pool, "artifacts", { ...halted, haltedReason: null });
    assert.equal((await readStorageTroubles(pool, "artifacts")).haltedAt, null);
  });
});

describe("what is known of a bucket", () => {
  it("names one installation for all buckets, and a generation that is raised by one process and never lowered", async () => {
    const { pool } = database;
    for (const bucket of ["one", "two"]) await addBucket(pool, bucket);
    const [one, two] = [await readBucket(pool, "one"), await readBucket(pool, "two")];
    assert.equal(one?.installationId, two?.installationId);
    assert.equal(await raiseGeneration(pool, "one", 1), 2);
    assert.equal(await raiseGeneration(pool, "one", 1), null);
    await setGeneration(pool, "one", 1);
    assert.equal((await readBucket(pool, "one"))?.generation, 2);
    await setGeneration(pool, "one", 5);
    assert.deepEqual(
      [(await readBucket(pool, "one"))?.generation, (await readBucket(pool, "two"))?.generation],
      [5, 1],
    );
  });

  it("has its mark from then on, since that was seen first", async () => {
    const { pool } = database;
    await addBucket(pool, "marked");
    await recordOwner(pool, "marked", { isMarked: true, trouble: null });
    await pool.query(
      "UPDATE postern.storage_buckets SET marked_at = now() - interval '1 day' WHERE bucket = 'marked'",
    );
    const markedAt = async () =>
      (await pool.query("SELECT marked_at FROM postern.storage_buckets WHERE bucket = 'marked'")).rows[0];
    const first = await markedAt();
    for (const isMarked of [false, true]) {
      await recordOwner(pool, "marked", { isMarked, trouble: `trouble ${isMarked}` });
      assert.deepEqual(await markedAt(), first);
    }
    assert.deepEqual((await readBucket(pool, "marked"))?.isMarked, true);
  });

  it("is of its own rows alone, and its bytes are those of three states", async () => {
    const { pool } = database;
    const [own, other] = [await openStored(pool), await openStored(pool)];
    const deliveryId = randomUUID();
    const kept = await own.store({ deliveryId, state: "pending" });
    await other.store({ deliveryId, tenantId: tenant("globex"), state: "expired" });
    const twin = await other.store({ deliveryId });
    assert.equal(kept.key, twin.key);
    const name = own.bucket.name;
    assert.deepEqual((await readStorageState(pool, name)).states, { pending: 1 });
    await writeCursor(pool, other.bucket.name, { runId: randomUUID(), afterKey: null, haltedReason: null });
    assert.equal((await readStorageState(pool, name)).lastPageAt, null);
    assert.equal((await findRowIdentities(pool, name, [kept.key])).length, 1);
    await pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [kept.id]);
    assert.deepEqual(await findRowIdentities(pool, name, [kept.key]), []);
    assert.deepEqual(await findOwners(pool, name, [kept.key]), new Map());
    assert.deepEqual(await findOwners(pool, other.bucket.name, [kept.key]), new Map([[kept.key, "acme"]]));
    const found = [];
    for (const state of ["pending", "available", "missing", "quarantined", "expired", "purged"] as const) {
      const { id } = await own.store({ state });
      found.push(await hasRowsWithBytes(pool, name));
      await pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [id]);
    }
    assert.deepEqual(found, [false, true, false, true, true, false]);
    for (const opened of [own, other]) await opened.close();
  });

  it("suspects an object that is put back, unless a row has its key", async () => {
    const { pool } = database;
    const stored = await openStored(pool);
    const { key } = await stored.store();
    const name = stored.bucket.name;
    for (const each of [key, "v1/a", "v1/b"]) await insertOrphanMark(pool, name, each);
    const marks = await listMarks(pool, name, { after: null, upTo: null });
    assert.deepEqual(
      marks.map((mark) => [mark.key, mark.class]),
      [
        ["v1/a", "object_without_row"],
        ["v1/b", "object_without_row"],
      ],
    );
    assert.deepEqual(
      (await listMarks(pool, name, { after: "v1/a", upTo: "v1/b" })).map((mark) => mark.key),
      ["v1/b"],
    );
    await stored.close();
  });

  it("knows the tenants of endpoints, artifacts, exports and settings", async () => {
    const { pool } = database;
    await pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        VALUES ('of-endpoint', gen_random_uuid(), 'https://example.com/', '{*}', '\\x0102030405060708', now(), now())`,
    );
    await pool.query(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at)
        VALUES ('of-export', gen_random_uuid(), 'ada', now() - interval '1 day', now())`,
    );
    await pool.query("INSERT INTO postern.tenant_settings (tenant_id) VALUES ('of-settings')");
    const stored = await openStored(pool);
    await stored.store({ tenantId: tenant("of-artifact") });
    await stored.close();
    const known = (await listKnownTenants(pool)).filter((id) => id.startsWith("of-"));
    assert.deepEqual(known.toSorted(), ["of-artifact", "of-endpoint", "of-export", "of-settings"]);
  });
});
