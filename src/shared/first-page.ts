/**
 * A page of a list of which one row more was read, if it has one more.
 * `last`: the row behind which the next page begins; absent on the last page.
 */
export function firstPage<Row>(read: readonly Row[], limit: number): { rows: Row[]; last: Row | undefined } {
  const rows = read.slice(0, limit);
  return { rows, last: read.length > limit ? rows.at(-1) : undefined };
}
