/** Which of several rows that are much alike is found or changed; as the owner of the tables, whom row-level security does not bind, so that each statement itself keeps to its tenant. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { DIGEST, insertRow } from "../../../test/support/stored-row.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { storageTenantId } from "./storage-ids.ts";
import {
  findForDownload,
  findObjectByKey,
  findRowState,
  insertPendingObject,
  listLibraryRows,
  recordUpload,
  type NewStoredObject,
} from "./stored-object-store.ts";
import { readTenantSettings, writeTenantSettings } from "./tenant-settings-store.ts";

const ACME = tenant("acme");
const GLOBEX = tenant("globex");

let database: TestDatabase;
let bucket: string;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  bucket = `bucket-${randomUUID()}`;
  await sql("DELETE FROM postern.stored_objects");
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** Three rows in the making that have two of delivery, attempt and bucket in common. */
async function insertSimilar(): Promise<
  { of: NewStoredObject; id: string; key: string; revision: number }[]
> {
  const of = {
    tenantId: ACME,
    deliveryId: randomUUID(),
    kind: "request_body",
    size: 5,
    sha256: DIGEST,
  } as const;
  const made = [];
  for (const differing of [
    { attempt: 1, bucket },
    { attempt: 2, bucket },
    { attempt: 1, bucket: `${bucket}-2` },
  ]) {
    const object = { ...of, ...differing, id: randomUUID() };
    const row = await insertPendingObject(database.pool, object);
    assert.ok(row !== null);
    made.push({ of: object, id: row.id, key: row.key, revision: row.revision });
  }
  return made;
}

describe("an artifact among similar ones", () => {
  it("is found by its whole key, by its tenant", async () => {
    const made = await insertSimilar();
    for (const { of, id } of made) assert.equal((await findObjectByKey(database.pool, of))?.id, id);
    await sql("UPDATE postern.stored_objects SET tenant_id = 'globex'");
    for (const { of } of made) assert.equal(await findObjectByKey(database.pool, of), null);
  });

  it("is found to be downloaded by its id, with the delivery that it is of", async () => {
    const made = await insertSimilar();
    for (const { id: objectId, of } of made) {
      const { deliveryId } = of;
      const answer = await findForDownload(database.pool, ACME, { objectId, deliveryId });
      assert.ok(answer.found);
      assert.deepEqual(
        [answer.object.id, answer.delivery],
        [objectId, { id: deliveryId, tenant_id: storageTenantId(ACME) }],
      );
      const wrong = { objectId, deliveryId: randomUUID() };
      assert.deepEqual(await findForDownload(database.pool, ACME, wrong), { found: false });
    }
  });

  it("is found to be downloaded as an export only where that very export is there", async () => {
    await sql(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at)
        VALUES ('acme', gen_random_uuid(), 'ada', now() - interval '1 h', now())`,
    );
    const { id } = await insertRow(database.pool, bucket, { kind: "export" });
    const answer = await findForDownload(database.pool, ACME, { objectId: id, deliveryId: id });
    assert.deepEqual(answer, { found: false });
  });

  it("takes the store's answer alone, while it is pending", async () => {
    const [made, ...others] = await insertSimilar();
    assert.ok(made !== undefined);
    const upload = { versionId: "w", etag: "f" };
    assert.notEqual(await recordUpload(database.pool, ACME, made, upload), null);
    const { rows } = await sql(
      "SELECT DISTINCT version_id, etag, revision FROM postern.stored_objects WHERE id = ANY ($1)",
      [others.map(({ id }) => id)],
    );
    assert.deepEqual(rows, [{ version_id: null, etag: null, revision: 1 }]);
    const lost = await insertRow(database.pool, bucket, { state: "missing" });
    assert.equal(await recordUpload(database.pool, ACME, lost, upload), null);
  });

  it("is told what became of it by its whole key, of any tenant", async () => {
    const made = await insertSimilar();
    await sql("UPDATE postern.stored_objects SET state = 'missing', hold = true WHERE attempt = 2");
    await sql(
      "UPDATE postern.stored_objects SET state = 'expired', tenant_id = 'globex' WHERE bucket <> $1",
      [bucket],
    );
    const found = [];
    for (const { of, key } of made) found.push(await findRowState(database.pool, of.bucket, key));
    assert.deepEqual(found, [
      { state: "pending", hold: false },
      { state: "missing", hold: true },
      { state: "expired", hold: false },
    ]);
    assert.equal(await findRowState(database.pool, bucket, "of none"), null);
  });
});

describe("a tenant's library", () => {
  it("has of each artifact the newest attempt that it may see, newest first, from behind one", async () => {
    const ids = Array.from({ length: 12 }, () => randomUUID()).toSorted();
    const [oldest = "", answer = "", lost = "", twin, earlier, ...others] = ids;
    const newest = ids.at(-1) ?? "";
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const [once, then] = ["2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"];
    await insertRow(database.pool, bucket, { id: newest, delivery: first });
    await insertRow(database.pool, bucket, {
      id: answer,
      delivery: first,
      kind: "response_body",
      attempt: 2,
      availableAt: then,
    });
    await insertRow(database.pool, bucket, {
      id: lost,
      delivery: second,
      attempt: 2,
      state: "missing",
      availableAt: then,
    });
    await insertRow(database.pool, bucket, {
      id: oldest,
      delivery: third,
      state: "expired",
      availableAt: once,
    });
    const hidden = [
      { id: earlier, delivery: second },
      { delivery: third, attempt: 2, state: "missing", availableAt: null },
      { delivery: third, attempt: 3, state: "quarantined" },
      { delivery: third, attempt: 4, of: GLOBEX },
    ] as const;
    await insertRow(database.pool, `${bucket}-2`, {
      id: twin,
      delivery: second,
      attempt: 2,
      availableAt: then,
    });
    for (const [place, row] of hidden.entries())
      await insertRow(database.pool, bucket, { id: others[place], ...row });
    const list = async (limit: number, after: string | null = null, kind?: "response_body") => {
      const cursor = after === null ? null : { available_at: then, id: after };
      return (await listLibraryRows(database.pool, ACME, { after: cursor, limit, kind })).map(({ id }) => id);
    };
    assert.deepEqual(await list(9), [newest, answer, lost, oldest]);
    assert.deepEqual(await list(1), [newest, answer]);
    assert.deepEqual(await list(9, answer), [lost, oldest]);
    assert.deepEqual(await list(9, lost), [oldest]);
    assert.deepEqual(await list(9, null, "response_body"), [answer]);
  });
});

describe("what a tenant chose", () => {
  it("is read by it alone, and is what it chose last", async () => {
    const chosen = { keepRequestBodies: true, keepResponseBodies: false, artifactDays: 7 };
    const others = { keepRequestBodies: false, keepResponseBodies: true, artifactDays: null };
    await writeTenantSettings(database.pool, GLOBEX, others);
    await writeTenantSettings(database.pool, ACME, others);
    await sql("UPDATE postern.tenant_settings SET updated_at = updated_at - interval '1 h'");
    await writeTenantSettings(database.pool, ACME, chosen);
    const { rows } = await sql(
      `SELECT tenant_id, updated_at > now() - interval '30 min' AS "isNew" FROM postern.tenant_settings
        ORDER BY tenant_id`,
    );
    assert.deepEqual(rows, [
      { tenant_id: "acme", isNew: true },
      { tenant_id: "globex", isNew: false },
    ]);
    for (const [of, settings] of [
      [ACME, chosen],
      [GLOBEX, others],
    ] as const) {
      assert.deepEqual(await readTenantSettings(database.pool, of), settings);
    }
  });
});
