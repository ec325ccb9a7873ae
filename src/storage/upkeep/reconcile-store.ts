/** What reconciling remembers between pages: marks, how far a pass has come, and what it told. */
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import type { MarkClass } from "../rules/mutations.ts";
import type { Mark, ReconcileEvent } from "../rules/reconcile-types.ts";

/**
 * The marks of a bucket's keys behind `after`, up to and with `upTo` (null: to the end), in key order.
 */
export async function listMarks(
  db: Db,
  bucket: string,
  range: { after: string | null; upTo: string | null },
): Promise<Mark[]> {
  const { rows } = await db.query<{ key: string; class: MarkClass; first_seen_at: Date; run_id: string }>(
    /* sql */ `SELECT key, class, first_seen_at, run_id FROM postern.storage_marks
      WHERE bucket = $1 AND key > coalesce($2, '') AND ($3::text IS NULL OR key <= $3) ORDER BY key`,
    [bucket, range.after, range.upTo],
  );
  return rows.map(({ first_seen_at, ...mark }) =>
    Object.assign(mark, { first_seen_at: first_seen_at.toISOString() }),
  );
}

/** Keys of objects that were suspected to have no row by then, in key order. */
export async function listConfirmableOrphans(db: Db, bucket: string, seenUntil: string): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    /* sql */ `SELECT key FROM postern.storage_marks
      WHERE bucket = $1 AND class = 'object_without_row' AND first_seen_at <= $2 ORDER BY key`,
    [bucket, seenUntil],
  );
  return rows.map(({ key }) => key);
}

/** An object that is about to be put back; what is known of its key, a row or an earlier suspicion, stays. */
export async function insertOrphanMark(db: Db, bucket: string, key: string): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.storage_marks (bucket, key, class, first_seen_at, run_id)
      SELECT $1, $2, 'object_without_row', now(), gen_random_uuid()
      WHERE NOT EXISTS (SELECT FROM postern.stored_objects WHERE bucket = $1 AND key = $2)
      ON CONFLICT (bucket, key) DO NOTHING`,
    [bucket, key],
  );
}

/** The position of a bucket's pass; `afterKey` null is its beginning. `haltedReason` null: it does not wait for an operator. */
export type ReconcileCursor = { runId: string; afterKey: string | null; haltedReason: string | null };

/** Null before the first pass. */
export async function readCursor(db: Db, bucket: string): Promise<ReconcileCursor | null> {
  const { rows } = await db.query<ReconcileCursor>(
    /* sql */ `SELECT run_id AS "runId", after_key AS "afterKey",
        CASE WHEN halted_at IS NOT NULL THEN coalesce(halted_reason, 'it would destroy too much') END AS "haltedReason"
      FROM postern.storage_cursor WHERE bucket = $1`,
    [bucket],
  );
  return rows[0] ?? null;
}

export type StorageTroubles = {
  /** Since when reconciling waits for an operator, and why; null: it does not. */
  haltedAt: Date | null;
  haltedReason: string | null;
  /** Why the bucket may not be this installation's; null where nothing is wrong. */
  ownerTrouble: string | null;
};

/** What keeps comparing from going on. */
export async function readStorageTroubles(db: Db, bucket: string): Promise<StorageTroubles> {
  const { rows } = await db.query<StorageTroubles>(
    /* sql */ `SELECT
        (SELECT halted_at FROM postern.storage_cursor WHERE bucket = $1) AS "haltedAt",
        (SELECT coalesce(halted_reason, 'it would destroy too much') FROM postern.storage_cursor WHERE bucket = $1)
          AS "haltedReason",
        (SELECT trouble FROM postern.storage_buckets WHERE bucket = $1) AS "ownerTrouble"`,
    [bucket],
  );
  return rows[0] ?? { haltedAt: null, haltedReason: null, ownerTrouble: null };
}

/** How many artifacts are in each state, how many in each other bucket, and when they were last compared. */
export async function readStorageState(
  db: Db,
  bucket: string,
): Promise<{
  states: Record<string, number>;
  elsewhere: Record<string, number>;
  lastPageAt: Date | null;
}> {
  const { rows } = await db.query<{
    states: Record<string, number> | null;
    elsewhere: Record<string, number> | null;
    lastPageAt: Date | null;
  }>(
    /* sql */ `SELECT
        (SELECT json_object_agg(state, number) FROM (
          SELECT state, count(*) AS number FROM postern.stored_objects WHERE bucket = $1 GROUP BY state) counted) AS states,
        (SELECT json_object_agg(bucket, number) FROM (
          SELECT bucket, count(*) AS number FROM postern.stored_objects
            WHERE bucket <> $1 AND state <> 'purged' GROUP BY bucket) counted) AS elsewhere,
        (SELECT updated_at FROM postern.storage_cursor WHERE bucket = $1) AS "lastPageAt"`,
    [bucket],
  );
  return {
    states: rows[0]?.states ?? {},
    elsewhere: rows[0]?.elsewhere ?? {},
    lastPageAt: rows[0]?.lastPageAt ?? null,
  };
}

/** Puts the cursor where a page ended, or where a new pass begins, or marks it as halted. */
export async function writeCursor(db: Db, bucket: string, cursor: ReconcileCursor): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.storage_cursor AS c (bucket, run_id, after_key, halted_at, halted_reason, updated_at)
      VALUES ($1, $2, $3, CASE WHEN $4::text IS NOT NULL THEN now() END, $4, now())
      ON CONFLICT (bucket) DO UPDATE SET run_id = excluded.run_id, after_key = excluded.after_key,
        halted_at = CASE WHEN $4::text IS NOT NULL THEN coalesce(c.halted_at, now()) END,
        halted_reason = $4, updated_at = now()`,
    [bucket, cursor.runId, cursor.afterKey, cursor.haltedReason],
  );
}

/** The number that the next event gets. Only who holds the reconciling lock may rely on it. */
export async function readNextSequence(db: Db): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    /* sql */ `SELECT coalesce(max(sequence), 0) + 1 AS next FROM postern.storage_events`,
  );
  return rows[0]?.next ?? 1;
}

/**
 * Writes a page's events; answers the tenant of each key that has a row. A
 * number that is taken is an error: two runs would both believe to have told
 * what only one did.
 */
export async function insertEvents(
  db: Db,
  events: readonly ReconcileEvent[],
  context: { bucket: string; runId: string; now: string },
): Promise<Map<string, TenantId>> {
  if (events.length === 0) return new Map();
  const { rows } = await db.query<{ key: string; tenant_id: TenantId | null }>(
    /* sql */ `INSERT INTO postern.storage_events (tenant_id, sequence, type, bucket, key, run_id, at)
      SELECT o.tenant_id, e.sequence, e.type, $1, e.key, $2, $3
      FROM unnest($4::bigint[], $5::text[], $6::text[]) AS e (sequence, type, key)
      LEFT JOIN postern.stored_objects o ON o.bucket = $1 AND o.key = e.key
      RETURNING key, tenant_id`,
    [
      context.bucket,
      context.runId,
      context.now,
      events.map((event) => event.sequence),
      events.map((event) => event.type),
      events.map((event) => event.key),
    ],
  );
  return new Map(rows.flatMap((row) => (row.tenant_id === null ? [] : [[row.key, row.tenant_id]])));
}

/** The tenant of each of the keys that has a row by now. */
export async function findOwners(
  db: Db,
  bucket: string,
  keys: readonly string[],
): Promise<Map<string, TenantId>> {
  const { rows } = await db.query<{ key: string; tenant_id: TenantId }>(
    /* sql */ `SELECT key, tenant_id FROM postern.stored_objects WHERE bucket = $1 AND key = ANY ($2::text[])`,
    [bucket, keys],
  );
  return new Map(rows.map((row) => [row.key, row.tenant_id]));
}

/**
 * Removes some of what is past its days (rows of what is gone, links given out,
 * events), and the rows of archives that their runs gave up. Answers how many.
 */
export async function forgetOldStorage(db: Db, retentionDays: number): Promise<number> {
  const { rows } = await db.query<{ removed: number }>(
    /* sql */ `SELECT postern.forget_old_storage($1) AS removed`,
    [retentionDays],
  );
  return rows[0]?.removed ?? 0;
}
