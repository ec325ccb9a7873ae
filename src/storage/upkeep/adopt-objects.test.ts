import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { buildArchive } from "../../../test/support/built-archive.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import {
  answering,
  away,
  inPages,
  openStored,
  slip,
  sortedIds,
  type Stored,
} from "../../../test/support/stored.ts";
import { openTenantPool, type OpenedTenantPool } from "../../../test/support/tenant-pool.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId, newExportId, type TenantId } from "../../shared/id.ts";
import type { Bucket } from "../bytes/bucket.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import { insertPendingObject } from "../rows/stored-object-store.ts";
import { adoptObjects, type Adoption } from "./adopt-objects.ts";

let database: TestDatabase;
let tenants: OpenedTenantPool;
let stored: Stored;
/** One that nothing knows before. */
let acme: TenantId;

before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 1);
});
after(async () => {
  await tenants.end();
  await database.drop();
});
beforeEach(async () => {
  stored = await openStored(database.pool);
  acme = tenant(`acme-${randomUUID()}`);
});
afterEach(() => stored.close());

const folder = () => join(stored.root, "adopting");

function adopt({
  named = [],
  isDryRun = false,
  sample = async () => answering(),
  ...bucket
}: {
  named?: readonly TenantId[];
  isDryRun?: boolean;
  sample?: LinkProbes["sample"];
} & Partial<Bucket> = {}): Promise<Adoption[]> {
  const { services } = stored;
  const probes = { ...services.probes, sample };
  return Array.fromAsync(
    adoptObjects(
      { ...services, tenants, probes, bucket: { ...stored.bucket, ...bucket } },
      { tenants: named, isDryRun, folder: folder() },
    ),
  );
}

async function rowOf(key: string) {
  const { rows } = await database.pool.query(
    "SELECT * FROM postern.stored_objects WHERE bucket = $1 AND key = $2",
    [stored.bucket.name, key],
  );
  return rows[0] ?? null;
}

const UNKNOWN = "its tenant is unknown: name the tenant by --tenants";
const adopted = (key: string): Adoption => ({ key, outcome: "adopted", tenantId: acme });
const left = (key: string, reason: string): Adoption => ({ key, outcome: "left", reason });

/** An archive whose manifest says that of it. */
function archiveOf(exportId: string, tenantId: TenantId = acme): Buffer {
  const [from, to] = ["2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"];
  const manifest = { export_id: exportId, tenant_id: tenantId, from, to, endpoint_id: null, deliveries: 7 };
  const content = Buffer.from(JSON.stringify({ ...manifest, files: [] }));
  return buildArchive([{ path: "manifest.json", content }]).bytes;
}

describe("objects without a row", () => {
  it("get rows that say what the objects are, and are theirs from when they were stored", async () => {
    const deliveryId = newDeliveryId();
    const { key, place, versionId } = await stored.orphan({ tenantId: acme, deliveryId, attempt: 3 });
    await database.pool.query(
      "INSERT INTO postern.tenant_settings (tenant_id, artifact_days) VALUES ($1, 3)",
      [acme],
    );
    assert.deepEqual(await adopt(), [adopted(key)]);
    const { id: _, state_since, storage_tenant_id: __, hold, ...row } = await rowOf(key);
    const { mtime, size } = await stat(place);
    assert.deepEqual(row, {
      tenant_id: acme,
      delivery_id: deliveryId,
      attempt: 3,
      kind: "request_body",
      revision: row.revision,
      bucket: stored.bucket.name,
      key,
      size,
      sha256: versionId,
      version_id: versionId,
      etag: versionId,
      content_type: "application/json",
      state: "available",
      available_at: mtime,
      deadline: new Date(mtime.getTime() + 3 * 86_400_000),
    });
    assert.deepEqual([Number(row.revision), hold, state_since > mtime], [3, false, true]);
    assert.deepEqual(await adopt(), []);
  });

  it("are left while their tenant is unknown, adopted once it is named, and shown alone in a dry run", async () => {
    const { key } = await stored.orphan({ tenantId: acme });
    const other = await stored.orphan({ tenantId: tenant(`other-${randomUUID()}`) });
    await stored.store();
    assert.deepEqual(new Set(await adopt()), new Set([left(key, UNKNOWN), left(other.key, UNKNOWN)]));
    const named = [acme];
    assert.deepEqual(
      new Set(await adopt({ named, isDryRun: true })),
      new Set([adopted(key), left(other.key, UNKNOWN)]),
    );
    assert.equal(await rowOf(key), null);
    assert.deepEqual(new Set(await adopt({ named })), new Set([adopted(key), left(other.key, UNKNOWN)]));
    assert.equal((await rowOf(key))?.tenant_id, acme);
    assert.equal(await rowOf(other.key), null);
  });

  it("are found on each page of the bucket, between those that have rows", async () => {
    const ids = sortedIds(5);
    const keys: string[] = [];
    for (const [index, deliveryId] of ids.entries()) {
      if (index === 2) await stored.store({ tenantId: acme, deliveryId });
      else keys.push((await stored.orphan({ tenantId: acme, deliveryId })).key);
    }
    assert.deepEqual(await adopt(inPages(stored.bucket, 2)), keys.map(adopted));
  });

  it("that are archives name their tenant to what lies before them, and bring back their export", async () => {
    const [first, second = ""] = sortedIds(2);
    const before = await stored.orphan({ tenantId: acme, deliveryId: first });
    const bytes = archiveOf(second);
    const archive = await stored.orphan({
      tenantId: acme,
      deliveryId: second,
      kind: "export",
      attempt: 2,
      bytes,
    });
    const modes: number[] = [];
    const get: Bucket["get"] = async (request) => {
      modes.push((await stat(folder())).mode & 0o777);
      return stored.bucket.get(request);
    };
    assert.deepEqual(await adopt({ get }), [adopted(archive.key), adopted(before.key)]);
    assert.deepEqual([modes, existsSync(folder())], [[0o700], false]);
    const { id, delivery_id, kind, state } = await rowOf(archive.key);
    assert.deepEqual([delivery_id, kind, state], [second, "export", "available"]);
    const { rows } = await database.pool.query(
      `SELECT tenant_id, status, attempt, rows_total::int, bytes::int, object_id FROM postern.storage_exports WHERE id = $1`,
      [second],
    );
    assert.deepEqual(rows, [
      { tenant_id: acme, status: "ready", attempt: 2, rows_total: 7, bytes: bytes.length, object_id: id },
    ]);
  });

  it("that are archives of something else are left, and name nobody", async () => {
    const other = tenant(`other-${randomUUID()}`);
    const ids = sortedIds(3);
    const reason = "its manifest is another archive's";
    const [ofAnother, ofOther, none] = [
      await stored.orphan({
        tenantId: acme,
        deliveryId: ids[0],
        kind: "export",
        bytes: archiveOf(newExportId()),
      }),
      await stored.orphan({
        tenantId: acme,
        deliveryId: ids[1],
        kind: "export",
        bytes: archiveOf(ids[1] ?? "", other),
      }),
      await stored.orphan({ tenantId: acme, deliveryId: ids[2], kind: "export", bytes: "no archive" }),
    ];
    const body = await stored.orphan({ tenantId: acme, deliveryId: "00000000-0000-7000-8000-000000000000" });
    const found = await adopt({
      get: async (request) => {
        // One archive at a time, and none stays.
        assert.deepEqual(await readdir(folder()), []);
        return stored.bucket.get(request);
      },
    });
    assert.deepEqual(found, [
      left(ofAnother.key, reason),
      left(ofOther.key, reason),
      left(none.key, "it has no manifest that can be read"),
      left(body.key, UNKNOWN),
    ]);
  });

  it("do not wait for one of which the store tells nothing, or whose links are answered wrongly", async () => {
    const keys: string[] = [];
    for (const deliveryId of sortedIds(5))
      keys.push((await stored.orphan({ tenantId: acme, deliveryId })).key);
    const [first = "", second = "", third = "", fourth = "", fifth = ""] = keys;
    const head: Bucket["head"] = async (request) => {
      if (request.key === first) return away();
      const found = await stored.bucket.head(request);
      if (request.key === second) return { found: false };
      return request.key === third && found.found ? { ...found, version_id: null } : found;
    };
    const sample: LinkProbes["sample"] = async ({ key }) =>
      answering(key === fourth ? { unsigned_get: 200 } : {});
    const [refused] = (await adopt({ named: [acme], head, sample })).splice(3, 1);
    assert.match(refused?.outcome === "left" ? refused.reason : "", /PROBE_FAILED: unsigned_get/);
    const found = await adopt({ named: [acme], head, sample });
    const gone = "it has changed, or has no version";
    assert.deepEqual(found.slice(0, 3), [
      left(first, "the store is away"),
      left(second, gone),
      left(third, gone),
    ]);
    assert.ok((await rowOf(fifth)) !== null && (await rowOf(fourth)) === null);
    await assert.rejects(adopt({ named: [acme], head: slip }), TypeError);
    assert.ok(!existsSync(folder()));
  });

  it("are left to the row that came meanwhile", async () => {
    const deliveryId = newDeliveryId();
    const { key } = await stored.orphan({ tenantId: acme, deliveryId });
    const of = { tenantId: acme, id: randomUUID(), deliveryId, attempt: 1, kind: "request_body" } as const;
    const sample: LinkProbes["sample"] = async () => {
      const facts = { bucket: stored.bucket.name, size: 1, sha256: "a".repeat(64) };
      assert.ok(await insertPendingObject(database.pool, { ...of, ...facts }));
      return answering();
    };
    assert.deepEqual(await adopt({ named: [acme], sample }), [left(key, "it has a row by now")]);
    const { id, state, size } = await rowOf(key);
    assert.deepEqual([id, state, Number(size)], [of.id, "pending", 1]);
  });

  it("are read where the store does not tell their digest", async () => {
    const { key, versionId } = await stored.orphan({ tenantId: acme });
    const digests: (string | null)[] = [null, versionId];
    const head: Bucket["head"] = async (request) => {
      const found = await stored.bucket.head(request);
      return found.found ? { ...found, sha256: digests.shift() ?? null } : found;
    };
    assert.deepEqual(await adopt({ named: [acme], head }), [adopted(key)]);
    assert.equal((await rowOf(key)).sha256, versionId);
  });
});
