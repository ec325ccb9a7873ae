/** What may be looked for in a tenant's log, and where rows that fit can be. Pure; the statements are in search-store.ts. */
import { parseVersionedType } from "../events/subscription.ts";
import {
  LAST_ID,
  lowestIdAfter,
  lowestIdAt,
  type DeliveryId,
  type EndpointId,
  type EventId,
} from "../shared/id.ts";
import type { DeliveryStatus, DeliveryTrigger, IdRange } from "./delivery.ts";

export type SearchFilter = {
  /** Of these alone. */
  endpointIds?: readonly EndpointId[] | undefined;
  status?: DeliveryStatus | undefined;
  /** A type, `invoice.paid@2` for one version of it, or with `.*` at the end all types below it. */
  eventType?: string | undefined;
  eventId?: EventId | undefined;
  /** From the first to the second, both inclusive, or attempts without an answer. */
  responseStatus?: { from: number; to: number } | "none" | undefined;
  error?: string | undefined;
  trigger?: DeliveryTrigger | undefined;
  /** In a body, as it is written there. */
  text?: string | undefined;
  times: TimeFilter;
};

/** Bounds of a list by time and by id. */
export type TimeFilter = {
  /** Milliseconds since 1970: inclusive and exclusive. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** Only deliveries older, and only those newer, than these. */
  before?: DeliveryId | EventId | undefined;
  after?: DeliveryId | undefined;
};

/** Where rows that fit can be: each endpoint and status is a stream of its own, newest first. */
export type Streams = {
  eventId: EventId | null;
  /** Null: of all the tenant's endpoints together. */
  endpointIds: readonly EndpointId[] | null;
  /** Null: none of the log can fit. */
  logged: "any" | readonly ("failed" | "test")[] | null;
  pending: boolean;
};

export type LogQuery = {
  streams: Streams;
  /** The conditions on a row of a stream; `value` answers the place of a value in the statement. */
  fits: (value: (given: unknown) => string) => string[];
  /** Whether every row of the streams fits. */
  fitsAll: boolean;
};

const DAY_MS = 86_400_000;

/** Times are in ids, so all bounds together are one range of ids. */
export function rangeOf({ fromMs, toMs, before, after }: TimeFilter): IdRange {
  const from = [lowestIdAt(fromMs ?? 0), after === undefined ? "" : lowestIdAfter(after)];
  const to = [toMs === undefined ? LAST_ID : lowestIdAt(toMs), before ?? LAST_ID];
  return { from: from.toSorted().at(-1) ?? "", to: to.toSorted()[0] ?? "" };
}

/**
 * A range in parts, newest first: two days, a week, a month, the rest. Most
 * pages end within the first, whose few partitions cost the least to look at.
 */
export function windowsOf({ from, to }: IdRange, nowMs: number): IdRange[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const bounds = [1, 7, 31].map((days) => lowestIdAt(today - days * DAY_MS));
  const inside = bounds.filter((bound) => from < bound && bound < to);
  const starts = [...inside, from];
  return starts.map((start, place) => ({ from: start, to: starts[place - 1] ?? to }));
}

/** How many streams share what one slice may look at. All the tenant's endpoints count as one. */
export function countStreams({ eventId, endpointIds, logged, pending }: Streams): number {
  const endpoints = eventId === null ? (endpointIds?.length ?? 1) : 1;
  const statuses = logged === null || logged === "any" || eventId !== null ? 1 : logged.length;
  // What persons are sending is one stream more.
  return (logged === null ? 0 : endpoints * statuses) + (pending ? (endpointIds?.length ?? 1) + 1 : 0);
}

export function queryOf(filter: SearchFilter): LogQuery {
  const { eventId, endpointIds, status } = filter;
  const streams: Streams = {
    eventId: eventId ?? null,
    endpointIds: endpointIds ?? null,
    logged: loggedStreams(filter),
    pending: (status === undefined || status === "pending") && !asksForAnswer(filter),
  };
  const conditions = conditionsOf(filter, streams);
  return {
    streams,
    fits: (value) => conditions.map((condition) => condition(value)),
    fitsAll: conditions.length === 0,
  };
}

/** A pending delivery has no answer yet, and no error. */
function asksForAnswer({ responseStatus, error }: SearchFilter): boolean {
  return responseStatus !== undefined || error !== undefined;
}

/** Only what a 2xx answered is delivered, so a filter for anything else asks for failures and tests. */
function loggedStreams({ status, responseStatus, error }: SearchFilter): Streams["logged"] {
  if (status === "pending") return null;
  if (status === "failed" || status === "test") return [status];
  const isOther =
    error !== undefined ||
    responseStatus === "none" ||
    (responseStatus !== undefined && (responseStatus.to < 200 || responseStatus.from > 299));
  if (status === "delivered") return isOther ? null : "any";
  return isOther ? ["failed", "test"] : "any";
}

type Condition = (value: (given: unknown) => string) => string;

function conditionsOf(filter: SearchFilter, streams: Streams): Condition[] {
  const { status, eventType, responseStatus, error, trigger } = filter;
  const conditions: Condition[] = [];
  if (eventType?.endsWith(".*") === true) {
    conditions.push((value) => `event_type ^@ ${value(eventType.slice(0, -1))}`);
  } else if (eventType !== undefined) conditions.push(...ofType(eventType));
  if (responseStatus === "none") conditions.push(() => "response_status IS NULL");
  else if (responseStatus !== undefined) {
    const { from, to } = responseStatus;
    conditions.push((value) => `response_status BETWEEN ${value(from)} AND ${value(to)}`);
  }
  if (error !== undefined) conditions.push((value) => `error = ${value(error)}`);
  if (trigger !== undefined) conditions.push((value) => `trigger = ${value(trigger)}`);
  if (status === "delivered") conditions.push(() => "status = 'delivered'");
  return [...conditions, ...ofEvent(filter, streams)];
}

/** Rows without a version are of the first: most types never have another. */
function ofType(eventType: string): Condition[] {
  const { type, version } = parseVersionedType(eventType) ?? { type: eventType, version: null };
  const isOfType: Condition = (value) => `event_type = ${value(type)}`;
  return version === null ? [isOfType] : [isOfType, (value) => `coalesce(version, 1) = ${value(version)}`];
}

/** An event leads to its rows of the log, whatever their endpoint and status are. */
function ofEvent({ eventId, endpointIds }: SearchFilter, { logged }: Streams): Condition[] {
  if (eventId === undefined) return [];
  const conditions: Condition[] = [(value) => `event_id = ${value(eventId)}`];
  if (endpointIds !== undefined) conditions.push((value) => `endpoint_id = ANY (${value(endpointIds)})`);
  if (logged !== null && logged !== "any") {
    conditions.push((value) => `status = ANY (${value([...logged, "pending"])})`);
  }
  return conditions;
}
