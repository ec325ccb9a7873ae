/**
 * Applies what the storage operations return.
 *
 * Each update names the state and revision that it was decided on. A row that
 * has changed since is left alone, and so is one that the same update changed
 * before: applying a result twice or too late does nothing.
 */
import type { Db } from "../../database/pool.ts";
import type { GrantInsert, MarkMutation, Mutation, ObjectDelete } from "../rules/mutations.ts";
import { gatherRowUpdates, type RowUpdate } from "./row-updates.ts";

export type Applied = {
  /** Rows that were still what the operation saw. */
  changedRows: number;
  /** Rows that had changed meanwhile and were left alone. */
  skippedRows: number;
  /** Versions to delete once the transaction is committed: bytes cannot be rolled back. */
  objectDeletes: ObjectDelete[];
};

/**
 * Applies one result; `db` is a client inside a transaction, which the caller
 * commits before it deletes any of `objectDeletes`.
 *
 * @param context the time of the decision, and the bucket that marks belong to (null where there are none).
 */
export async function applyMutations(
  db: Db,
  mutations: readonly Mutation[],
  context: { now: string; bucket: string | null },
): Promise<Applied> {
  const updates = gatherRowUpdates(mutations);
  const changedRows = updates.length === 0 ? 0 : await updateRows(db, updates, context.now);
  const marks = mutations.filter((mutation) => mutation.target === "mark");
  if (marks.length > 0) await changeMarks(db, context.bucket, marks);
  const grants = mutations.filter((mutation) => mutation.target === "grant");
  if (grants.length > 0) await insertGrants(db, grants);
  return {
    changedRows,
    skippedRows: updates.length - changedRows,
    objectDeletes: mutations.filter((mutation) => mutation.target === "object"),
  };
}

async function updateRows(db: Db, updates: readonly RowUpdate[], now: string): Promise<number> {
  const { rowCount } = await db.query(
    // One update goes by places or by ids, another by deadlines: without an order they would wait for each other.
    // It is that of order_of_deletion.sql.
    /* sql */ `WITH locked AS MATERIALIZED (
        SELECT FROM postern.stored_objects WHERE id = ANY ($2::uuid[])
        ORDER BY tenant_id, delivery_id, kind, attempt, id FOR NO KEY UPDATE
      )
      UPDATE postern.stored_objects o SET
        state = coalesce(u.state_to, o.state),
        state_since = CASE WHEN u.state_to IS NULL THEN o.state_since ELSE $1 END,
        available_at = coalesce(u.available_to, o.available_at),
        deadline = coalesce(u.deadline_to, o.deadline),
        revision = o.revision + 1
      FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[],
          $8::timestamptz[], $9::timestamptz[])
        AS u (id, revision, state_from, state_to, available_from, available_to, deadline_from, deadline_to)
      WHERE (SELECT count(*) FROM locked) > 0 AND o.id = u.id AND o.revision = u.revision
        AND (u.state_to IS NULL OR o.state = u.state_from)
        AND (u.available_to IS NULL OR o.available_at IS NOT DISTINCT FROM u.available_from)
        AND (u.deadline_to IS NULL OR o.deadline IS NOT DISTINCT FROM u.deadline_from)`,
    [
      now,
      updates.map((update) => update.id),
      updates.map((update) => update.revision),
      updates.map((update) => update.state?.from),
      updates.map((update) => update.state?.to),
      updates.map((update) => update.availableAt?.from),
      updates.map((update) => update.availableAt?.to),
      updates.map((update) => update.deadline?.from),
      updates.map((update) => update.deadline?.to),
    ],
  );
  return rowCount ?? 0;
}

async function changeMarks(db: Db, bucket: string | null, marks: readonly MarkMutation[]): Promise<void> {
  if (bucket === null) throw new Error("marks without the bucket that they belong to");
  // Deletions first: a mark of another class makes room for the new one.
  const deleted = marks.filter((mark) => mark.op === "delete");
  await db.query(
    /* sql */ `DELETE FROM postern.storage_marks m USING unnest($2::text[], $3::text[]) AS gone (key, class)
      WHERE m.bucket = $1 AND m.key = gone.key AND m.class = gone.class`,
    [bucket, deleted.map((mark) => mark.key), deleted.map((mark) => mark.class)],
  );
  const rearmed = marks.filter((mark) => mark.op === "update");
  await db.query(
    /* sql */ `UPDATE postern.storage_marks m SET first_seen_at = again.first_seen_at
      FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS again (key, class, first_seen_at)
      WHERE m.bucket = $1 AND m.key = again.key AND m.class = again.class`,
    [
      bucket,
      rearmed.map((mark) => mark.key),
      rearmed.map((mark) => mark.class),
      rearmed.map((mark) => mark.first_seen_at),
    ],
  );
  const inserted = marks.filter((mark) => mark.op === "insert");
  await db.query(
    /* sql */ `INSERT INTO postern.storage_marks (tenant_id, bucket, key, class, first_seen_at, run_id)
      SELECT o.tenant_id, $1, seen.key, seen.class, seen.first_seen_at, seen.run_id
      FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::uuid[]) AS seen (key, class, first_seen_at, run_id)
      LEFT JOIN postern.stored_objects o ON o.bucket = $1 AND o.key = seen.key
      ON CONFLICT (bucket, key) DO NOTHING`,
    [
      bucket,
      inserted.map((mark) => mark.key),
      inserted.map((mark) => mark.class),
      inserted.map((mark) => mark.first_seen_at),
      inserted.map((mark) => mark.run_id),
    ],
  );
}

async function insertGrants(db: Db, grants: readonly GrantInsert[]): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.storage_grants (tenant_id, id, object_id, user_id, issued_at, expires_at)
      SELECT o.tenant_id, g.id, g.object_id, g.user_id, g.issued_at, g.expires_at
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[])
        AS g (id, object_id, user_id, issued_at, expires_at)
      JOIN postern.stored_objects o ON o.id = g.object_id
      ON CONFLICT (id) DO NOTHING`,
    [
      grants.map((grant) => grant.id),
      grants.map((grant) => grant.object_id),
      grants.map((grant) => grant.user_id),
      grants.map((grant) => grant.issued_at),
      grants.map((grant) => grant.expires_at),
    ],
  );
}
