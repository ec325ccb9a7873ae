/** A delivery of the log as an export writes it: the members of the API's delivery, in its order. */
import { withDerived } from "../../outbound/request-headers.ts";
import { idTimeMs, type DeliveryId, type EndpointId } from "../../shared/id.ts";
import { csvRecord } from "./csv.ts";

export type LogRow = {
  id: DeliveryId;
  endpoint_id: EndpointId;
  event_id: string | null;
  event_type: string;
  event_version: number;
  trigger: string;
  replay_id: string | null;
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

/** In the order of the API's members. */
export const LOG_COLUMNS = [
  "id",
  "endpoint_id",
  "event_id",
  "event_type",
  "event_version",
  "trigger",
  "replay_id",
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
  "created_at",
] as const satisfies readonly (keyof LogRow | "created_at")[];
export type LogColumn = (typeof LOG_COLUMNS)[number];

/** The first record of each CSV file. */
export const CSV_HEADER = csvRecord(LOG_COLUMNS);

/** One line of NDJSON; what JSON cannot hold as it is, such as half a surrogate pair, is escaped. */
export function ndjsonLine(row: LogRow): string {
  // Written out: a million rows pass here, and the order of members is the file's.
  return `${JSON.stringify({
    id: row.id,
    endpoint_id: row.endpoint_id,
    event_id: row.event_id,
    event_type: row.event_type,
    event_version: row.event_version,
    trigger: row.trigger,
    replay_id: row.replay_id,
    status: row.status,
    attempt: row.attempt,
    request_headers: withDerived(row.request_headers, row),
    request_body: row.request_body,
    response_status: row.response_status,
    response_headers: row.response_headers,
    response_body: row.response_body,
    latency_ms: row.latency_ms,
    error: row.error,
    // Of what is pending, and that is not in the log.
    next_attempt_at: null,
    sent_at: row.sent_at?.toISOString() ?? null,
    created_at: createdAt(row).toISOString(),
  })}\n`;
}

/** One CSV record. */
export function csvLine(row: LogRow): string {
  const cells = LOG_COLUMNS.map((column) => {
    const value = cellOf(row, column);
    return value instanceof Date ? value.toISOString() : value;
  });
  return csvRecord(cells);
}

/** The value of a table's cell; headers are a JSON object as text. */
export function cellOf(row: LogRow, column: LogColumn): string | number | Date | null {
  if (column === "created_at") return createdAt(row);
  const value = column === "request_headers" ? withDerived(row.request_headers, row) : row[column];
  return value === null || typeof value !== "object" || value instanceof Date ? value : JSON.stringify(value);
}

function createdAt(row: LogRow): Date {
  return new Date(idTimeMs(row.id));
}
