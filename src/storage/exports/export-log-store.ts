/** The log as exports read it. */
import type { Db } from "../../database/pool.ts";
import { lowestIdAt } from "../../shared/id.ts";
import type { LogExport, LogPosition } from "./log-export.ts";
import type { LogRow } from "./log-row.ts";

/** What an export reads of the log. */
export type LogRange = Pick<LogExport, "tenantId" | "from" | "to" | "endpointId">;

/**
 * Counts the next rows of the range behind `after`, by endpoint and id, `limit`
 * at most, and answers the last of them (null where there is none). Within one
 * day the primary key of one partition answers it, so its cost is bounded.
 */
export async function countLogSlice(
  db: Db,
  range: LogRange,
  { after, limit }: { after: LogPosition | null; limit: number },
): Promise<{ count: number; last: LogPosition | null }> {
  const { text, values } = rangeCondition(range);
  const behind = behindCondition(after, values);
  const { rows } = await db.query<{ count: number } & LogPosition>(
    /* sql */ `WITH slice AS MATERIALIZED (
        SELECT d.endpoint_id, d.id FROM postern.deliveries d WHERE ${text} ${behind}
        ORDER BY d.endpoint_id, d.id LIMIT $${values.push(limit)}
      )
      SELECT (SELECT count(*)::int FROM slice) AS count, endpoint_id AS "endpointId", id AS "deliveryId"
      FROM slice ORDER BY endpoint_id DESC, id DESC LIMIT 1`,
    values,
  );
  const [found] = rows;
  if (found === undefined) return { count: 0, last: null };
  return { count: found.count, last: { endpointId: found.endpointId, deliveryId: found.deliveryId } };
}

/**
 * The next rows of the range behind `after`, by endpoint and id. As many as
 * `limit` says, and fewer where their bodies together exceed `maxBodyBytes`,
 * but at least one: none means that the range has ended.
 */
export async function readLogPage(
  db: Db,
  range: LogRange,
  page: { after: LogPosition | null; limit: number; maxBodyBytes: number },
): Promise<LogRow[]> {
  const { text, values } = rangeCondition(range);
  const behind = behindCondition(page.after, values);
  const { rows } = await db.query<LogRow>({
    name: `export-log-${range.endpointId === null ? "all" : "one"}-${page.after === null ? "first" : "next"}`,
    // Bodies are looked up for the page alone, and stay unread in the table where they do not fit.
    text: /* sql */ `WITH page AS MATERIALIZED (
        SELECT d.* FROM postern.deliveries d WHERE ${text} ${behind}
        ORDER BY d.endpoint_id, d.id LIMIT $${values.push(page.limit)}
      ), sized AS (
        SELECT page.*, coalesce(page.request_body, e.body) AS body,
          row_number() OVER (ORDER BY page.endpoint_id, page.id) AS place,
          sum(octet_length(coalesce(page.request_body, e.body, ''))) OVER (ORDER BY page.endpoint_id, page.id) AS bytes
        FROM page LEFT JOIN LATERAL (
          SELECT body FROM postern.events e WHERE e.id = page.event_id AND e.tenant_id = page.tenant_id) e ON true
      )
      SELECT id, endpoint_id, event_id, event_type, trigger, status, attempt, request_headers, body AS request_body,
        response_status, response_headers, response_body, latency_ms, error, sent_at
      FROM sized WHERE place = 1 OR bytes <= $${values.push(page.maxBodyBytes)} ORDER BY endpoint_id, id`,
    values,
  });
  return rows;
}

/** Ids carry their time, so a range of times is a range of ids. */
function rangeCondition({ tenantId, from, to, endpointId }: LogRange): { text: string; values: unknown[] } {
  const values: unknown[] = [tenantId, lowestIdAt(from.getTime()), lowestIdAt(to.getTime())];
  const endpoint = endpointId === null ? "" : `AND d.endpoint_id = $${values.push(endpointId)}`;
  return { text: `d.tenant_id = $1 AND d.id >= $2 AND d.id < $3 ${endpoint}`, values };
}

function behindCondition(after: LogPosition | null, values: unknown[]): string {
  if (after === null) return "";
  return `AND (d.endpoint_id, d.id) > ($${values.push(after.endpointId)}, $${values.push(after.deliveryId)})`;
}
