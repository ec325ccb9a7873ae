/** What the database knows of its buckets: whose they are, and what was destroyed in them lately. */
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";

export type KnownBucket = {
  installationId: string;
  generation: number;
  /** The owner mark was seen or written, so it is expected from then on. */
  isMarked: boolean;
  /** Why nothing may be deleted in it; null where nothing is wrong. */
  trouble: string | null;
};

const COLUMNS = /* sql */ `installation_id AS "installationId", generation, marked_at IS NOT NULL AS "isMarked", trouble`;

/** Null for a bucket that this database never used. */
export async function readBucket(db: Db, bucket: string): Promise<KnownBucket | null> {
  const { rows } = await db.query<KnownBucket>(
    /* sql */ `SELECT ${COLUMNS} FROM postern.storage_buckets WHERE bucket = $1`,
    [bucket],
  );
  return rows[0] ?? null;
}

/** Gives the bucket a row, and this database an installation id with its first. */
export async function addBucket(db: Db, bucket: string): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.storage_buckets (bucket, installation_id)
      VALUES ($1, coalesce((SELECT installation_id FROM postern.storage_buckets LIMIT 1), gen_random_uuid()))
      ON CONFLICT (bucket) DO NOTHING`,
    [bucket],
  );
}

/** Null where another process has raised it since. */
export async function raiseGeneration(db: Db, bucket: string, from: number): Promise<number | null> {
  const { rows } = await db.query<{ generation: number }>(
    /* sql */ `UPDATE postern.storage_buckets SET generation = generation + 1
      WHERE bucket = $1 AND generation = $2 RETURNING generation`,
    [bucket, from],
  );
  return rows[0]?.generation ?? null;
}

/** Before a mark of this generation is written, so that no mark is ahead of its own database. */
export async function setGeneration(db: Db, bucket: string, generation: number): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.storage_buckets SET generation = greatest(generation, $2) WHERE bucket = $1`,
    [bucket, generation],
  );
}

/** Records the result of a look at the mark. Writes only what has changed. */
export async function recordOwner(
  db: Db,
  bucket: string,
  found: { isMarked: boolean; trouble: string | null },
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.storage_buckets
      SET marked_at = CASE WHEN $2 THEN coalesce(marked_at, now()) ELSE marked_at END,
        trouble = $3::text
      WHERE bucket = $1 AND ($2 AND marked_at IS NULL OR trouble IS DISTINCT FROM $3::text)`,
    [bucket, found.isMarked, found.trouble],
  );
}

/** Whether there are rows whose bytes should be in the bucket. */
export async function hasRowsWithBytes(db: Db, bucket: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    /* sql */ `SELECT EXISTS (SELECT FROM postern.stored_objects
      WHERE bucket = $1 AND state IN ('available', 'quarantined', 'expired')) AS found`,
    [bucket],
  );
  return rows[0]?.found === true;
}

/** A row and what its object must be. */
export type RowIdentity = {
  key: string;
  versionId: string | null;
  etag: string | null;
  size: number;
  sha256: string;
};

const IDENTITY = /* sql */ `key, version_id AS "versionId", etag, size, sha256`;

/** Rows looked at for each that is asked for. */
const SAMPLED_FROM = 50;

/**
 * Some available artifacts of all tenants; ids are random, so the first are
 * spread over the bucket. Where most rows are of other buckets, as after a move
 * to a new one, the rest are the first by key.
 */
export async function sampleAvailable(db: Db, bucket: string, limit: number): Promise<RowIdentity[]> {
  const { rows } = await db.query<RowIdentity>(
    /* sql */ `WITH spread AS MATERIALIZED (
        SELECT id, ${IDENTITY} FROM (SELECT * FROM postern.stored_objects ORDER BY id LIMIT $3) AS first
        WHERE bucket = $1 AND state = 'available' LIMIT $2
      ), rest AS (
        SELECT id, ${IDENTITY} FROM postern.stored_objects
        WHERE bucket = $1 AND state = 'available' AND id <> ALL (ARRAY(SELECT id FROM spread))
        ORDER BY bucket, key LIMIT $2
      )
      SELECT key, "versionId", etag, size, sha256 FROM (SELECT * FROM spread UNION ALL SELECT * FROM rest) AS sample
      LIMIT $2`,
    [bucket, limit, limit * SAMPLED_FROM],
  );
  return rows;
}

/** The rows of these keys, of all tenants. */
export async function findRowIdentities(
  db: Db,
  bucket: string,
  keys: readonly string[],
): Promise<RowIdentity[]> {
  const { rows } = await db.query<RowIdentity>(
    /* sql */ `SELECT ${IDENTITY} FROM postern.stored_objects WHERE bucket = $1 AND key = ANY ($2::text[])`,
    [bucket, keys],
  );
  return rows;
}

/** Tenants of which the database holds anything that stays for long. */
export async function listKnownTenants(db: Db): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant_id: TenantId }>(/* sql */ `SELECT tenant_id FROM postern.endpoints
      UNION SELECT tenant_id FROM postern.stored_objects
      UNION SELECT tenant_id FROM postern.storage_exports
      UNION SELECT tenant_id FROM postern.tenant_settings`);
  return rows.map((row) => row.tenant_id);
}

export type Destroyed = { inPass: number; inDay: number; known: number };

/**
 * What was destroyed within the bounds in this pass and in the last 24 hours,
 * and how many rows the bucket has whose bytes are not known to be gone for good. In a transaction no other process records
 * more until it ends.
 */
export async function readDestroyed(db: Db, bucket: string, runId: string): Promise<Destroyed> {
  await db.query(/* sql */ `SELECT FROM postern.storage_buckets WHERE bucket = $1 FOR UPDATE`, [bucket]);
  const { rows } = await db.query<Destroyed>(
    /* sql */ `SELECT
        coalesce(sum(number) FILTER (WHERE run_id = $2), 0)::int AS "inPass",
        coalesce(sum(number) FILTER (WHERE at > now() - interval '1 day'), 0)::int AS "inDay",
        (SELECT count(*)::int FROM postern.stored_objects WHERE bucket = $1 AND state <> 'purged') AS known
      FROM postern.storage_destroyed WHERE bucket = $1`,
    [bucket, runId],
  );
  return rows[0] ?? { inPass: 0, inDay: 0, known: 0 };
}

export async function recordDestroyed(
  db: Db,
  bucket: string,
  page: { runId: string; number: number },
): Promise<void> {
  await db.query(
    /* sql */ `DELETE FROM postern.storage_destroyed
      WHERE bucket = $1 AND run_id <> $2 AND at < now() - interval '2 days'`,
    [bucket, page.runId],
  );
  await db.query(
    /* sql */ `INSERT INTO postern.storage_destroyed (bucket, run_id, at, number) VALUES ($1, $2, clock_timestamp(), $3)`,
    [bucket, page.runId, page.number],
  );
}
