/** The rows of stored artifacts: intent, whatever the bucket holds. */
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { NOT_UPLOADED } from "../bytes/bucket.ts";
import { ARTIFACT_FORMATS, buildObjectKey, type ArtifactKind } from "../rules/object-key.ts";
import type { LibraryCursor } from "../rules/project-library.ts";
import type { ObjectState, StoredObject } from "../rules/stored-object.ts";
import type { AuthorizeAnswer } from "../rules/ports.ts";
import { storageTenantId } from "./storage-ids.ts";

type StoredObjectRow = {
  tenant_id: TenantId;
  id: string;
  storage_tenant_id: string;
  delivery_id: string;
  attempt: number;
  kind: ArtifactKind;
  bucket: string;
  key: string;
  version_id: string | null;
  size: number;
  etag: string | null;
  sha256: string;
  content_type: string;
  state: ObjectState;
  state_since: Date;
  available_at: Date | null;
  deadline: Date | null;
  hold: boolean;
  revision: number;
};

const COLUMNS = /* sql */ `o.tenant_id, o.id, o.storage_tenant_id, o.delivery_id, o.attempt, o.kind, o.bucket, o.key,
  o.version_id, o.size, o.etag, o.sha256, o.content_type, o.state, o.state_since, o.available_at, o.deadline,
  o.hold, o.revision`;

/** The database's clock, the only one that deadlines and marks are judged by. */
export async function readDatabaseClock(db: Db): Promise<string> {
  const { rows } = await db.query<{ now: Date }>(
    /* sql */ `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database does not tell the time");
  return row.now.toISOString();
}

export type NewStoredObject = {
  tenantId: TenantId;
  id: string;
  /** For an export the export's own id. */
  deliveryId: string;
  /** 1 to 999. */
  attempt: number;
  kind: ArtifactKind;
  bucket: string;
  /** Bytes. */
  size: number;
  /** Lower-case hex. */
  sha256: string;
};

/**
 * What an upload is made for, which an erasure of the tenant takes before it looks for uploads under way. Its lock
 * makes the two wait for each other: no object comes behind the erasure of what it is made for.
 */
const CAUSES = {
  body: /* sql */ `FROM (SELECT FROM postern.bodies_to_keep
        WHERE tenant_id = $1 AND delivery_id = $4 AND kind = $6 FOR KEY SHARE) AS cause`,
  export: /* sql */ `FROM (SELECT FROM postern.storage_exports WHERE tenant_id = $1 AND id = $4 FOR KEY SHARE) AS cause`,
  none: "",
};

/**
 * Records that an object is about to be uploaded; this comes before the first
 * byte, so that no upload is without its row. Null where another row has the key,
 * or its cause is gone.
 */
export async function insertPendingObject(
  db: Db,
  object: NewStoredObject,
  cause: keyof typeof CAUSES = "none",
): Promise<StoredObject | null> {
  const { deliveryId, attempt, kind } = object;
  const owner = storageTenantId(object.tenantId);
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `INSERT INTO postern.stored_objects AS o
        (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key, size, sha256, content_type,
         state, state_since)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', now() ${CAUSES[cause]}
      ON CONFLICT (bucket, key) DO NOTHING
      RETURNING ${COLUMNS}`,
    [
      object.tenantId,
      object.id,
      owner,
      deliveryId,
      attempt,
      kind,
      object.bucket,
      buildObjectKey({ tenant_id: owner, delivery_id: deliveryId, attempt, kind }),
      object.size,
      object.sha256,
      ARTIFACT_FORMATS[kind].contentType,
    ],
  );
  return rows[0] === undefined ? null : toStoredObject(rows[0]);
}

/**
 * Records the store's answer to the upload of a pending row. Null where the row
 * has changed since the caller read it.
 */
export async function recordUpload(
  db: Db,
  tenantId: TenantId,
  seen: Pick<StoredObject, "id" | "revision">,
  upload: { versionId: string; etag: string },
): Promise<StoredObject | null> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `UPDATE postern.stored_objects o
      SET version_id = $4, etag = $5, revision = o.revision + 1
      WHERE o.tenant_id = $1 AND o.id = $2 AND o.revision = $3 AND o.state = 'pending'
      RETURNING ${COLUMNS}`,
    [tenantId, seen.id, seen.revision, upload.versionId, upload.etag],
  );
  return rows[0] === undefined ? null : toStoredObject(rows[0]);
}

/** The row that has the key of an artifact; null where none has it, or another tenant's. */
export async function findObjectByKey(
  db: Db,
  artifact: Pick<NewStoredObject, "tenantId" | "deliveryId" | "attempt" | "kind" | "bucket">,
): Promise<StoredObject | null> {
  const { tenantId, deliveryId, attempt, kind, bucket } = artifact;
  const key = buildObjectKey({
    tenant_id: storageTenantId(tenantId),
    delivery_id: deliveryId,
    attempt,
    kind,
  });
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      WHERE o.tenant_id = $1 AND o.bucket = $2 AND o.key = $3`,
    [tenantId, bucket, key],
  );
  return rows[0] === undefined ? null : toStoredObject(rows[0]);
}

export async function findStoredObject(db: Db, tenantId: TenantId, id: string): Promise<StoredObject | null> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o WHERE o.tenant_id = $1 AND o.id = $2`,
    [tenantId, id],
  );
  return rows[0] === undefined ? null : toStoredObject(rows[0]);
}

/**
 * An object of the tenant with the delivery that it belongs to. An artifact
 * outlives its delivery's row of the log, so the owner of that delivery is the
 * tenant id recorded with the object; an export is its own delivery and must exist.
 */
export async function findForDownload(
  db: Db,
  tenantId: TenantId,
  request: { objectId: string; deliveryId: string },
): Promise<AuthorizeAnswer> {
  const { rows } = await db.query<StoredObjectRow & { delivery_owner: TenantId }>(
    /* sql */ `SELECT ${COLUMNS}, CASE o.kind WHEN 'export' THEN e.tenant_id ELSE o.tenant_id END AS delivery_owner
      FROM postern.stored_objects o
      LEFT JOIN postern.storage_exports e ON o.kind = 'export' AND e.id = o.delivery_id
      WHERE o.tenant_id = $1 AND o.id = $2 AND o.delivery_id = $3 AND (o.kind <> 'export' OR e.id IS NOT NULL)`,
    [tenantId, request.objectId, request.deliveryId],
  );
  const [row] = rows;
  if (row === undefined) return { found: false };
  const delivery = { id: row.delivery_id, tenant_id: storageTenantId(row.delivery_owner) };
  return { found: true, object: toStoredObject(row), delivery };
}

/**
 * The rows of one page of a tenant's library and one more, newest first: of
 * each delivery and kind only the highest attempt that a tenant may see.
 */
export async function listLibraryRows(
  db: Db,
  tenantId: TenantId,
  page: { after: LibraryCursor | null; limit: number; kind?: ArtifactKind | undefined },
): Promise<StoredObject[]> {
  const { rows } = await db.query<StoredObjectRow>({
    name: "list-library",
    text: /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      WHERE o.tenant_id = $1 AND o.available_at IS NOT NULL AND o.state IN ('available', 'missing', 'expired')
        AND o.available_at <= coalesce($2::timestamptz, 'infinity')
        AND ($2::timestamptz IS NULL OR o.available_at < $2 OR o.id > $3)
        AND ($5::text IS NULL OR o.kind = $5)
        AND NOT EXISTS (
          SELECT FROM postern.stored_objects other
          WHERE other.tenant_id = $1 AND other.delivery_id = o.delivery_id AND other.kind = o.kind
            AND other.available_at IS NOT NULL AND other.state IN ('available', 'missing', 'expired')
            AND (other.attempt > o.attempt OR other.attempt = o.attempt AND other.id < o.id))
      ORDER BY o.available_at DESC, o.id LIMIT $4`,
    values: [tenantId, page.after?.available_at ?? null, page.after?.id ?? null, page.limit + 1, page.kind],
  });
  return rows.map(toStoredObject);
}

/**
 * Whether all of the tenant is being erased. If not, no erasure begins before the
 * transaction ends: it waits, and sees the hold that is set here.
 */
export async function isTenantErasing(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await db.query<{ isErasing: boolean }>(
    /* sql */ `SELECT postern.is_erasing($1) AS "isErasing"`,
    [tenantId],
  );
  return rows[0]?.isErasing === true;
}

/**
 * Holds an artifact whose bytes may still be there, or ends that. The revision
 * is raised, so that nothing is done which was decided before.
 */
export async function setHold(
  db: Db,
  tenantId: TenantId,
  { id, isHeld }: { id: string; isHeld: boolean },
): Promise<"changed" | "unchanged" | "absent"> {
  const { rows } = await db.query<{ changed: boolean }>(
    /* sql */ `WITH changed AS (
        UPDATE postern.stored_objects SET hold = $3, revision = revision + 1
        WHERE tenant_id = $1 AND id = $2 AND state <> 'purged' AND hold <> $3 RETURNING id)
      SELECT EXISTS (SELECT FROM changed) AS changed FROM postern.stored_objects
      WHERE tenant_id = $1 AND id = $2 AND state <> 'purged'`,
    [tenantId, id, isHeld],
  );
  const [row] = rows;
  if (row === undefined) return "absent";
  return row.changed ? "changed" : "unchanged";
}

/** What a link to a file depends on beside its signature, of any tenant: the link's own tenant is in its key. */
export async function readLinkState(
  db: Db,
  { bucket, key }: Pick<StoredObject, "bucket" | "key">,
): Promise<{ nowMs: number; isClosed: boolean }> {
  const { rows } = await db.query<{ now: Date; state: ObjectState | null }>(
    /* sql */ `SELECT clock_timestamp() AS now,
      (SELECT state FROM postern.stored_objects WHERE bucket = $1 AND key = $2) AS state`,
    [bucket, key],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database does not tell the time");
  return { nowMs: row.now.getTime(), isClosed: row.state === "expired" || row.state === "purged" };
}

/** Of the row that has the key, of any tenant; null where none has it. */
export async function findRowState(
  db: Db,
  bucket: string,
  key: string,
): Promise<Pick<StoredObject, "state" | "hold"> | null> {
  const { rows } = await db.query<Pick<StoredObject, "state" | "hold">>(
    /* sql */ `SELECT state, hold FROM postern.stored_objects WHERE bucket = $1 AND key = $2`,
    [bucket, key],
  );
  return rows[0] ?? null;
}

/** A tenant's rows that are not purged, or one of them, by id and behind `after`. */
export async function listTenantObjects(
  db: Db,
  tenantId: TenantId,
  page: { objectId: string | null; after: string | null; limit: number },
): Promise<StoredObject[]> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      WHERE o.tenant_id = $1 AND o.state <> 'purged' AND ($2::uuid IS NULL OR o.id = $2)
        AND ($3::uuid IS NULL OR o.id > $3) ORDER BY o.id LIMIT $4`,
    [tenantId, page.objectId, page.after, page.limit],
  );
  return rows.map(toStoredObject);
}

/** Rows of all tenants in a bucket, ascending by key bytes and behind `after`: what reconciling compares. */
export async function listRowsByKey(
  db: Db,
  bucket: string,
  page: { after: string | null; limit: number },
): Promise<StoredObject[]> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      WHERE o.bucket = $1 AND o.key > coalesce($2, '') ORDER BY o.key LIMIT $3`,
    [bucket, page.after, page.limit],
  );
  return rows.map(toStoredObject);
}

/**
 * Rows of all tenants that want bytes of this digest and size. Those come first
 * that have lost theirs, or are suspected to have.
 */
export async function listRowsByDigest(
  db: Db,
  bucket: string,
  wanted: { sha256: string; size: number; limit: number },
): Promise<StoredObject[]> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      LEFT JOIN postern.storage_marks m
        ON m.bucket = o.bucket AND m.key = o.key AND m.class = 'row_without_object'
      WHERE o.bucket = $1 AND o.sha256 = $2 AND o.size = $3 AND o.state IN ('pending', 'available', 'missing')
      ORDER BY o.state = 'missing' DESC, m.key IS NOT NULL DESC, o.id LIMIT $4`,
    [bucket, wanted.sha256, wanted.size, wanted.limit],
  );
  return rows.map(toStoredObject);
}

/** Records where the bytes of a row are now that had lost them; false where the row has changed meanwhile. */
export async function relinkObject(
  db: Db,
  seen: Pick<StoredObject, "id" | "revision">,
  upload: { versionId: string; etag: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.stored_objects
      SET version_id = $3, etag = $4, revision = revision + 1
      WHERE id = $1 AND revision = $2 AND state IN ('pending', 'available', 'missing')`,
    [seen.id, seen.revision, upload.versionId, upload.etag],
  );
  return rowCount === 1;
}

/** Rows of all tenants whose deadline has come and that have not expired yet, longest due first. */
export async function listDueForExpiry(db: Db, now: string, limit: number): Promise<StoredObject[]> {
  const { rows } = await db.query<StoredObjectRow>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.stored_objects o
      WHERE o.state IN ('available', 'missing') AND NOT o.hold AND o.deadline <= $1
      ORDER BY o.deadline LIMIT $2`,
    [now, limit],
  );
  return rows.map(toStoredObject);
}

function toStoredObject(row: StoredObjectRow): StoredObject {
  return {
    id: row.id,
    tenant_id: row.storage_tenant_id,
    delivery_id: row.delivery_id,
    attempt: row.attempt,
    kind: row.kind,
    bucket: row.bucket,
    key: row.key,
    version_id: row.version_id ?? NOT_UPLOADED,
    size: row.size,
    etag: row.etag ?? NOT_UPLOADED,
    sha256: row.sha256,
    content_type: row.content_type,
    state: row.state,
    state_since: row.state_since.toISOString(),
    available_at: row.available_at?.toISOString() ?? null,
    deadline: row.deadline?.toISOString() ?? null,
    hold: row.hold,
    revision: row.revision,
  };
}
