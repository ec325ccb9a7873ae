import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { rowsReadBy } from "../../../test/support/rows-read.ts";
import { DIGEST, insertRow, NOW } from "../../../test/support/stored-row.ts";
import { openStored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
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
  sampleAvailable,
  setGeneration,
} from "./owner-store.ts";
import {
  findOwners,
  insertEvents,
  insertOrphanMark,
  listConfirmableOrphans,
  listMarks,
  readCursor,
  readStorageState,
  readStorageTroubles,
  writeCursor,
} from "./reconcile-store.ts";

const ELSEWHERE = randomUUID();
/** Rows of another bucket. */
const OTHERS = 20_000;

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

  it("counts less than a day, and is kept for two, of other passes in this bucket", async () => {
    const { pool } = database;
    const [run, last] = [randomUUID(), randomUUID()];
    const page = { runId: run, number: 1 };
    await inTransaction(pool, async (db) => {
      const record = async (bucket: string, age: string) => {
        await recordDestroyed(db, bucket, page);
        await db.query(
          "UPDATE postern.storage_destroyed SET at = now() - $1::interval WHERE bucket = $2 AND at > now()",
          [age, bucket],
        );
      };
      for (const age of ["24 h", "48 h", "48 h 1 s"]) await record("kept", age);
      await record("kept beside", "48 h 1 s");
      assert.equal((await readDestroyed(db, "kept", run)).inDay, 0);
      await recordDestroyed(db, "kept", { runId: last, number: 2 });
      assert.deepEqual(
        [(await readDestroyed(db, "kept", run)).inPass, (await readDestroyed(db, "kept beside", run)).inPass],
        [2, 1],
      );
    });
  });

  it("is read by one process at a time, for each bucket", async () => {
    const { pool } = database;
    for (const bucket of ["locked", "free"]) await addBucket(pool, bucket);
    await inTransaction(pool, async (db) => {
      await readDestroyed(db, "locked", randomUUID());
      const { rows } = await pool.query(
        "SELECT bucket FROM postern.storage_buckets WHERE bucket IN ('locked', 'free') FOR UPDATE SKIP LOCKED",
      );
      assert.deepEqual(rows, [{ bucket: "free" }]);
    });
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
    await writeCursor(pool, "beside", halted);
    await writeCursor(pool, "artifacts", { ...halted, haltedReason: "again" });
    const again = (await readStorageTroubles(pool, "artifacts")).haltedAt;
    assert.ok(again !== null && since !== null && again > since);
  });
});

describe("the place of a pass", () => {
  it("is that of its own bucket, with the run and the time of the last page", async () => {
    const { pool } = database;
    const [first, second, beside] = [randomUUID(), randomUUID(), randomUUID()];
    const at = { afterKey: "key", haltedReason: null };
    await writeCursor(pool, "first", { ...at, runId: first });
    await writeCursor(pool, "second", { ...at, runId: beside, haltedReason: "too much" });
    await pool.query("UPDATE postern.storage_cursor SET updated_at = now() - interval '1 h'");
    const before = (await readStorageState(pool, "first")).lastPageAt;
    await writeCursor(pool, "first", { ...at, runId: second });
    const behind = (await readStorageState(pool, "first")).lastPageAt;
    assert.ok(before !== null && behind !== null && behind > before);
    assert.deepEqual(await readCursor(pool, "first"), { ...at, runId: second });
    assert.deepEqual((await readCursor(pool, "second"))?.runId, beside);
    assert.deepEqual((await readStorageTroubles(pool, "first")).haltedAt, null);
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
    const version = async () =>
      (await pool.query("SELECT xmin FROM postern.storage_buckets WHERE bucket = 'marked'")).rows[0];
    const written = await version();
    await recordOwner(pool, "marked", { isMarked: true, trouble: "trouble true" });
    assert.deepEqual(await version(), written);
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
    const { id: besideId } = await own.store();
    assert.equal((await findRowIdentities(pool, name, [kept.key])).length, 1);
    await pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [besideId]);
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

  it("has as many of its available artifacts sampled as are asked for, by their ids", async () => {
    const { pool } = database;
    const bucket = randomUUID();
    const keys = [];
    for (let n = 0; n < 3; n++) keys.push((await insertRow(pool, bucket)).key);
    await insertRow(pool, bucket, { state: "missing" });
    const sample = await sampleAvailable(pool, bucket, 2);
    assert.deepEqual(
      sample.map(({ key }) => key),
      keys.toSorted().slice(0, 2),
    );
  });

  it("has them sampled beside many of another bucket, without reading all of these", async () => {
    const { pool } = database;
    const bucket = randomUUID();
    const mine = [await insertRow(pool, bucket), await insertRow(pool, bucket)];
    // Its ids come after nearly all of the others.
    await pool.query(
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
          size, sha256, content_type, version_id, etag, state, state_since, available_at)
        SELECT 'acme', ('00000000' || right(gen_random_uuid()::text, 28))::uuid, gen_random_uuid(), gen_random_uuid(),
          1, 'request_body', 'before', n::text, 5, $2, 'text/plain', 'v', 'e', 'available', now(), now()
        FROM generate_series(1, $1::int) n`,
      [OTHERS, DIGEST],
    );
    await pool.query("ANALYZE postern.stored_objects");
    const sample = await sampleAvailable(pool, bucket, 5);
    assert.deepEqual(new Set(sample.map(({ key }) => key)), new Set(mine.map(({ key }) => key)));
    const rows = await rowsReadBy(pool, (db) => sampleAvailable(db, bucket, 5));
    assert.ok(rows < OTHERS / 10, `${rows} rows of ${OTHERS}`);
    await pool.query("DELETE FROM postern.stored_objects WHERE bucket = 'before'");
  });

  it("suspects an object that is put back, unless a row has its key", async () => {
    const { pool } = database;
    const stored = await openStored(pool);
    const { key } = await stored.store();
    const name = stored.bucket.name;
    await insertRow(pool, "beside", { id: ELSEWHERE });
    for (const each of [key, "v1/a", "v1/b"]) await insertOrphanMark(pool, name, each);
    // Twice, and where a row has the key in another bucket.
    for (const each of ["v1/a", ELSEWHERE]) await insertOrphanMark(pool, name, each);
    await pool.query("UPDATE postern.storage_marks SET key = 'v1/c' WHERE key = $1", [ELSEWHERE]);
    await insertOrphanMark(pool, "beside", "v1/a");
    await pool.query("UPDATE postern.storage_marks SET first_seen_at = $1", [NOW]);
    const at = (time: string) => listConfirmableOrphans(pool, name, time);
    assert.deepEqual(await at(NOW), ["v1/a", "v1/b", "v1/c"]);
    assert.deepEqual(await at("2026-03-10T11:59:59.999Z"), []);
    await pool.query("UPDATE postern.storage_marks SET class = 'adoptable' WHERE key = 'v1/c'");
    assert.deepEqual(await at(NOW), ["v1/a", "v1/b"]);
    await pool.query("DELETE FROM postern.storage_marks WHERE key = 'v1/c'");
    const marks = await listMarks(pool, name, { after: null, upTo: null });
    assert.deepEqual(
      marks.map((mark) => [mark.key, mark.class]),
      [
        ["v1/a", "object_without_row"],
        ["v1/b", "object_without_row"],
      ],
    );
    for (const [after, upTo, found] of [
      ["v1/a", "v1/b", ["v1/b"]],
      [null, "v1/a", ["v1/a"]],
    ] as const) {
      const keys = (await listMarks(pool, name, { after, upTo })).map((mark) => mark.key);
      assert.deepEqual(keys, found);
    }
    await stored.close();
  });

  it("tells each event of the tenant whose row has the key in this bucket", async () => {
    const { pool } = database;
    const [bucket, runId] = [randomUUID(), randomUUID()];
    const { key } = await insertRow(pool, bucket);
    const { key: other } = await insertRow(pool, `${bucket}-2`);
    const events = [key, other].map((of, place) => ({
      sequence: 1 + place,
      type: "object.missing" as const,
      key: of,
    }));
    const owners = await insertEvents(pool, events, { bucket, runId, now: NOW });
    assert.deepEqual(owners, new Map([[key, "acme"]]));
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
