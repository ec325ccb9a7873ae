/** A bucket in a folder of its own, and artifacts in it. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Db } from "../../src/database/pool.ts";
import { newDeliveryId, type TenantId } from "../../src/shared/id.ts";
import type { Bucket, StoredVersion } from "../../src/storage/bytes/bucket.ts";
import { makeDirectoryBucket } from "../../src/storage/bytes/directory-bucket.ts";
import { makeLinkSigner } from "../../src/storage/bytes/file-links.ts";
import { insertPendingObject, recordUpload } from "../../src/storage/rows/stored-object-store.ts";
import { sha256 } from "./bucket-contract.ts";

export type DirectoryBucket = { bucket: Bucket; root: string; close(): Promise<void> };

/** `scheme` of its links, asked for at each. */
export async function openDirectoryBucket({
  name,
  scheme = () => "https",
}: { name?: string; scheme?: () => "https" | "http" } = {}): Promise<DirectoryBucket> {
  const root = await mkdtemp(join(tmpdir(), "postern-test-"));
  await mkdir(join(root, "objects"));
  const bucket = makeDirectoryBucket({
    root,
    ...(name === undefined ? {} : { name }),
    signer: makeLinkSigner([randomBytes(32)]),
    endpoint: () => ({ scheme: scheme(), host: "postern.example", path_prefix: "/files" }),
  });
  return { bucket, root, close: () => rm(root, { recursive: true, force: true }) };
}

/** A request body whose bytes are in the bucket, and its row, which is pending. */
export async function uploadArtifact(
  db: Db,
  bucket: Bucket,
  { tenantId, bytes }: { tenantId: TenantId; bytes: Buffer },
): Promise<StoredVersion & { id: string }> {
  const facts = { size: bytes.length, sha256: sha256(bytes) };
  const of = { tenantId, id: randomUUID(), deliveryId: newDeliveryId(), attempt: 1 };
  const row = await insertPendingObject(db, { ...of, ...facts, kind: "request_body", bucket: bucket.name });
  assert.ok(row !== null);
  const stored = await bucket.put({ key: row.key, ...facts, open: () => Readable.from([bytes]) });
  assert.ok(stored.code === "stored");
  await recordUpload(db, tenantId, row, stored);
  return { id: row.id, key: row.key, versionId: stored.versionId };
}
