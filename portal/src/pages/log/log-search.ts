/** What the log's URL says, and what is asked of the API for it. */
import type { paths } from "../../api/schema.d.ts";
import { MONTH_MS, reachBack } from "../../deliveries/reach-back.ts";
import { instant, oneOf, text } from "../../url/search.ts";

export const RANGES = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
  "30d": MONTH_MS,
} as const;
export type Range = keyof typeof RANGES;
export const RANGE_NAMES = ["1h", "24h", "7d", "30d"] as const satisfies readonly Range[];
const STATUSES = ["pending", "delivered", "failed", "test"] as const;

export type LogSearch = ReturnType<typeof parseLogSearch>;

/** `d`: the delivery that is open. Without a range and a time of its own: the last 24 hours. */
export function parseLogSearch(search: Record<string, unknown>) {
  return {
    ...text(search, "endpoint"),
    ...oneOf(search, "status", STATUSES),
    ...text(search, "type"),
    ...text(search, "cause"),
    ...text(search, "event"),
    ...text(search, "q"),
    ...oneOf(search, "range", RANGE_NAMES),
    ...instant(search, "from"),
    ...instant(search, "to"),
    ...text(search, "d"),
  };
}

/** Undefined takes a filter away. */
export type Change = (change: Partial<Record<keyof LogSearch, string | undefined>>) => void;

/** Every filter away. The time stays: it says how far one looks. */
export const NO_FILTER = {
  status: undefined,
  cause: undefined,
  type: undefined,
  event: undefined,
  q: undefined,
  endpoint: undefined,
} as const;

/** The span that is shown; `to` null: up to now, and on. */
export type Span = { from: Date; to: Date | null };

type Times = { range?: Range | undefined; from?: string | undefined; to?: string | undefined };

export function spanOf({ range, from, to }: Times, now: Date): Span {
  if (from !== undefined) return { from: new Date(from), to: to === undefined ? null : new Date(to) };
  return { from: new Date(now.getTime() - RANGES[range ?? "24h"]), to: null };
}

type LogQuery = NonNullable<paths["/api/deliveries"]["get"]["parameters"]["query"]>;

export function queryOf(search: LogSearch, { from, to }: Span): LogQuery {
  const { endpoint, status, type, cause, event, q } = search;
  return {
    ...(endpoint !== undefined && { endpoint_id: endpoint }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { event_type: type }),
    ...(cause !== undefined && causeQuery(cause)),
    ...(event !== undefined && { event_id: event }),
    ...(q !== undefined && { q }),
    from: from.toISOString(),
    ...(to !== null && { to: to.toISOString() }),
  };
}

/** A cause is a status or a class of it, as `http_500` and `http_5xx`, or else an error. */
function causeQuery(cause: string): Pick<LogQuery, "response_status" | "error"> {
  return cause.startsWith("http_") ? { response_status: cause.slice("http_".length) } : { error: cause };
}

/** The export of what is shown, as far as an export can be narrowed. */
export function exportOf(
  { range = "24h", from: own, endpoint, status, type }: LogSearch,
  { from, to }: Span,
) {
  return {
    open: "new" as const,
    ...(endpoint !== undefined && { endpoint }),
    // All of its versions.
    ...(type !== undefined && { type: type.replace(/@.*/, "") }),
    ...(status !== undefined && status !== "pending" && { status }),
    ...(own === undefined && range !== "1h"
      ? { range }
      : { from: from.toISOString(), ...(to !== null && { to: to.toISOString() }) }),
  };
}

/** Whether a filter other than the time and the endpoint is set. */
export function hasFilter({ status, type, cause, event, q }: LogSearch): boolean {
  return [status, type, cause, event, q].some((value) => value !== undefined);
}

/**
 * What is looked at for an id, by what the service knows it as: an event, where it knows nothing. It is
 * typed in place of what was looked for before; a delivery is shown beside that.
 */
export function changeFor(
  id: string,
  hits: readonly { kind: string }[],
  { from }: Span,
  now: Date,
): Parameters<Change>[0] {
  if (hits.some(({ kind }) => kind === "delivery")) return { d: id };
  if (hits.some(({ kind }) => kind === "endpoint")) return { endpoint: id, event: undefined, q: undefined };
  return { event: id, q: undefined, ...reachBack(id, from, now) };
}

type Row = {
  endpoint_id: string;
  status: string;
  event_type: string;
  event_version: number;
  event_id: string | null;
  error: string | null;
  response_status: number | null;
};

/** Whether a delivery that was just logged is one that the URL asks for. Texts are searched by the service alone. */
export function isWanted(row: Row, { endpoint, status, type, cause, event, q }: LogSearch): boolean {
  if (q !== undefined) return false;
  return (
    (endpoint === undefined || row.endpoint_id === endpoint) &&
    (status === undefined || row.status === status) &&
    (event === undefined || row.event_id === event) &&
    (type === undefined || isOfType(row, type)) &&
    (cause === undefined || hasCause(row, cause))
  );
}

/** Of the type, of the types below a prefix, or of one version as `invoice.paid@2`. */
function isOfType({ event_type: type, event_version: version }: Row, wanted: string): boolean {
  if (wanted.endsWith(".*")) return type.startsWith(wanted.slice(0, -1));
  return wanted === type || wanted === `${type}@${version}`;
}

function hasCause({ error, response_status: status }: Row, cause: string): boolean {
  if (!cause.startsWith("http_")) return error === cause;
  const wanted = cause.slice("http_".length);
  const given = status === null ? "none" : String(status);
  return wanted.endsWith("xx") ? status !== null && given.startsWith(wanted.slice(0, 1)) : given === wanted;
}
