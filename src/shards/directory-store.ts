/** Where tenants live: the directory in the first shard, and each shard's own rows. */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";

export type Home = { shard: string; version: number };

/** The homes of those of these tenants that have one. */
export async function readHomes(db: Db, tenantIds: readonly TenantId[]): Promise<Map<TenantId, Home>> {
  const { rows } = await db.query<Home & { tenantId: TenantId }>({
    name: "read-homes",
    text: /* sql */ `SELECT home.tenant_id AS "tenantId", home.shard, home.version
      FROM unnest($1::text[]) AS asked (tenant_id) CROSS JOIN LATERAL (
        SELECT tenant_id, shard, version FROM postern.shard_directory WHERE tenant_id = asked.tenant_id OFFSET 0
      ) AS home`,
    values: [tenantIds],
  });
  return new Map(rows.map(({ tenantId, shard, version }) => [tenantId, { shard, version }]));
}

/**
 * Gives tenants a home that have none. One that has rows in this database, the
 * first shard, was here before there were shards, and stays.
 */
export async function placeTenants(
  db: Db,
  first: string,
  places: readonly { tenantId: TenantId; shard: string }[],
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.shard_directory (tenant_id, shard)
      SELECT tenant_id, CASE WHEN postern.lives_here(tenant_id) THEN $3 ELSE shard END
      -- In one order everywhere: two processes that place the same tenants never wait crosswise.
      FROM unnest($1::text[], $2::text[]) AS given (tenant_id, shard) ORDER BY tenant_id
      ON CONFLICT DO NOTHING`,
    [places.map(({ tenantId }) => tenantId), places.map(({ shard }) => shard), first],
  );
}

/** In the shard itself: the tenants were placed here, and have not been moved since. Only where it is that shard. */
export async function settleTenants(db: Db, shard: string, tenantIds: readonly TenantId[]): Promise<void> {
  await db.query({
    name: "settle-tenants",
    text: /* sql */ `INSERT INTO postern.shard_tenants (tenant_id, version)
      SELECT tenant_id, 1 FROM unnest($1::text[]) AS given (tenant_id)
      WHERE EXISTS (SELECT FROM postern.shard WHERE name = $2) ORDER BY tenant_id ON CONFLICT DO NOTHING`,
    values: [tenantIds, shard],
  });
}

/** In the shard itself: who lives here by its own rows, by their ids, behind `after`. */
export async function readResidents(
  db: Db,
  after: string,
  most: number,
): Promise<{ tenantId: TenantId; version: number }[]> {
  const { rows } = await db.query<{ tenantId: TenantId; version: number }>(
    /* sql */ `SELECT tenant_id AS "tenantId", version FROM postern.shard_tenants
      WHERE tenant_id > $1 AND NOT fenced ORDER BY tenant_id LIMIT $2`,
    [after, most],
  );
  return rows;
}

export type KnownMarks = { tenantId: TenantId; version: number; moving: boolean; fenced: boolean };

/** In the shard itself: the marks that moves have set, of those under way as well as of those that are over. */
export async function readMarksOfMoves(db: Db, after: string, most: number): Promise<KnownMarks[]> {
  const { rows } = await db.query<KnownMarks>(
    /* sql */ `SELECT tenant_id AS "tenantId", version, moving, fenced FROM postern.shard_tenants
      WHERE tenant_id > $1 AND (moving OR fenced) ORDER BY tenant_id LIMIT $2`,
    [after, most],
  );
  return rows;
}

/** In the directory: who lives in the shard since a move that has ended, by their ids, behind `after`. */
export async function readMovedTo(
  directory: Db,
  shard: string,
  { after, most }: { after: string; most: number },
): Promise<{ tenantId: TenantId; version: number }[]> {
  const { rows } = await directory.query<{ tenantId: TenantId; version: number }>(
    /* sql */ `SELECT tenant_id AS "tenantId", version FROM postern.shard_directory home
      WHERE tenant_id > $2 AND shard = $1 AND version > 1
        AND NOT EXISTS (SELECT FROM postern.tenant_moves move WHERE move.tenant_id = home.tenant_id)
      ORDER BY tenant_id LIMIT $3`,
    [shard, after, most],
  );
  return rows;
}

/** In the shard itself: up to which version of its home it has let in each of these tenants. A fence is of one that is to come, or is over. */
export async function readKnownVersions(
  db: Db,
  tenantIds: readonly TenantId[],
): Promise<Map<TenantId, number>> {
  const { rows } = await db.query<{ tenantId: TenantId; version: number }>(
    /* sql */ `SELECT tenant_id AS "tenantId", version - fenced::int AS version
      FROM postern.shard_tenants WHERE tenant_id = ANY ($1::text[])`,
    [tenantIds],
  );
  return new Map(rows.map(({ tenantId, version }) => [tenantId, version]));
}

/** Whether a move of the tenant is under way, or was left half-way. */
export async function isBeingMoved(directory: Db, tenantId: TenantId): Promise<boolean> {
  const { rowCount } = await directory.query(
    /* sql */ `SELECT FROM postern.tenant_moves WHERE tenant_id = $1`,
    [tenantId],
  );
  return rowCount === 1;
}

/** The moves that are under way, or were left half-way, the oldest first. */
export async function readMoves(
  directory: Db,
): Promise<{ tenantId: TenantId; source: string; target: string }[]> {
  const { rows } = await directory.query<{ tenantId: TenantId; source: string; target: string }>(
    /* sql */ `SELECT tenant_id AS "tenantId", source, target FROM postern.tenant_moves ORDER BY started_at, tenant_id`,
  );
  return rows;
}
