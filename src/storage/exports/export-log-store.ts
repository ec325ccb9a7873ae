/** The log as exports read it. */
import type { Db } from "../../database/pool.ts";
import { lowestIdAt, type DeliveryId, type EndpointId } from "../../shared/id.ts";
import { headersOf, PACKED_COLUMNS, type HeaderColumns } from "../../queue/packed-headers.ts";
import type { ExportFilter, LogExport, LogPosition } from "./log-export.ts";
import type { LogRow } from "./log-row.ts";

/** What an export reads of the log. */
export type LogRange = ExportFilter & Pick<LogExport, "tenantId" | "from" | "to">;

/** Of a range that is narrowed: few may fit, and a statement must not look at a day. */
const LOOK_ROWS = 1000;

/**
 * Counts what fits among the next rows of the range behind `after`, by endpoint
 * and id, of which it looks at `limit` at most. Answers the last that it looked
 * at; null at the end of the range. Within one day the primary key of one
 * partition answers it, so its cost is bounded.
 */
export async function countLogSlice(
  db: Db,
  range: LogRange,
  { after, limit }: { after: LogPosition | null; limit: number },
): Promise<{ count: number; last: LogPosition | null }> {
  const { text, fits, values } = rangeCondition(range);
  const behind = behindCondition(after, values);
  const { rows } = await db.query<{ looked: number; count: number } & LogPosition>({
    name: `count-log-${shapeOf(range, { after, fits })}`,
    // Each count is made once, whatever the plan: a join with one table of both was made for each row where a day had no statistics.
    text: /* sql */ `WITH slice AS MATERIALIZED (
        SELECT d.endpoint_id, d.id, ${fits} AS fits FROM postern.deliveries d WHERE ${text} ${behind}
        ORDER BY d.endpoint_id, d.id LIMIT $${values.push(limit)}
      )
      SELECT (SELECT count(*)::int FROM slice) AS looked, (SELECT count(*)::int FROM slice WHERE fits) AS count,
        endpoint_id AS "endpointId", id AS "deliveryId"
      FROM slice ORDER BY endpoint_id DESC, id DESC LIMIT 1`,
    values,
  });
  const [found] = rows;
  if (found === undefined) return { count: 0, last: null };
  const { looked, count, endpointId, deliveryId } = found;
  return { count, last: looked < limit ? null : { endpointId, deliveryId } };
}

type PageRow = { slice_endpoint: EndpointId; slice_end: DeliveryId; fitting: number } & (
  | (LogRow & HeaderColumns)
  | (Pick<LogRow, never> & { id: null })
);

/** Some of the log, and what was the last row that was looked at; null at the end of the range. */
export type LogPage = { rows: LogRow[]; after: LogPosition | null };

/**
 * What fits among the next rows of the range behind `after`, by endpoint and
 * id: `limit` rows at most, and fewer where their bodies together exceed
 * `maxBodyBytes`, but at least one matching row that it read.
 */
export async function readLogPage(
  db: Db,
  range: LogRange,
  page: { after: LogPosition | null; limit: number; maxBodyBytes: number },
): Promise<LogPage> {
  const { text, fits, values } = rangeCondition(range);
  const behind = behindCondition(page.after, values);
  const look = fits === "true" ? page.limit : Math.max(page.limit, LOOK_ROWS);
  const { rows: found } = await db.query<PageRow>({
    name: `export-log-${shapeOf(range, { after: page.after, fits })}`,
    // Bodies are looked up for the page alone, and stay unread in the table where they do not fit.
    text: /* sql */ `WITH slice AS MATERIALIZED (
        SELECT d.*, ${fits} AS fits FROM postern.deliveries d WHERE ${text} ${behind}
        ORDER BY d.endpoint_id, d.id LIMIT $${values.push(look)}
      ), page AS MATERIALIZED (
        SELECT * FROM slice WHERE fits ORDER BY endpoint_id, id LIMIT $${values.push(page.limit)}
      ), sized AS (
        SELECT page.*, coalesce(page.request_body, e.body) AS body, coalesce(page.version, 1) AS event_version,
          row_number() OVER (ORDER BY page.endpoint_id, page.id) AS place,
          sum(octet_length(coalesce(page.request_body, e.body, ''))) OVER (ORDER BY page.endpoint_id, page.id) AS bytes
        FROM page LEFT JOIN LATERAL (
          SELECT postern.body_of_version(e.body, e.version, e.versions, page.version) AS body
          FROM postern.events e WHERE e.id = page.event_id AND e.tenant_id = page.tenant_id) e ON true
      ), slice_end AS (
        SELECT endpoint_id AS slice_endpoint, id AS slice_end,
          (SELECT count(*)::int FROM slice WHERE fits) AS fitting
        FROM slice ORDER BY endpoint_id DESC, id DESC LIMIT 1
      )
      SELECT slice_endpoint, slice_end, fitting, id, endpoint_id, event_id, event_type, event_version, trigger, replay_id,
        status, attempt, request_headers, body AS request_body, response_status, response_headers, response_body, latency_ms, error,
        sent_at, ${PACKED_COLUMNS}
      FROM slice_end LEFT JOIN sized AS d ON place = 1 OR bytes <= $${values.push(page.maxBodyBytes)}
      ORDER BY endpoint_id, id`,
    values,
  });
  const [first] = found;
  if (first === undefined) return { rows: [], after: null };
  const rows = found.filter((row) => row.id !== null);
  for (const row of rows) Object.assign(row, headersOf(row), { header_set: null, header_values: null });
  const last = rows.at(-1);
  return last !== undefined && rows.length < first.fitting
    ? { rows, after: { endpointId: last.endpoint_id, deliveryId: last.id } }
    : { rows, after: { endpointId: first.slice_endpoint, deliveryId: first.slice_end } };
}

/** Names the statement that a range makes: its text follows from this. */
function shapeOf(range: LogRange, { after, fits }: { after: LogPosition | null; fits: string }): string {
  return [
    range.endpointId === null ? "all" : "one",
    after === null ? "first" : "next",
    fits === "true" ? "whole" : "narrowed",
  ].join("-");
}

/** Ids carry their time, so a range of times is a range of ids. `fits` is asked of each row within it. */
function rangeCondition(range: LogRange): { text: string; fits: string; values: unknown[] } {
  const { tenantId, from, to, endpointId, eventType, deliveryStatus } = range;
  const values: unknown[] = [tenantId, lowestIdAt(from.getTime()), lowestIdAt(to.getTime())];
  const endpoint = endpointId === null ? "" : `AND d.endpoint_id = $${values.push(endpointId)}`;
  const text = `d.tenant_id = $1 AND d.id >= $2 AND d.id < $3 ${endpoint}`;
  // Nothing but keys is read of what is not narrowed.
  if (eventType === null && deliveryStatus === null) return { text, fits: "true", values };
  const isPrefix = eventType?.endsWith(".*") === true;
  const status = values.push(deliveryStatus);
  const type = values.push(isPrefix ? null : eventType);
  const prefix = values.push(isPrefix ? eventType.slice(0, -1) : null);
  const fits = `(($${status}::text IS NULL OR d.status = $${status}) AND ($${type}::text IS NULL OR d.event_type = $${type})
          AND ($${prefix}::text IS NULL OR d.event_type ^@ $${prefix}))`;
  return { text, fits, values };
}

function behindCondition(after: LogPosition | null, values: unknown[]): string {
  if (after === null) return "";
  return `AND (d.endpoint_id, d.id) > ($${values.push(after.endpointId)}, $${values.push(after.deliveryId)})`;
}
