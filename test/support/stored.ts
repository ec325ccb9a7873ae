/** Rows in a real database and objects in a folder, hours old, for tests of what the passes are made of. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { after, afterEach, before, beforeEach } from "node:test";
import type { Pool } from "../../src/database/pool.ts";
import { newDeliveryId, type TenantId } from "../../src/shared/id.ts";
import { StoreUnavailableError, type Bucket } from "../../src/storage/bytes/bucket.ts";
import { ownerKey } from "../../src/storage/bytes/own-keys.ts";
import { storageTenantId } from "../../src/storage/rows/storage-ids.ts";
import { insertPendingObject, recordUpload } from "../../src/storage/rows/stored-object-store.ts";
import type { MarkClass } from "../../src/storage/rules/mutations.ts";
import { buildObjectKey, type ArtifactKind } from "../../src/storage/rules/object-key.ts";
import type { ObjectState } from "../../src/storage/rules/stored-object.ts";
import { probeName, REQUIRED_PROBES } from "../../src/storage/rules/validate-delivery.ts";
import type { LinkProbes } from "../../src/storage/library/link-probes.ts";
import { checkOwner } from "../../src/storage/upkeep/ownership.ts";
import { sha256 } from "./bucket-contract.ts";
import { openDirectoryBucket } from "./directory-bucket.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { tenant } from "./two-tenants.ts";

const HOUR_MS = 3_600_000;
/** Longer than a suspicion takes to be confirmed. */
export const OLD_MS = 3 * HOUR_MS;

type Wanted = {
  tenantId?: TenantId;
  deliveryId?: string | undefined;
  kind?: ArtifactKind;
  attempt?: number;
  bytes?: string | Buffer;
  ageMs?: number;
};

export type Stored = Awaited<ReturnType<typeof openStored>>;
export type KeptArtifact = Awaited<ReturnType<Stored["store"]>>;

/** A database of the test file's own, and a bucket for each of its tests, which `use` is given. */
export function eachStored(use: (stored: Stored, databaseUrl: string) => void): void {
  let database: TestDatabase;
  let stored: Stored;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    stored = await openStored(database.pool);
    use(stored, database.url);
  });
  afterEach(() => stored.close());
}

/** A bucket of this installation, empty. Its links are answered as they must be, by nobody. */
export async function openStored(db: Pool) {
  const opened = await openDirectoryBucket({ name: `folder-${randomUUID()}` });
  const { bucket, root } = opened;
  assert.equal(await checkOwner({ db, bucket }), null);
  const placeOf = (key: string) => join(root, "objects", key);

  async function put(key: string, { bytes = key, ageMs = OLD_MS }: Wanted) {
    const content = Buffer.from(bytes);
    const open = () => Readable.from([content]);
    const stored = await bucket.put({ key, size: content.length, sha256: sha256(content), open });
    assert.ok(stored.code === "stored");
    await age(placeOf(key), ageMs);
    return stored;
  }

  /** `isRecorded`: the row knows of the upload. */
  async function store({
    state = "available",
    isHeld = false,
    isRecorded = true,
    ...wanted
  }: Wanted & { state?: ObjectState; isHeld?: boolean; isRecorded?: boolean } = {}) {
    const { tenantId = tenant("acme"), kind = "request_body", attempt = 1, ageMs = OLD_MS } = wanted;
    const { deliveryId = newDeliveryId() } = wanted;
    const content = Buffer.from(wanted.bytes ?? randomUUID());
    const facts = { size: content.length, sha256: sha256(content) };
    const id = randomUUID();
    const row = await insertPendingObject(db, {
      tenantId,
      id,
      deliveryId,
      attempt,
      kind,
      bucket: bucket.name,
      ...facts,
    });
    assert.ok(row !== null);
    const { versionId, etag } = await put(row.key, { ...wanted, bytes: content });
    if (isRecorded) assert.ok(await recordUpload(db, tenantId, row, { versionId, etag }));
    await db.query(
      `UPDATE postern.stored_objects SET state = $2, hold = $3, state_since = now() - $4 * interval '1 ms',
          available_at = CASE WHEN $2 <> 'pending' THEN now() - $4 * interval '1 ms' END,
          deadline = CASE WHEN $2 <> 'pending' THEN now() + interval '1 day' END
        WHERE id = $1`,
      [id, state, isHeld, ageMs],
    );
    return { id, tenantId, deliveryId, key: row.key, place: placeOf(row.key), versionId };
  }

  /** An object that no row speaks of. Its delivery's id is not one that Postern makes, unless it is given. */
  async function orphan(wanted: Wanted = {}) {
    const { tenantId = tenant("acme"), deliveryId = randomUUID(), attempt = 1 } = wanted;
    const { kind = "request_body" } = wanted;
    const owner = storageTenantId(tenantId);
    const key = buildObjectKey({ tenant_id: owner, delivery_id: deliveryId, attempt, kind });
    const { versionId } = await put(key, wanted);
    return { key, place: placeOf(key), versionId };
  }

  /** As if an earlier pass had found it so. */
  async function suspect({ key }: { key: string }, found: MarkClass, ageMs = OLD_MS): Promise<void> {
    await db.query(
      `INSERT INTO postern.storage_marks (bucket, key, class, first_seen_at, run_id)
        VALUES ($1, $2, $3, now() - $4 * interval '1 ms', gen_random_uuid())`,
      [bucket.name, key, found, ageMs],
    );
  }

  async function rowOf({ id }: { id: string }) {
    const { rows } = await db.query("SELECT * FROM postern.stored_objects WHERE id = $1", [id]);
    return rows[0] ?? null;
  }

  async function stateOf(artifact: { id: string }): Promise<string | null> {
    return (await rowOf(artifact))?.state ?? null;
  }

  /** Another installation's mark in the bucket. Answers that installation's id. */
  async function takeOver(generation = 9, installation = randomUUID()): Promise<string> {
    await writeFile(join(root, ownerKey(generation)), JSON.stringify({ installation, generation }));
    return installation;
  }

  return {
    db,
    bucket,
    root,
    placeOf,
    services: { db, bucket, probes: GOOD_LINKS, planDays: 30 },
    store,
    orphan,
    suspect,
    overwrite,
    lose: ({ place }: { place: string }): Promise<void> => rm(place),
    rowOf,
    stateOf,
    takeOver,
    close: () => opened.close(),
  };
}

/** Other bytes in its place, as old as what was there. */
async function overwrite({ place }: { place: string }, bytes: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, bytes);
  await age(place, OLD_MS);
}

/** In whole seconds, so that the store tells exactly that time. */
async function age(place: string, ageMs: number): Promise<void> {
  const atS = Math.floor(((await stat(place)).mtimeMs - ageMs) / 1000);
  await utimes(place, atS, atS);
}

/** Ids of deliveries in the order of their keys. */
export function sortedIds(count: number): string[] {
  return Array.from({ length: count }, () => newDeliveryId()).toSorted();
}

/** The same bucket, whose lists are cut after so many. */
export function inPages(bucket: Bucket, size: number): Bucket {
  return { ...bucket, list: (page) => bucket.list({ ...page, limit: Math.min(page.limit, size) }) };
}

export function answering(
  statuses: Partial<Record<string, number>> = {},
): Awaited<ReturnType<LinkProbes["run"]>> {
  return probeName.options.map((probe) => ({ probe, status: statuses[probe] ?? REQUIRED_PROBES[probe] }));
}

const GOOD_LINKS: LinkProbes = { run: async () => answering(), sample: async () => answering() };

/** What a store says that is away. */
export function away(): Promise<never> {
  return Promise.reject(new StoreUnavailableError("the store is away"));
}

/** Something else that is wrong. */
export function slip(): Promise<never> {
  return Promise.reject(new TypeError("a slip"));
}
