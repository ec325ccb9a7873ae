/**
 * Looking for deliveries in a tenant's log. What a request may look at is
 * bounded, however rare what it looks for is: it answers what it found by then,
 * and from where to go on.
 *
 * The log is walked newest first, in slices that grow, so that a request that
 * soon finds enough reads little, and one that finds nothing takes few steps.
 */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import type { DeliveryKey } from "./delivery.ts";
import { findText } from "./delivery-store.ts";
import { countStreams, queryOf, rangeOf, windowsOf, type SearchFilter } from "./search-filter.ts";
import { searchSlice } from "./search-store.ts";

/** Rows of a log that one request looks at, at most, and bytes of their bodies. */
export const MAX_ROWS = 5000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Rows of the first slice, and of the last: streams share a slice, and some have no rows, so what is left shrinks slowly. */
const LEAST_SLICE = 200;
const GROWTH = 4;
/** Of streams that share a first slice in which each may have as many rows as are asked for: the log, what is pending, what persons send. */
const FEW_STREAMS = 3;

export type Found = {
  /** Newest first. */
  keys: DeliveryKey[];
  /** An id: everything from it on was looked at. Null where nothing older is left. */
  searchedTo: string | null;
};

/** The newest deliveries that fit, `limit` at most. */
export async function searchLog(
  db: Db,
  tenantId: TenantId,
  filter: SearchFilter,
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<Found> {
  const query = queryOf(filter);
  const streams = countStreams(query.streams);
  const { text } = filter;
  const keys: DeliveryKey[] = [];
  let size = query.fitsAll && text === undefined ? firstSlice(limit, streams) : Math.max(limit, LEAST_SLICE);
  if (streams === 0) return { keys, searchedTo: null };
  let rowsLeft = MAX_ROWS;
  let bytesLeft = MAX_BODY_BYTES;
  for (const { from, to: end } of windowsOf(rangeOf(filter.times), nowMs)) {
    let to: string | null = end;
    while (to !== null) {
      if (rowsLeft < LEAST_SLICE || bytesLeft <= 0) return { keys, searchedTo: to };
      const slice = Math.min(size, rowsLeft);
      const { found, looked, lookedTo } = await searchSlice(db, tenantId, query, {
        range: { from, to },
        most: Math.max(1, Math.floor(slice / streams)),
        limit: text === undefined ? limit - keys.length : MAX_ROWS,
      });
      rowsLeft -= looked;
      const read =
        text === undefined || found.length === 0
          ? null
          : await findText(db, tenantId, { keys: found, text, maxBytes: bytesLeft });
      const fitting = read === null ? found : found.filter((_key, place) => read.hits[place] === true);
      keys.push(...fitting.slice(0, limit - keys.length));
      if (keys.length === limit) return { keys, searchedTo: keys.at(-1)?.id ?? null };
      if (read !== null && read.hits.length < found.length) {
        return { keys, searchedTo: found[read.hits.length - 1]?.id ?? null };
      }
      bytesLeft -= read?.bytes ?? 0;
      to = lookedTo;
      size *= GROWTH;
    }
  }
  return { keys, searchedTo: null };
}

/** A first slice that finds a page at once, even if one of few streams has all of it. */
function firstSlice(limit: number, streams: number): number {
  return limit * Math.min(streams, FEW_STREAMS);
}
