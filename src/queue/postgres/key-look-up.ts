/** SQL that makes a statement skip locked rows, or wait for them. */
export function lockOption(whenLocked: "skip" | "wait"): string {
  return whenLocked === "skip" ? "SKIP LOCKED" : "";
}

/** The rows of `other`, in its order, whose dispatch is still leased as they say; each dispatch is locked. */
export function withLeased(other: string, whenLocked: "skip" | "wait"): string {
  return /* sql */ `SELECT ${other}.* FROM ${other} CROSS JOIN LATERAL (
          SELECT FROM postern.dispatches d
          WHERE d.tenant_id = ${other}.tenant_id AND d.endpoint_id = ${other}.endpoint_id AND d.id = ${other}.id
            AND d.lease_owner = ${other}.lease_id
          FOR UPDATE ${lockOption(whenLocked)}
        ) AS d`;
}

/**
 * True of the dispatch `d` that a row of `other` names: how an UPDATE or a
 * DELETE finds the rows that a `WITH` has locked.
 *
 * A plan is made once for each connection, often while the table is empty. Then
 * one pass over the table looks cheaper than looking up each key, and still is
 * what runs when 100,000 dispatches wait: seconds instead of milliseconds. Where
 * the first column is compared with an array, PostgreSQL can neither hash nor
 * merge along the index, and without sequential scans (`session-settings.ts`)
 * only looking up each key remains. A LATERAL subquery with a lock is
 * always run for each row, and needs no such care.
 */
export function isRowOf(other: string): string {
  return /* sql */ `d.tenant_id = ANY (ARRAY[${other}.tenant_id]) AND d.endpoint_id = ${other}.endpoint_id AND d.id = ${other}.id`;
}
