/** How many deliveries an export will hold. */
import type { Db } from "../../database/pool.ts";
import { DAY_MS } from "../rules/instants.ts";
import { countLogSlice, type LogRange } from "./export-log-store.ts";
import type { LogPosition } from "./log-export.ts";

/** Some 50 ms: far from any limit of a statement's time, on a slow disk too. */
const SLICE_ROWS = 50_000;

/**
 * Counts the deliveries of the range that are logged now, until there are more
 * than `limit`. Day by day, a slice at a time: one statement for a long log
 * would meet the limit of a statement's time.
 *
 * @throws the signal's reason.
 */
export async function countLog(
  log: Db,
  range: LogRange,
  { limit, signal, sliceRows = SLICE_ROWS }: { limit: number; signal: AbortSignal; sliceRows?: number },
): Promise<number> {
  let total = 0;
  for (const day of daysOf(range)) {
    let after: LogPosition | null = null;
    for (;;) {
      signal.throwIfAborted();
      const { count, last }: Awaited<ReturnType<typeof countLogSlice>> = await countLogSlice(log, day, {
        after,
        limit: sliceRows,
      });
      total += count;
      if (total > limit) return total;
      if (last === null) break;
      after = last;
    }
  }
  return total;
}

/** The range, cut at midnight UTC as the log's partitions are. */
function daysOf(range: LogRange): LogRange[] {
  const days: LogRange[] = [];
  for (let { from } = range; from < range.to;) {
    const midnight = new Date((Math.floor(from.getTime() / DAY_MS) + 1) * DAY_MS);
    const to = midnight < range.to ? midnight : range.to;
    days.push({ ...range, from, to });
    from = to;
  }
  return days;
}
