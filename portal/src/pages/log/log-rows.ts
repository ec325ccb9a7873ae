/** How rows that were read and deliveries that came since become the rows of the log. */
type Listed = { id: string; status: string };

/** So many wait at most; then it is better to read the log anew. */
export const MAX_WAITING = 1000;

export type Tail<Row> = {
  waiting: readonly Row[];
  taken: readonly Row[];
  outcomes: ReadonlyMap<string, Row>;
  isGapped: boolean;
};
export const NOTHING: Tail<never> = {
  waiting: [],
  taken: [],
  outcomes: new Map<string, never>(),
  isGapped: false,
};

export function added<Row extends Listed>(
  before: Tail<Row>,
  row: Row,
  { isAwaited, isWanted }: Record<"isAwaited" | "isWanted", boolean>,
): Tail<Row> {
  const outcomes = isAwaited ? new Map(before.outcomes).set(row.id, row) : before.outcomes;
  const isKnown = before.waiting.some(({ id }) => id === row.id);
  if (!isWanted || isKnown) return { ...before, outcomes };
  if (before.waiting.length === MAX_WAITING) return { ...before, outcomes, isGapped: true };
  return { ...before, outcomes, waiting: [row, ...before.waiting] };
}

/** An outcome may come before the page on which its row is still pending. */
export function readRows<Row extends Listed>(
  pages: readonly { rows: readonly Row[] }[],
  came: readonly Row[],
): Row[] {
  const outcomes = new Map(came.map((row) => [row.id, row]));
  return pages.flatMap(({ rows }) => settle(rows, outcomes));
}

function settle<Row extends Listed>(rows: readonly Row[], outcomes: ReadonlyMap<string, Row>): Row[] {
  return rows.map((row) => (row.status === "pending" ? (outcomes.get(row.id) ?? row) : row));
}

/** Newest first, by id; a row with an outcome is shown with it. */
export function merge<Row extends Listed>(
  taken: readonly Row[],
  read: readonly Row[],
  outcomes: ReadonlyMap<string, Row>,
): Row[] {
  const known = new Set(read.map(({ id }) => id));
  const added = taken.filter(({ id }) => !known.has(id));
  const rows = settle(read, outcomes);
  if (added.length === 0) return rows;
  return [...added, ...rows].sort((one, other) => (one.id < other.id ? 1 : -1));
}
