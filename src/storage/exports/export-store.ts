/** The rows of exports. */
import * as z from "zod";
import type { Db } from "../../database/pool.ts";
import type { EndpointId, ExportId, TenantId } from "../../shared/id.ts";
import type { ObjectState } from "../rules/stored-object.ts";
import {
  stagedPart,
  type ExportFilter,
  type ExportStatus,
  type ExportWithArchive,
  type LeasedExport,
  type LogExport,
  type LogPosition,
  type StagedPart,
} from "./log-export.ts";

type ExportRow = {
  tenant_id: TenantId;
  id: ExportId;
  from_at: Date;
  to_at: Date;
  endpoint_id: EndpointId | null;
  event_type: string | null;
  delivery_status: LogExport["deliveryStatus"];
  formats: LogExport["formats"];
  status: ExportStatus;
  attempt: number;
  rows_total: number | null;
  rows_done: number;
  bytes: number;
  object_id: string | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
};

type ArchiveColumns = {
  archive_state: ObjectState | null;
  archive_deadline: Date | null;
  archive_hold: boolean | null;
};

type LeasedRow = ExportRow & {
  lease_owner: string;
  fruitless_runs: number;
  after_endpoint_id: LogPosition["endpointId"] | null;
  after_delivery_id: LogPosition["deliveryId"] | null;
  parts: unknown;
};

const COLUMNS = /* sql */ `tenant_id, id, from_at, to_at, endpoint_id, event_type, delivery_status, formats, status,
  attempt, rows_total, rows_done, bytes, object_id, error, created_at, updated_at`;

/** Exports with what is known of their archives: nothing before there is one, and nothing when its row is gone. */
const WITH_ARCHIVE = /* sql */ `SELECT ${COLUMNS}, archive_state, archive_deadline, archive_hold
  FROM postern.storage_exports e LEFT JOIN LATERAL (
    SELECT state AS archive_state, deadline AS archive_deadline, hold AS archive_hold
    FROM postern.stored_objects WHERE tenant_id = e.tenant_id AND id = e.object_id) archive ON true`;

export type NewExport = ExportFilter &
  Pick<LogExport, "tenantId" | "id" | "from" | "to" | "formats"> & {
    /** The subject of the session that asks. */
    requestedBy: string;
  };

/** Makes concurrent requests of one tenant wait for each other, and counts its unfinished exports. Until the transaction ends. */
export async function lockUnfinishedExports(db: Db, tenantId: TenantId): Promise<number> {
  await db.query(/* sql */ `SELECT pg_advisory_xact_lock(hashtextextended('postern.exports ' || $1, 0))`, [
    tenantId,
  ]);
  const { rows } = await db.query<{ count: number }>(
    /* sql */ `SELECT count(*)::int AS count FROM postern.storage_exports
      WHERE tenant_id = $1 AND status IN ('queued', 'running')`,
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

/** False where the tenant never had the endpoint; a deleted one still has its log. */
export async function insertExport(db: Db, request: NewExport): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `INSERT INTO postern.storage_exports
        (tenant_id, id, requested_by, from_at, to_at, endpoint_id, event_type, delivery_status, formats)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::text[]
      WHERE $6::uuid IS NULL OR EXISTS (SELECT FROM postern.endpoints e WHERE e.tenant_id = $1 AND e.id = $6)`,
    [
      request.tenantId,
      request.id,
      request.requestedBy,
      request.from,
      request.to,
      request.endpointId,
      request.eventType,
      request.deliveryStatus,
      request.formats,
    ],
  );
  return rowCount === 1;
}

/**
 * An archive that was found in a bucket, as if its export had just become ready. One that is known already
 * stays, also where it is about to be forgotten as one without an archive: see forget_old_storage.
 */
export async function insertAdoptedExport(
  db: Db,
  archive: Omit<NewExport, "id" | "requestedBy"> & {
    exportId: ExportId;
    deliveries: number;
    objectId: string;
    attempt: number;
    bytes: number;
  },
): Promise<void> {
  await db.query(/* sql */ `SELECT pg_advisory_xact_lock_shared(hashtext('postern.forget_exports'))`);
  await db.query(
    /* sql */ `INSERT INTO postern.storage_exports
        (tenant_id, id, requested_by, from_at, to_at, endpoint_id, event_type, delivery_status, formats,
          status, attempt, rows_total, rows_done, bytes, object_id)
      VALUES ($1, $2, '', $3, $4, $5, $6, $7, $8, 'ready', $9, $10, $10, $11, $12)
      ON CONFLICT (id) DO NOTHING`,
    [
      archive.tenantId,
      archive.exportId,
      archive.from,
      archive.to,
      archive.endpointId,
      archive.eventType,
      archive.deliveryStatus,
      archive.formats,
      archive.attempt,
      archive.deliveries,
      archive.bytes,
      archive.objectId,
    ],
  );
}

export async function findExport(
  db: Db,
  tenantId: TenantId,
  id: ExportId,
): Promise<ExportWithArchive | null> {
  const { rows } = await db.query<ExportRow & ArchiveColumns>(
    /* sql */ `${WITH_ARCHIVE} WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return rows[0] === undefined ? null : withArchive(rows[0]);
}

/** Newest first; `before` is the last of the page before. */
export async function listExports(
  db: Db,
  tenantId: TenantId,
  page: { before: ExportId | null; limit: number },
): Promise<ExportWithArchive[]> {
  const { rows } = await db.query<ExportRow & ArchiveColumns>(
    /* sql */ `${WITH_ARCHIVE}
      WHERE tenant_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [tenantId, page.before, page.limit],
  );
  return rows.map(withArchive);
}

/**
 * Leases an unleased unfinished export; null if there is none. Tenants take turns: it is
 * the oldest one of the tenant whose exports were worked on longest ago.
 */
export async function claimExport(db: Db, leaseOwner: string, leaseMs: number): Promise<LeasedExport | null> {
  const { rows } = await db.query<LeasedRow>(
    /* sql */ `UPDATE postern.storage_exports SET status = 'running', lease_owner = $1,
        lease_until = now() + $2 * interval '1 ms', fruitless_runs = fruitless_runs + 1, updated_at = now()
      WHERE id = (
        SELECT id FROM postern.storage_exports e
        WHERE status IN ('queued', 'running') AND (lease_until IS NULL OR lease_until <= now())
        ORDER BY (
          SELECT max(updated_at) FROM postern.storage_exports begun
          WHERE begun.tenant_id = e.tenant_id AND begun.status <> 'queued'
        ) NULLS FIRST, created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING ${COLUMNS}, lease_owner, fruitless_runs, after_endpoint_id, after_delivery_id, parts`,
    [leaseOwner, leaseMs],
  );
  return rows[0] === undefined ? null : toLeased(rows[0]);
}

type Lease = Pick<LeasedExport, "tenantId" | "id" | "leaseOwner">;

/** Every change of a run is fenced by its lease; false where that is another's by now. */
async function updateLeased(
  db: Db,
  lease: Lease,
  change: { set: string; values: unknown[] },
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.storage_exports SET ${change.set}
      WHERE tenant_id = $1 AND id = $2 AND lease_owner = $3`,
    [lease.tenantId, lease.id, lease.leaseOwner, ...change.values],
  );
  return rowCount === 1;
}

/** False where the lease is no longer this one's. */
export async function renewExport(db: Db, run: Lease, leaseMs: number): Promise<boolean> {
  return updateLeased(db, run, {
    set: /* sql */ `lease_until = now() + $4 * interval '1 ms'`,
    values: [leaseMs],
  });
}

/** Begins anew: what earlier runs staged does not count. False where the lease was lost. */
export async function beginRun(db: Db, run: Lease, rowsTotal: number): Promise<boolean> {
  return updateLeased(db, run, {
    set: /* sql */ `attempt = attempt + 1, rows_total = $4, rows_done = 0, bytes = 0,
      after_endpoint_id = NULL, after_delivery_id = NULL, parts = '[]', updated_at = now()`,
    values: [rowsTotal],
  });
}

/** Adds a staged part and moves the position behind it (null: where it was). False where the lease was lost. */
export async function recordPart(
  db: Db,
  run: Lease,
  { part, after, leaseMs }: { part: StagedPart; after: LogPosition | null; leaseMs: number },
): Promise<boolean> {
  return updateLeased(db, run, {
    set: /* sql */ `parts = parts || $4::jsonb, rows_done = rows_done + $5, bytes = bytes + $6,
      after_endpoint_id = coalesce($7, after_endpoint_id), after_delivery_id = coalesce($8, after_delivery_id),
      fruitless_runs = 1, lease_until = now() + $9 * interval '1 ms', updated_at = now()`,
    values: [
      JSON.stringify([part]),
      part.rows,
      part.files.reduce((sum, file) => sum + file.compressed_size, 0),
      after?.endpointId,
      after?.deliveryId,
      leaseMs,
    ],
  });
}

/**
 * Gives the lease back. `delayMs` keeps others from claiming it so long; a run
 * that was only interrupted (`isFruitless` false) counts as none. False where
 * the lease was lost.
 */
export async function releaseExport(
  db: Db,
  run: Lease,
  { delayMs, isFruitless }: { delayMs: number; isFruitless: boolean },
): Promise<boolean> {
  return updateLeased(db, run, {
    // The new owner is no worker. If this statement is tried again because its answer was lost, it finds the
    // lease gone, and the run is not subtracted twice.
    set: /* sql */ `lease_owner = gen_random_uuid(), lease_until = now() + $4 * interval '1 ms',
      fruitless_runs = fruitless_runs - CASE WHEN $5 THEN 0 ELSE 1 END`,
    values: [delayMs, isFruitless],
  });
}

/** The export is over: with an object, or with a text that says why not. False where the lease was lost. */
export async function finishExport(
  db: Db,
  run: Lease,
  end: { objectId: string; bytes: number } | { error: string },
): Promise<boolean> {
  return updateLeased(db, run, {
    set: /* sql */ `status = $4, object_id = $5, bytes = coalesce($6, bytes), error = $7,
      parts = '[]', lease_owner = NULL, lease_until = NULL, updated_at = now()`,
    values: "error" in end ? ["failed", null, null, end.error] : ["ready", end.objectId, end.bytes, null],
  });
}

/** Which of these exports of all tenants are unfinished: their staged files are still needed. */
export async function listUnfinishedExports(db: Db, ids: readonly ExportId[]): Promise<Set<ExportId>> {
  const { rows } = await db.query<{ id: ExportId }>(
    /* sql */ `SELECT id FROM postern.storage_exports WHERE id = ANY ($1::uuid[]) AND status IN ('queued', 'running')`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The number of the newest run of those of the ids, of all tenants, that are exports. */
export async function readAttempts(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; attempt: number }>(
    /* sql */ `SELECT id, attempt FROM postern.storage_exports WHERE id = ANY ($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}

function toExport(row: ExportRow): LogExport {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    from: row.from_at,
    to: row.to_at,
    endpointId: row.endpoint_id,
    eventType: row.event_type,
    deliveryStatus: row.delivery_status,
    formats: row.formats,
    status: row.status,
    attempt: row.attempt,
    rowsTotal: row.rows_total,
    rowsDone: row.rows_done,
    bytes: row.bytes,
    objectId: row.object_id,
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function withArchive(row: ExportRow & ArchiveColumns): ExportWithArchive {
  const { archive_state: state, archive_deadline: deadline, archive_hold: hold } = row;
  const archive =
    state === null ? null : { state, deadline: deadline?.toISOString() ?? null, hold: hold === true };
  return { ...toExport(row), archive };
}

function toLeased(row: LeasedRow): LeasedExport {
  const { after_endpoint_id: endpointId, after_delivery_id: deliveryId } = row;
  return {
    ...toExport(row),
    leaseOwner: row.lease_owner,
    fruitlessRuns: row.fruitless_runs,
    after: endpointId === null || deliveryId === null ? null : { endpointId, deliveryId },
    parts: z.array(stagedPart).parse(row.parts),
  };
}
