/** Which events a replay may send: pages of them in their order, with what became of each at the endpoint. */
import type { Db } from "../database/pool.ts";
import { idTimeMs, lowestIdAt, type EventId } from "../shared/id.ts";
import type { Candidate, ReplayFilter } from "./replay.ts";

const DAY_MS = 86_400_000;

// Each event once, however often it failed: by the endpoint's failures, in the order of their events.
const FAILED = /* sql */ `SELECT DISTINCT event_id AS id FROM (
    SELECT d.event_id FROM postern.deliveries d
    WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.status = 'failed'
      AND d.event_id > $3 AND d.event_id < $4 AND d.id >= $6
    ORDER BY d.event_id LIMIT $5
  ) AS failures`;
// The collation is that of the index: see its migration.
const ACCEPTED = /* sql */ `SELECT e.id FROM postern.events e
  WHERE e.tenant_id COLLATE "C" = $1 AND e.id > $3 AND e.id < $4 ORDER BY e.id LIMIT $5`;

type CandidateRow = Pick<Candidate, "eventId" | "isPending"> & {
  eventType: string | null;
  /** Of its body, and of its other bodies. */
  eventVersion: number | null;
  otherVersions: number[] | null;
} & {
  [Member in keyof NonNullable<Candidate["newest"]>]: NonNullable<Candidate["newest"]>[Member] | null;
};

/**
 * The next candidates behind an event, by looking at `most` rows of the log or
 * of events. `isAll` where there are none behind them. Reads the endpoint's
 * pending dispatches of these events, which have no index by event.
 */
export async function readCandidates(
  db: Db,
  filter: Pick<ReplayFilter, "tenantId" | "endpointId" | "selection" | "to">,
  page: { after: EventId; most: number },
): Promise<{ candidates: Candidate[]; isAll: boolean }> {
  const { tenantId, endpointId, selection, to } = filter;
  const isByFailure = selection === "failed";
  const { rows } = await db.query<CandidateRow>({
    name: `read-candidates-${isByFailure ? "failed" : "accepted"}`,
    // What an event's attempts are is sorted behind OFFSET 0, so that no index of times can seem the better one.
    text: /* sql */ `WITH page AS MATERIALIZED (${isByFailure ? FAILED : ACCEPTED}),
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
          SELECT d.id, d.endpoint_id, d.status, d.attempt, coalesce(d.version, 1) AS version, d.error, d.response_status FROM postern.deliveries d
          WHERE d.event_id = page.id AND d.tenant_id = $1 AND d.id >= $6 OFFSET 0
        ) AS made WHERE endpoint_id = $2 ORDER BY id DESC LIMIT 1
      ) AS newest ON true
      ORDER BY page.id`,
    values: [
      tenantId,
      endpointId,
      page.after,
      lowestIdAt(to.getTime()),
      page.most,
      lowestIdAt(idTimeMs(page.after) - DAY_MS),
    ],
  });
  // A failure is a row of its own: fewer events than rows does not mean that no more are left.
  return {
    candidates: rows.map(toCandidate),
    isAll: isByFailure ? rows.length === 0 : rows.length < page.most,
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

function eventOf({ eventType: type, eventVersion: newest, otherVersions }: CandidateRow): Candidate["event"] {
  if (type === null || newest === null) return null;
  return { type, newest, versions: [newest, ...(otherVersions ?? [])] };
}
