/** Which events a replay may send: pages of them in their order, with what became of each at the endpoint. */
import type { Db } from "../database/pool.ts";
import { idTimeMs, lowestIdAt, type EventId } from "../shared/id.ts";
import type { Candidate, Judged, ReplayFilter, ReplaySelection } from "./replay.ts";

/** By how much clocks of processes may differ: an event's attempts have ids after its own. */
export const CLOCKS_APART_MS = 3_600_000;

// Each event once, however often it failed: by the endpoint's failures, in the order of their events.
const FAILED = /* sql */ `SELECT DISTINCT event_id AS id FROM (
    SELECT d.event_id FROM postern.deliveries d
    WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.status = 'failed'
      AND d.event_id > $3 AND d.event_id < $4 AND d.id >= $6 AND d.id < $7
    ORDER BY d.event_id LIMIT $5
  ) AS failures`;
// The collation is that of the index: see its migration.
const acceptedSql = (which: string): string => /* sql */ `SELECT e.id FROM postern.events e
  WHERE e.tenant_id COLLATE "C" = $1 AND e.id > $3 AND e.id < $4 ${which} ORDER BY e.id LIMIT $5`;
// Events are kept longer than the log. Whether one that is older than the log was delivered is not known any more.
// The least id of a day is written out, since a tenant's role may not call postern.lowest_id_at.
const LOGGED = /* sql */ `AND e.id >= (
    SELECT (lpad(to_hex((extract(epoch FROM coalesce(
        min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp AT TIME ZONE 'UTC', 'epoch')) * 1000)::bigint), 12, '0')
      || repeat('0', 20))::uuid
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'postern.deliveries'::regclass AND c.relname ~ '_[0-9]{8}$'
  )`;
const PAGES: Record<ReplaySelection, string> = {
  failed: FAILED,
  missed: acceptedSql(LOGGED),
  all: acceptedSql(""),
};

// What an event's attempts are is sorted behind OFFSET 0, so that no index of times can seem the better one.
// Without the bounds of their ids each event is looked up in each day of the log, those to come included.
const candidatesSql = (selection: ReplaySelection): string => /* sql */ `
  WITH page AS MATERIALIZED (${PAGES[selection]}),
  pending AS MATERIALIZED (
    SELECT d.event_id FROM postern.dispatches d
    WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND NOT d.superseded AND d.event_id > $3 AND d.event_id < $4
    UNION
    SELECT d.event_id FROM postern.person_sends d
    WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.event_id IS NOT NULL
  )
  SELECT page.id AS "eventId", event.type AS "eventType", event.version AS "eventVersion",
    event.others AS "otherVersions",
    page.id IN (SELECT event_id FROM pending) AS "isPending", newest.status, newest.attempt, newest.version,
    newest.error, newest.response_status AS "responseStatus"
  FROM page
  LEFT JOIN LATERAL (
    SELECT type, coalesce(version, 1) AS version,
      CASE WHEN versions IS NOT NULL THEN ARRAY(SELECT json_object_keys(versions)::integer) END AS others
    FROM postern.events WHERE id = page.id AND tenant_id = $1 OFFSET 0
  ) AS event ON true
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT d.id, d.endpoint_id, d.status, d.attempt, coalesce(d.version, 1) AS version, d.error, d.response_status
      FROM postern.deliveries d
      WHERE d.event_id = page.id AND d.tenant_id = $1 AND d.id >= $6 AND d.id < $7 OFFSET 0
    ) AS made WHERE endpoint_id = $2 ORDER BY id DESC LIMIT 1
  ) AS newest ON true
  ORDER BY page.id`;

type EventColumns = {
  eventType: string | null;
  /** Of its body, and of its other bodies. */
  eventVersion: number | null;
  otherVersions: number[] | null;
};
type Nullable<T> = { [Member in keyof T]: T[Member] | null };
type CandidateRow = Pick<Candidate, "eventId" | "isPending"> &
  EventColumns &
  Nullable<NonNullable<Candidate["newest"]>>;

type Filter = Pick<ReplayFilter, "tenantId" | "endpointId" | "selection" | "to">;
/** The candidates behind an event, by looking at `most` rows of the log or of events. */
type Page = { after: EventId; most: number };

/**
 * The next candidates, in the order of their events. `isAll` where there are
 * none behind them. Reads the endpoint's pending dispatches of these events,
 * which have no index by event.
 */
export async function readCandidates(
  db: Db,
  filter: Filter,
  page: Page,
): Promise<{ candidates: Candidate[]; isAll: boolean }> {
  const isByFailure = filter.selection === "failed";
  const { rows } = await db.query<CandidateRow>({
    name: `read-candidates-${filter.selection}`,
    text: candidatesSql(filter.selection),
    values: valuesOf(filter, page),
  });
  // A failure is a row of its own: fewer events than rows does not mean that no more are left.
  return {
    candidates: rows.map(toCandidate),
    isAll: isByFailure ? rows.length === 0 : rows.length < page.most,
  };
}

/** Candidates that are judged alike. */
export type CandidateGroup = Judged & { count: number; first: EventId; last: EventId };

type GroupRow = Pick<CandidateGroup, "isPending" | "count" | "first" | "last"> &
  EventColumns &
  Nullable<NonNullable<Judged["newest"]>>;

/** As {@link readCandidates} of what was accepted, counted: most events of a page are alike. */
export async function groupAccepted(
  db: Db,
  filter: Filter,
  page: Page,
): Promise<{ groups: CandidateGroup[]; isAll: boolean }> {
  const alike = `"isPending", "eventType", "eventVersion", "otherVersions", status, error, "responseStatus"`;
  const { rows } = await db.query<GroupRow>({
    name: `group-accepted-${filter.selection}`,
    // In this order texts of ids sort as the ids do; PostgreSQL 15 finds no least id.
    text: /* sql */ `SELECT ${alike}, count(*)::int AS count,
        min("eventId"::text COLLATE "C") AS first, max("eventId"::text COLLATE "C") AS last
      FROM (${candidatesSql(filter.selection)}) AS candidate GROUP BY ${alike}`,
    values: valuesOf(filter, page),
  });
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return { groups: rows.map(toGroup), isAll: count < page.most };
}

function valuesOf({ tenantId, endpointId, to }: Filter, { after, most }: Page): unknown[] {
  return [
    tenantId,
    endpointId,
    after,
    lowestIdAt(to.getTime()),
    most,
    lowestIdAt(idTimeMs(after) - CLOCKS_APART_MS),
    lowestIdAt(Date.now() + CLOCKS_APART_MS),
  ];
}

function toGroup(row: GroupRow): CandidateGroup {
  const { isPending, count, first, last, status, error, responseStatus } = row;
  return {
    isPending,
    count,
    first,
    last,
    event: eventOf(row),
    newest: status === null ? null : { status, error, responseStatus },
  };
}

function toCandidate(row: CandidateRow): Candidate {
  const { eventId, isPending, status, attempt, version, error, responseStatus } = row;
  const newest =
    status === null || attempt === null || version === null
      ? null
      : { status, attempt, version, error, responseStatus };
  return { eventId, event: eventOf(row), isPending, newest };
}

function eventOf({ eventType: type, eventVersion: newest, otherVersions }: EventColumns): Candidate["event"] {
  if (type === null || newest === null) return null;
  return { type, newest, versions: [newest, ...(otherVersions ?? [])] };
}
