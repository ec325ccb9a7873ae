/** A delivery of the log as an export writes it: the members of the API's delivery, in its order. */
import { withDerived } from "../../outbound/request-headers.ts";
import { idTimeMs, type DeliveryId, type EndpointId } from "../../shared/id.ts";
import { csvRecord } from "./csv.ts";

export type LogRow = {
  id: DeliveryId;
  endpoint_id: EndpointId;
  event_id: string | null;
  event_type: string;
  trigger: string;
  status: string;
  attempt: number;
  request_headers: Record<string, string>;
  request_body: string | null;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  latency_ms: number;
  error: string | null;
  sent_at: Date | null;
};

const COLUMNS = [
  "id",
  "endpoint_id",
  "event_id",
  "event_type",
  "trigger",
  "status",
  "attempt",
  "request_headers",
  "request_body",
  "response_status",
  "response_headers",
  "response_body",
  "latency_ms",
  "error",
  "sent_at",
] as const satisfies readonly (keyof LogRow)[];

/** The first record of each CSV file. */
export const CSV_HEADER = csvRecord([...COLUMNS, "created_at"]);

/** One line of NDJSON; what JSON cannot hold as it is, such as half a surrogate pair, is escaped. */
export function ndjsonLine(row: LogRow): string {
  // Written out: a million rows pass here, and the order of members is the file's.
  return `${JSON.stringify({
    id: row.id,
    endpoint_id: row.endpoint_id,
    event_id: row.event_id,
    event_type: row.event_type,
    trigger: row.trigger,
    status: row.status,
    attempt: row.attempt,
    request_headers: withDerived(row.request_headers, row),
    request_body: row.request_body,
    response_status: row.response_status,
    response_headers: row.response_headers,
    response_body: row.response_body,
    latency_ms: row.latency_ms,
    error: row.error,
    sent_at: row.sent_at?.toISOString() ?? null,
    created_at: createdAt(row),
  })}\n`;
}

/** One CSV record; headers are a JSON object in their cell. */
export function csvLine(row: LogRow): string {
  const cells = COLUMNS.map((column) => {
    const value = column === "request_headers" ? withDerived(row.request_headers, row) : row[column];
    if (value instanceof Date) return value.toISOString();
    return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
  });
  return csvRecord([...cells, createdAt(row)]);
}

function createdAt(row: LogRow): string {
  return new Date(idTimeMs(row.id)).toISOString();
}
