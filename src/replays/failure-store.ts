/**
 * Counting the events that failed at an endpoint, in slices of the range. The
 * attempts of a slice are looked up as one set: a look-up for each event took
 * twice as long, most of it to begin anew at each of the log's days.
 */
import type { Db } from "../database/pool.ts";
import { idTimeMs, lowestIdAt, type EventId } from "../shared/id.ts";
import { CLOCKS_APART_MS, type CandidateGroup } from "./candidate-store.ts";
import type { ReplayFilter } from "./replay.ts";

type Filter = Pick<ReplayFilter, "tenantId" | "endpointId">;
/** From the first, exclusive, to the second, inclusive. */
export type Slice = { after: EventId; upTo: EventId };

const FAILURES = /* sql */ `SELECT d.event_id FROM postern.deliveries d
  WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.status = 'failed'`;

/**
 * Cuts the oldest `most` failures behind an event into slices of about `size`
 * failures. `isAll` where there are no others. Reads the index of failures alone.
 */
export async function sliceFailures(
  db: Db,
  { tenantId, endpointId, to }: Filter & Pick<ReplayFilter, "to">,
  { after, size, most }: { after: EventId; size: number; most: number },
): Promise<{ slices: Slice[]; isAll: boolean }> {
  const { rows } = await db.query<{ id: EventId; place: number }>({
    name: "slice-failures",
    text: /* sql */ `SELECT event_id AS id, place::int FROM (
        SELECT event_id, row_number() OVER (ORDER BY event_id) AS place, count(*) OVER () AS total
        FROM (${FAILURES} AND d.event_id > $3 AND d.event_id < $4 ORDER BY d.event_id LIMIT $5) AS failures
      ) AS counted WHERE place % $6 = 0 OR place = total ORDER BY place`,
    values: [tenantId, endpointId, after, lowestIdAt(to.getTime()), most, size],
  });
  // An event that failed often may be the end of several slices.
  const ends = [...new Set(rows.map(({ id }) => id))];
  const slices = ends.map((upTo, place) => ({ after: ends[place - 1] ?? after, upTo }));
  return { slices, isAll: (rows.at(-1)?.place ?? 0) < most };
}

type GroupRow = Pick<CandidateGroup, "isPending" | "count" | "first" | "last"> & {
  isKept: boolean;
  eventType: string;
  version: number;
} & NonNullable<CandidateGroup["newest"]>;

/**
 * The events of a slice, counted by what decides whether they are sent. Reads the
 * endpoint's pending dispatches of these events, which have no index by event.
 */
export async function groupFailures(
  db: Db,
  { tenantId, endpointId }: Filter,
  { after, upTo }: Slice,
): Promise<CandidateGroup[]> {
  const { rows } = await db.query<GroupRow>({
    name: "group-failures",
    // In the order of events, since only indexes that lead from events to rows have it: for an empty table any other
    // would seem as good. The other collation is that of the index that has all that is asked for of events.
    text: /* sql */ `WITH page AS MATERIALIZED (
        SELECT DISTINCT event_id AS id FROM (${FAILURES} AND d.event_id > $3 AND d.event_id <= $4) AS failures
      ),
      pending AS MATERIALIZED (
        SELECT d.event_id FROM postern.dispatches d
        WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND NOT d.superseded AND d.event_id > $3 AND d.event_id <= $4
        UNION
        SELECT d.event_id FROM postern.person_sends d
        WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.event_id IS NOT NULL
      ),
      newest AS MATERIALIZED (
        SELECT DISTINCT ON (event_id) event_id, event_type, version, status, error, response_status FROM (
          SELECT d.event_id, d.id, d.endpoint_id, d.event_type, d.version, d.status, d.error, d.response_status
          FROM postern.deliveries d
          WHERE d.event_id = ANY (ARRAY(SELECT id FROM page)) AND d.tenant_id = $1 AND d.id >= $5 AND d.id < $6
          ORDER BY d.event_id OFFSET 0
        ) AS made WHERE endpoint_id = $2 ORDER BY event_id, id DESC
      )
      SELECT event_id IN (SELECT event_id FROM pending) AS "isPending", EXISTS (
          SELECT FROM postern.events e WHERE e.tenant_id COLLATE "C" = $1 AND e.id = event_id
        ) AS "isKept",
        event_type AS "eventType", coalesce(version, 1) AS version, status, error, response_status AS "responseStatus",
        count(*)::int AS count, min(event_id::text COLLATE "C") AS first, max(event_id::text COLLATE "C") AS last
      FROM newest GROUP BY 1, 2, 3, 4, 5, 6, 7`,
    values: [
      tenantId,
      endpointId,
      after,
      upTo,
      lowestIdAt(idTimeMs(after) - CLOCKS_APART_MS),
      lowestIdAt(Date.now() + CLOCKS_APART_MS),
    ],
  });
  return rows.map(toGroup);
}

/** Of the event only the version that failed is told: what others it has is of no matter to an event that was attempted. */
function toGroup({ isPending, isKept, eventType: type, version, ...row }: GroupRow): CandidateGroup {
  const { status, error, responseStatus, count, first, last } = row;
  const event = isKept ? { type, newest: version, versions: [version] } : null;
  return { isPending, count, first, last, event, newest: { status, error, responseStatus } };
}
