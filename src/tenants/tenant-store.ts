/** Tenants and their erasures, for the operator's backend and the workers: of all tenants. */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import type { Erasure, Tenant } from "./tenant.ts";

const ERASURE = /* sql */ `tenant_id AS "tenantId", status, rows_erased AS rows, objects_erased AS objects, trouble,
  requested_at AS "requestedAt", finished_at AS "finishedAt"`;

/** By the bytes of their ids; `after` is the last of the page before. */
export async function listTenants(
  db: Db,
  { prefix, after, limit }: { prefix: string; after: string; limit: number },
): Promise<Tenant[]> {
  const { rows } = await db.query<Tenant>(/* sql */ `SELECT * FROM postern.list_tenants($1, $2, $3)`, [
    prefix,
    after,
    limit,
  ]);
  return rows;
}

/** Rows of a tenant in each table, counted up to `most` in each part of it. */
export async function countTenantRows(
  db: Db,
  tenantId: TenantId,
  most: number,
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; count: number }>(
    /* sql */ `SELECT name, count FROM postern.count_tenant_rows($1, $2)`,
    [tenantId, most],
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/** Begins an erasure, anew where one has finished; false where one is running. */
export async function insertErasure(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `INSERT INTO postern.tenant_erasures AS e (tenant_id) VALUES ($1)
      ON CONFLICT (tenant_id) DO UPDATE SET status = 'running', rows_erased = 0, objects_erased = 0,
        trouble = NULL, lease_until = now(), requested_at = now(), finished_at = NULL
      WHERE e.status = 'finished'`,
    [tenantId],
  );
  return rowCount === 1;
}

/** Begins, once, a shard's part of an erasure that was asked for in another. Only where it is that shard. */
export async function insertErasurePart(
  db: Db,
  { tenantId, requestedAt }: ErasureRun,
  shard: { name: string; directory: string },
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.tenant_erasures AS e (tenant_id, requested_at)
      SELECT $1, $2 WHERE EXISTS (SELECT FROM postern.shard WHERE name = $3 AND directory = $4)
      ON CONFLICT (tenant_id) DO UPDATE SET status = 'running', rows_erased = 0, objects_erased = 0,
        trouble = NULL, lease_until = now(), requested_at = $2, finished_at = NULL
      WHERE e.status = 'finished' AND e.requested_at <> $2`,
    [tenantId, requestedAt, shard.name, shard.directory],
  );
}

/** Restarts an ended part if rows of the tenant came in after its end. */
export async function reopenErasurePart(
  db: Db,
  { tenantId, requestedAt }: Pick<ErasureRun, "tenantId" | "requestedAt">,
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.tenant_erasures SET status = 'running', lease_until = now(), finished_at = NULL
      WHERE tenant_id = $1 AND requested_at = $2 AND status = 'finished'
        AND EXISTS (SELECT FROM postern.count_tenant_rows($1, 1) WHERE count > 0)`,
    [tenantId, requestedAt],
  );
}

/**
 * What of the tenant's artifacts is held: how many, and the id of one. Until the
 * transaction ends no other hold can be set.
 */
export async function lockHolds(
  db: Db,
  tenantId: TenantId,
): Promise<{ count: number; first: string | null }> {
  const { rows } = await db.query<{ count: number; first: string | null }>(
    /* sql */ `SELECT held AS count, first_held AS first FROM postern.lock_holds($1)`,
    [tenantId],
  );
  return rows[0] ?? { count: 0, first: null };
}

export async function findErasure(db: Db, tenantId: TenantId): Promise<Erasure | null> {
  const { rows } = await db.query<Erasure>(
    /* sql */ `SELECT ${ERASURE} FROM postern.tenant_erasures WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}

/** An erasure that this process works on. */
export type ErasureRun = { tenantId: TenantId; leaseOwner: string; requestedAt: Date };

/** Leases the unleased running erasure that waits longest; null if there is none. */
export async function claimErasure(db: Db, leaseOwner: string, leaseMs: number): Promise<ErasureRun | null> {
  const { rows } = await db.query<ErasureRun>({
    name: "claim-erasure",
    text: /* sql */ `UPDATE postern.tenant_erasures
      SET lease_owner = $1, lease_until = now() + $2 * interval '1 ms'
      WHERE tenant_id = (
        SELECT tenant_id FROM postern.tenant_erasures WHERE status = 'running' AND lease_until <= now()
        ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING tenant_id AS "tenantId", lease_owner AS "leaseOwner", requested_at AS "requestedAt"`,
    values: [leaseOwner, leaseMs],
  });
  return rows[0] ?? null;
}

/** Locks the erasure until the transaction ends; false where it has ended, or is another worker's by now. */
export async function lockErasure(db: Db, { tenantId, leaseOwner }: ErasureRun): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.tenant_erasures
      WHERE tenant_id = $1 AND lease_owner = $2 AND status = 'running' FOR UPDATE`,
    [tenantId, leaseOwner],
  );
  return rowCount === 1;
}

/** Deletes up to `most` rows and counts them; fewer than `most` means that no more were left. */
export async function eraseTenantRows(
  db: Db,
  tenantId: TenantId,
  { most, withObjects }: { most: number; withObjects: boolean },
): Promise<number> {
  const { rows } = await db.query<{ erased: number }>(
    /* sql */ `WITH erased AS MATERIALIZED (SELECT postern.erase_tenant_rows($1, $2, $3) AS count)
      UPDATE postern.tenant_erasures e SET rows_erased = e.rows_erased + erased.count, trouble = NULL
      FROM erased WHERE e.tenant_id = $1 RETURNING erased.count AS erased`,
    [tenantId, most, withObjects],
  );
  return rows[0]?.erased ?? 0;
}

/** Whether bytes may be on their way to the bucket: of an upload that began less than `withinS` ago. */
export async function isUploading(db: Db, tenantId: TenantId, withinS: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.stored_objects
      WHERE tenant_id = $1 AND state = 'pending' AND state_since > now() - make_interval(secs => $2) LIMIT 1`,
    [tenantId, withinS],
  );
  return rowCount === 1;
}

/** Whether an event is on its way to another shard, or a worker may be storing it there. */
export async function isHandingOver(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.handovers WHERE tenant_id = $1 LIMIT 1`,
    [tenantId],
  );
  return rowCount === 1;
}

/** The buckets that the tenant's artifacts are in. */
export async function listBucketsOf(db: Db, tenantId: TenantId): Promise<string[]> {
  const { rows } = await db.query<{ bucket: string }>(
    /* sql */ `SELECT DISTINCT bucket FROM postern.stored_objects WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows.map(({ bucket }) => bucket);
}

/** Gives the lease back; others may take it after so long. */
export async function releaseErasure(
  db: Db,
  { tenantId, leaseOwner }: ErasureRun,
  how: { delayMs: number; objects: number; trouble: string | null },
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.tenant_erasures SET lease_owner = NULL, lease_until = now() + $3 * interval '1 ms',
        objects_erased = objects_erased + $4, trouble = $5
      WHERE tenant_id = $1 AND lease_owner = $2`,
    [tenantId, leaseOwner, how.delayMs, how.objects, how.trouble],
  );
}

export async function finishErasure(
  db: Db,
  { tenantId }: ErasureRun,
  elsewhere: { rows: number; objects: number },
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.tenant_erasures SET status = 'finished', finished_at = now(), lease_owner = NULL,
        rows_erased = rows_erased + $2, objects_erased = objects_erased + $3
      WHERE tenant_id = $1`,
    [tenantId, elsewhere.rows, elsewhere.objects],
  );
}
