import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { sha256 } from "../../../test/support/bucket-contract.ts";
import { openDirectoryBucket, type DirectoryBucket } from "../../../test/support/directory-bucket.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId } from "../../shared/id.ts";
import { NOT_UPLOADED, type Bucket } from "../bytes/bucket.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import {
  findObjectByKey,
  findStoredObject,
  insertPendingObject,
  readDatabaseClock,
  type NewStoredObject,
} from "../rows/stored-object-store.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { REQUIRED_PROBES, probeName } from "../rules/validate-delivery.ts";
import { adoptUpload, decideOpening, openObject, uploadObject } from "./upload-object.ts";

const ACME = tenant("acme");
const BYTES = Buffer.from("of an attempt");

let database: TestDatabase;
let folder: DirectoryBucket;
let bucket: Bucket;
let services: { db: TestDatabase["pool"]; bucket: Bucket };

before(async () => {
  database = await createTestDatabase();
  folder = await openDirectoryBucket();
  ({ bucket } = folder);
  services = { db: database.pool, bucket };
});
after(async () => {
  await database.drop();
  await folder.close();
});

function wanted(more: Partial<NewStoredObject> = {}): NewStoredObject {
  return {
    tenantId: ACME,
    id: randomUUID(),
    deliveryId: newDeliveryId(),
    attempt: 1,
    kind: "request_body",
    bucket: bucket.name,
    size: BYTES.length,
    sha256: sha256(BYTES),
    ...more,
  };
}

const open = () => Readable.from([BYTES]);
const never = (): Readable => {
  throw new Error("the bytes are not wanted");
};

async function isStored({ key }: Pick<StoredObject, "key">): Promise<boolean> {
  return (await bucket.head({ bucket: bucket.name, key, version_id: null })).found;
}

describe("an upload", () => {
  it("makes the row and the object, once, and gives what is there when it is done again", async () => {
    const asked = wanted();
    const row = await uploadObject(services, asked, open);
    assert.ok(row !== null);
    assert.deepEqual([row.state, row.version_id, row.id], ["pending", sha256(BYTES), asked.id]);
    assert.ok(await isStored(row));
    assert.deepEqual(await uploadObject(services, { ...asked, id: randomUUID() }, never), row);
  });

  it("goes on where an earlier one ended before its bytes came", async () => {
    const asked = wanted();
    const begun = await insertPendingObject(database.pool, asked);
    assert.equal(begun?.version_id, NOT_UPLOADED);
    const row = await uploadObject(services, { ...asked, id: randomUUID() }, open);
    assert.deepEqual([row?.id, row?.version_id], [asked.id, sha256(BYTES)]);
  });

  it("takes over the bytes that an earlier one stored and did not record", async () => {
    const asked = wanted();
    const begun = await insertPendingObject(database.pool, asked);
    assert.ok(begun !== null);
    await bucket.put({ key: begun.key, size: BYTES.length, sha256: sha256(BYTES), open });
    assert.equal((await uploadObject(services, asked, open))?.version_id, sha256(BYTES));
  });

  it("leaves a key that other bytes have, in the database or in the bucket", async () => {
    const asked = wanted();
    await uploadObject(services, asked, open);
    assert.equal(await uploadObject(services, { ...asked, sha256: "b".repeat(64) }, never), null);
    assert.equal(await uploadObject(services, { ...asked, size: 1 }, never), null);

    const other = wanted();
    const begun = await insertPendingObject(database.pool, other);
    assert.ok(begun !== null);
    const bytes = Buffer.from("other bytes");
    const planted = { size: bytes.length, sha256: sha256(bytes), open: () => Readable.from([bytes]) };
    await bucket.put({ key: begun.key, ...planted });
    assert.equal(await uploadObject(services, other, open), null);
    assert.equal((await findObjectByKey(database.pool, other))?.version_id, NOT_UPLOADED);
  });

  it("makes nothing of a row that is erased before it can be read", async () => {
    const db = Object({ query: async () => ({ rows: [], rowCount: 0 }) });
    assert.equal(await uploadObject({ db, bucket }, wanted(), never), null);
  });

  it("leaves a row that has moved on", async () => {
    const asked = wanted();
    const row = await uploadObject(services, asked, open);
    await database.pool.query("UPDATE postern.stored_objects SET state = 'missing' WHERE id = $1", [row?.id]);
    assert.equal(await uploadObject(services, asked, never), null);
  });

  it("leaves nothing of a tenant that was erased meanwhile", async () => {
    const asked = wanted();
    const erasing = {
      ...bucket,
      put: async (upload: Parameters<Bucket["put"]>[0]) => {
        const answer = await bucket.put(upload);
        await database.pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [asked.id]);
        return answer;
      },
    };
    assert.equal(await uploadObject({ db: database.pool, bucket: erasing }, asked, open), null);
    const key = `v1/t/${storageTenantId(ACME)}/d/${asked.deliveryId}/a/1/request_body.json`;
    assert.equal(await isStored({ key }), false);
  });

  it("is kept where its row changed meanwhile, for that row names the key", async () => {
    const asked = wanted();
    const changing = {
      ...bucket,
      put: async (upload: Parameters<Bucket["put"]>[0]) => {
        const answer = await bucket.put(upload);
        await database.pool.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [
          asked.id,
        ]);
        return answer;
      },
    };
    assert.equal(await uploadObject({ db: database.pool, bucket: changing }, asked, open), null);
    const row = await findObjectByKey(database.pool, asked);
    assert.ok(row !== null && (await isStored(row)));
  });
});

describe("an upload that nobody recorded", () => {
  it("is recorded if it is there, of the row's own size and digest", async () => {
    const asked = wanted();
    const row = await insertPendingObject(database.pool, asked);
    assert.ok(row !== null);
    assert.equal(await adoptUpload(services, ACME, row), null);
    await bucket.put({ key: row.key, size: BYTES.length, sha256: sha256(BYTES), open });
    assert.equal(await adoptUpload(services, ACME, { ...row, size: 1 }), null);
    assert.equal(await adoptUpload(services, ACME, { ...row, sha256: "b".repeat(64) }), null);
    const unversioned: Bucket = {
      ...bucket,
      async head(request) {
        const head = await bucket.head(request);
        return head.found ? { ...head, version_id: null } : head;
      },
    };
    assert.equal(await adoptUpload({ ...services, bucket: unversioned }, ACME, row), null);
    assert.equal((await adoptUpload(services, ACME, row))?.version_id, sha256(BYTES));
  });
});

async function uploaded(): Promise<StoredObject> {
  const row = await uploadObject(services, wanted(), open);
  assert.ok(row !== null);
  return row;
}

async function decide(
  object: StoredObject,
  {
    statuses = {},
    tenantDays = null,
  }: { statuses?: Partial<Record<string, number>>; tenantDays?: number | null } = {},
) {
  const probes = probeName.options.map((probe) => ({
    probe,
    status: statuses[probe] ?? REQUIRED_PROBES[probe],
  }));
  const { delivery_id: id, tenant_id, attempt } = object;
  const delivery = { id, tenant_id, latest_attempt: attempt };
  const input = { delivery, object, archive_code: null, probes, now: "2026-03-01T12:00:00.000Z" };
  return decideOpening(bucket, input, { plan: 30, tenant: tenantDays });
}

describe("the opening of an artifact", () => {
  it("lasts as long as the plan grants, or as the tenant chose if that is shorter", async () => {
    const object = await uploaded();
    assert.equal((await decide(object)).deadline, "2026-03-31T12:00:00.000Z");
    assert.equal((await decide(object, { tenantDays: 3 })).deadline, "2026-03-04T12:00:00.000Z");
    assert.equal((await decide(object, { tenantDays: 300 })).deadline, "2026-03-31T12:00:00.000Z");
    assert.equal((await findStoredObject(database.pool, ACME, object.id))?.state, "pending");
  });

  it("is done once, with its time and its deadline, and not on a row that has changed", async () => {
    const object = await uploaded();
    const opening = await decide(object);
    const now = await readDatabaseClock(database.pool);
    assert.equal(await openObject(database.pool, opening, now), true);
    const { state, available_at, deadline, state_since } =
      (await findStoredObject(database.pool, ACME, object.id)) ?? object;
    assert.deepEqual(
      [state, available_at, deadline, state_since],
      ["available", "2026-03-01T12:00:00.000Z", opening.deadline, now],
    );
    assert.equal(await openObject(database.pool, opening, now), false);
  });

  it("is refused with what is wrong, and with what to do about links that are answered as they must not be", async () => {
    const object = await uploaded();
    await assert.rejects(decide({ ...object, etag: "other" }), {
      name: "OpeningRefusedError",
      message: "the artifact may not be downloaded yet, OBJECT_MISMATCH",
    });
    await assert.rejects(
      decide(object, { statuses: { unsigned_get: 200 } }),
      /^OpeningRefusedError: the artifact may not be downloaded yet, PROBE_FAILED: unsigned_get was answered 200 instead of 403; the bucket must not be public/,
    );
  });
});
