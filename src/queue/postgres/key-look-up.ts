/**
 * True of the dispatch `d` that a row of `other` names: how an UPDATE or a
 * DELETE finds the rows that a `WITH` has locked.
 *
 * A plan is made once for each connection, often while the table is empty. Then
 * one pass over the table looks cheaper than looking up each key, and still is
 * what runs when 100,000 dispatches wait: seconds instead of milliseconds. Where
 * the first column is compared with an array, PostgreSQL can neither hash nor
 * merge along the index, and without sequential scans (`session-settings.ts`)
 * looking up each key is all that is left. A LATERAL subquery with a lock is
 * always run for each row, and needs no such care.
 */
export function isRowOf(other: string): string {
  return /* sql */ `d.tenant_id = ANY (ARRAY[${other}.tenant_id]) AND d.endpoint_id = ${other}.endpoint_id AND d.id = ${other}.id`;
}
