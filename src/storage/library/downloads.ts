/** A tenant's library, and links to what is in it. */
import { randomUUID } from "node:crypto";
import { recordDone } from "../../audit/audit.ts";
import type { Caller } from "../../audit/audit-entry.ts";
import type { Db } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { Refusal, type RefusalCode } from "../../shared/refusal.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import type { AuthorizeDownloadInput } from "../rules/authorize-download.ts";
import { issueSignedUrl, MAX_SIGNED_URL_SECONDS, type SignedUrlRefusal } from "../rules/issue-signed-url.ts";
import type { ArtifactKind } from "../rules/object-key.ts";
import { projectLibrary, type LibraryCursor, type LibraryItem } from "../rules/project-library.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import type { DatabasePort } from "../rules/ports.ts";
import { storageTenantId, storageUserId } from "../rows/storage-ids.ts";
import {
  findForDownload,
  findStoredObject,
  listLibraryRows,
  readDatabaseClock,
} from "../rows/stored-object-store.ts";

export const DEFAULT_LINK_SECONDS = 300;
/** The longest life of signatures; callers may request less. */
const MAX_LINK_SECONDS = MAX_SIGNED_URL_SECONDS;

/** A user's session, as far as storage needs to know it. */
export type StorageCaller = { tenantId: TenantId; subject: string; permissions: readonly string[] };

export type LibraryPage = { items: LibraryItem[]; next: LibraryCursor | null };
export type SignedLink = { url: string; expiresAt: string };

export type Downloads = ReturnType<typeof makeDownloads>;

/** Every refusal of a link but the signer's own; bytes that are not there are not available, whatever the reason. */
const REFUSAL_OF: Readonly<Record<Exclude<SignedUrlRefusal, "SIGNER_REJECTED">, RefusalCode>> = {
  UNAUTHENTICATED: "unauthorized",
  FORBIDDEN: "forbidden",
  NOT_FOUND: "not_found",
  NOT_AVAILABLE: "not_available",
  GONE: "gone",
  NO_LIFETIME: "gone",
  OBJECT_MISSING: "not_available",
  OBJECT_MISMATCH: "not_available",
};

type DownloadServices = { tenants: TenantPool; bucket: Bucket; log: Log };
type AskedLink = { objectId: string | null; deliveryId: string; ttlSeconds: number };

export function makeDownloads(services: DownloadServices) {
  const { tenants } = services;

  async function library(
    tenantId: TenantId,
    page: { after: LibraryCursor | null; limit: number; kind?: ArtifactKind | undefined },
  ): Promise<LibraryPage> {
    const db = tenants.of(tenantId);
    return project(db, { tenantId, rows: await listLibraryRows(db, tenantId, page), ...page });
  }

  /** One artifact as the library shows it; what it hides is not found. */
  async function get(tenantId: TenantId, objectId: string | null): Promise<LibraryItem> {
    const db = tenants.of(tenantId);
    const row = objectId === null ? null : await findStoredObject(db, tenantId, objectId);
    if (row === null) throw new Refusal("not_found");
    const { items } = await project(db, { tenantId, rows: [row], after: null, limit: 1 });
    const [item] = items;
    if (item === undefined) throw new Refusal("not_found");
    return item;
  }

  return {
    library,
    get,
    issueLink: (caller: StorageCaller & Caller, asked: AskedLink) => issueLink(services, caller, asked),
  };
}

async function issueLink(
  { tenants, bucket, log }: DownloadServices,
  caller: StorageCaller & Caller,
  asked: AskedLink,
): Promise<SignedLink> {
  if (asked.objectId === null) throw new Refusal("not_found");
  const db = tenants.of(caller.tenantId);
  const now = await readDatabaseClock(db);
  const { output, mutations } = await issueSignedUrl(
    {
      caller: toOperationCaller(caller),
      object_id: asked.objectId,
      delivery_id: asked.deliveryId,
      now,
      grant_id: randomUUID(),
      ttl_seconds: asked.ttlSeconds,
      max_ttl_seconds: MAX_LINK_SECONDS,
      credential_expires_at: await bucket.credentialExpiresAt(),
      endpoint: bucket.endpoint(),
    },
    { database: databasePort(db, caller.tenantId), storage: bucket, signer: bucket },
  );
  if (output.code === "SIGNER_REJECTED") {
    log.error(
      "the signed link is invalid; without https it must lead to this machine: check PUBLIC_URL, or the endpoint in OBJECT_STORE_URL",
    );
    throw new Refusal("unavailable");
  }
  if (output.code !== "ISSUED") throw new Refusal(REFUSAL_OF[output.code]);
  const details = {
    object_id: asked.objectId,
    delivery_id: asked.deliveryId,
    expires_at: output.expires_at,
  };
  // The link is returned only once its records are stored.
  await db.transaction(async (transaction) => {
    await applyMutations(transaction, mutations, { now, bucket: null });
    await recordDone(transaction, caller, {
      action: "artifact.download_granted",
      endpointId: null,
      details,
    });
  });
  return { url: output.url, expiresAt: output.expires_at };
}

/** What the operations ask of the database, with one tenant's eyes. */
export function databasePort(db: Db, tenantId: TenantId): DatabasePort {
  return {
    authorize: ({ object_id: objectId, delivery_id: deliveryId }) =>
      findForDownload(db, tenantId, { objectId, deliveryId }),
  };
}

export function toOperationCaller(caller: StorageCaller): AuthorizeDownloadInput["caller"] {
  const { tenantId, subject, permissions } = caller;
  return {
    session_type: "user",
    user_id: storageUserId(tenantId, subject),
    tenant_id: storageTenantId(tenantId),
    permissions: [...permissions],
  };
}

async function project(
  db: Db,
  given: { tenantId: TenantId; rows: StoredObject[]; after: LibraryCursor | null; limit: number },
): Promise<LibraryPage> {
  const { output } = projectLibrary({
    tenant_id: storageTenantId(given.tenantId),
    now: await readDatabaseClock(db),
    rows: given.rows,
    after: given.after,
    limit: given.limit,
  });
  if (output.code !== "OK") throw new Error("the library's query answered rows of another tenant");
  return { items: output.items, next: output.next };
}
