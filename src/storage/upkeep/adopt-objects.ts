/**
 * Makes rows for objects that have none, after the database was lost or
 * restored to an earlier time. What a row says comes from the object: its key
 * names tenant, delivery, attempt and kind, the store knows size, digest and
 * time, and an archive's manifest names its export and its tenant. A key
 * holds the tenant only as a digest, so the tenants must be known otherwise:
 * from the database, from an archive, or from the operator.
 *
 * Each object passes the checks that an upload passes before it is available.
 */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Db, Pool } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { makeFolders } from "../../shared/make-folders.ts";
import { NOT_UPLOADED, StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { insertAdoptedExport } from "../exports/export-store.ts";
import { readManifest, type ArchiveManifest } from "../exports/read-manifest.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import { decideOpening, openObject, OpeningRefusedError } from "../library/upload-object.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { insertPendingObject, readDatabaseClock, recordUpload } from "../rows/stored-object-store.ts";
import { readTenantSettings } from "../rows/tenant-settings-store.ts";
import { ARTIFACT_FORMATS, parseObjectKey, type KeyParts } from "../rules/object-key.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { findRowIdentities, listKnownTenants } from "./owner-store.ts";
import { digestOfVersion } from "./trash.ts";

const LISTED_AT_ONCE = 500;
/** Of a row that was inserted and whose upload was recorded, as this one is when it is opened. */
const REVISION_WHEN_OPENED = 2;

export type AdoptServices = {
  db: Pool;
  tenants: TenantPool;
  bucket: Bucket;
  probes: LinkProbes;
  planDays: number;
};

export type AdoptOptions = {
  /** Besides the database's own. */
  tenants: readonly TenantId[];
  isDryRun: boolean;
  /** For one archive at a time. */
  folder: string;
};

export type Adoption = { key: string } & (
  | { outcome: "adopted"; tenantId: TenantId }
  | { outcome: "left"; reason: string }
);

/** Looks at every object without a row. Throws StoreUnavailableError where the bucket cannot be listed. */
export async function* adoptObjects(
  services: AdoptServices,
  options: AdoptOptions,
): AsyncGenerator<Adoption> {
  const known = new Map(
    [...(await listKnownTenants(services.db)), ...options.tenants].map((tenant) => [
      storageTenantId(tenant),
      tenant,
    ]),
  );
  const later: Rowless[] = [];
  await makeFolders(options.folder);
  try {
    for await (const rowless of eachRowless(services)) {
      // An archive may name the tenant of objects before it.
      if (rowless.parts.kind !== "export" && !known.has(rowless.parts.tenant_id)) later.push(rowless);
      else yield await adopt({ services, options, known }, rowless);
    }
    for (const rowless of later) yield await adopt({ services, options, known }, rowless);
  } finally {
    await rm(options.folder, { recursive: true, force: true });
  }
}

type Rowless = { key: string; parts: KeyParts };
type Adopting = { services: AdoptServices; options: AdoptOptions; known: Map<string, TenantId> };

async function* eachRowless({ db, bucket }: AdoptServices): AsyncGenerator<Rowless> {
  for (let after: string | null = null; ;) {
    const { objects, isTruncated } = await bucket.list({ after, limit: LISTED_AT_ONCE });
    const keys = objects.map(({ key }) => key);
    const taken = new Set((await findRowIdentities(db, bucket.name, keys)).map(({ key }) => key));
    for (const key of keys) {
      const { parts } = parseObjectKey(key);
      if (parts !== null && !taken.has(key)) yield { key, parts };
    }
    after = keys.at(-1) ?? null;
    if (!isTruncated || after === null) return;
  }
}

async function adopt(adopting: Adopting, { key, parts }: Rowless): Promise<Adoption> {
  const { services, options, known } = adopting;
  const left = (reason: string): Adoption => ({ key, outcome: "left", reason });
  try {
    const object = await describe(services.bucket, key, parts);
    if (object === null) return left("it has changed, or has no version");
    let archive: ArchiveManifest | null = null;
    if (parts.kind === "export") {
      const read = await readArchive(services.bucket, object, options.folder);
      if ("fault" in read) return left(read.fault);
      if (read.exportId !== parts.delivery_id || storageTenantId(read.tenantId) !== parts.tenant_id)
        return left("its manifest is another archive's");
      archive = read;
      known.set(parts.tenant_id, read.tenantId);
    }
    const tenantId = known.get(parts.tenant_id);
    if (tenantId === undefined) return left("its tenant is unknown: name the tenant by --tenants");
    if (!options.isDryRun && !(await makeRow(services, { tenantId, object, archive })))
      return left("it has a row by now");
    return { key, outcome: "adopted", tenantId };
  } catch (error) {
    if (error instanceof OpeningRefusedError || error instanceof StoreUnavailableError)
      return left(error.message);
    throw error;
  }
}

/** What its row will be, and when it was stored. Null where it is gone. */
async function describe(bucket: Bucket, key: string, parts: KeyParts): Promise<StoredObject | null> {
  const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
  if (!head.found || head.version_id === null) return null;
  const { size, etag, version_id, last_modified } = head;
  return {
    ...parts,
    id: randomUUID(),
    bucket: bucket.name,
    key,
    version_id,
    size,
    etag,
    sha256: head.sha256 ?? (await digestOfVersion(bucket, { key, versionId: version_id })),
    content_type: ARTIFACT_FORMATS[parts.kind].contentType,
    state: "pending",
    state_since: last_modified,
    available_at: null,
    deadline: null,
    hold: false,
    revision: REVISION_WHEN_OPENED,
  };
}

async function readArchive(
  bucket: Bucket,
  { key, version_id: versionId }: StoredObject,
  folder: string,
): Promise<ArchiveManifest | { fault: string }> {
  const opened = await bucket.get({ key, versionId });
  if (!opened.found) return { fault: "it is gone" };
  const place = join(folder, `${randomUUID()}.zip`);
  try {
    await pipeline(opened.body, createWriteStream(place, { flags: "wx", mode: 0o600 }));
    return await readManifest(place);
  } finally {
    await rm(place, { force: true });
  }
}

type Adopted = { tenantId: TenantId; object: StoredObject; archive: ArchiveManifest | null };

/** All of it or nothing. False if the row exists already. */
async function makeRow(services: AdoptServices, { tenantId, object, archive }: Adopted): Promise<boolean> {
  const { bucket, probes, planDays } = services;
  const db = services.tenants.of(tenantId);
  const now = await readDatabaseClock(db);
  const { artifactDays } = await readTenantSettings(db, tenantId);
  const { id, tenant_id, delivery_id: deliveryId, attempt, kind, key, size, sha256, etag } = object;
  const opening = await decideOpening(
    bucket,
    {
      delivery: { id: deliveryId, tenant_id, latest_attempt: attempt },
      object,
      archive_code: archive === null ? null : "VALID",
      probes: await probes.sample(object, now),
      // Its days began when it was stored.
      now: object.state_since,
    },
    { plan: planDays, tenant: artifactDays },
  );
  return db.transaction(async (transaction: Db) => {
    const wanted = { tenantId, id, deliveryId, attempt, kind, bucket: bucket.name, size, sha256 };
    const row = await insertPendingObject(transaction, wanted);
    if (row === null) return false;
    if (row.key !== key || row.version_id !== NOT_UPLOADED) throw new Error("a new row of another key");
    await recordUpload(transaction, tenantId, row, { versionId: object.version_id, etag });
    if (archive !== null)
      await insertAdoptedExport(transaction, { ...archive, objectId: id, attempt, bytes: size });
    if (!(await openObject(transaction, opening, now))) throw new Error("a new row was not opened");
    return true;
  });
}
