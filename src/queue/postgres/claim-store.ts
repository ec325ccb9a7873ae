import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../../shared/id.ts";
import { isRowOf, withLeased } from "./key-look-up.ts";
import {
  LEASE_MS,
  LONGEST_RETURN_MS,
  type Claimed,
  type ClaimLimits,
  type CrowdedEndpoint,
  type LeasedDispatch,
} from "../queue.ts";

/** Turning a row away is one update without its body: so many more are turned away at once than are claimed. */
const TURNED_AWAY_AT_ONCE = 5000;

type ClaimedRow = {
  tenant_id: TenantId;
  endpoint_id: EndpointId;
  id: DeliveryId;
  event_id: EventId;
  event_type: string;
  attempt: number;
  body: string | null;
};
/** The counts stand in every row, and in one without a dispatch where none was claimed. */
type FoundRow = { due: number; turned_away: { endpoint_id: EndpointId; count: number }[] | null } & (
  | ClaimedRow
  | { id: null }
);

/**
 * Leases what is due and nobody's; rows that another worker is claiming are
 * passed over, not waited for. Bodies are measured before any is read: hundreds
 * of the largest at once would be more than a process can hold. What is due of
 * crowded endpoints is passed over, and some of it put back: the backlog of one
 * tenant would otherwise be claimed and given back before the rows of all others.
 */
export async function claimDispatches(
  db: Db,
  leaseId: string,
  limits: ClaimLimits,
  crowded: readonly CrowdedEndpoint[],
): Promise<Claimed> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<FoundRow>({
    name: "claim-dispatches",
    text: /* sql */ `WITH crowded AS MATERIALIZED (
        SELECT * FROM unnest($6::uuid[], $7::float8[], $8::float8[], $9::float8[])
          AS crowded (endpoint_id, after_ms, spread_ms, every_ms)
      ), due AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id, event_id, claimable_at FROM postern.dispatches
        WHERE NOT held AND NOT superseded AND claimable_at <= now() AND endpoint_id <> ALL ($6)
        ORDER BY claimable_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      ), sized AS MATERIALIZED (
        SELECT due.tenant_id, due.endpoint_id, due.id, due.event_id,
          sum(coalesce(octet_length(e.body), 0)) OVER longest_due AS size_so_far, row_number() OVER longest_due AS place
        FROM due LEFT JOIN postern.events e ON e.id = due.event_id
        WINDOW longest_due AS (ORDER BY due.claimable_at, due.id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE size_so_far <= $4 OR place = 1
      ), claimed AS (
        UPDATE postern.dispatches d
        SET lease_owner = $1, claimable_at = now() + $3 * interval '1 ms'
        FROM taken
        WHERE d.tenant_id = taken.tenant_id AND d.endpoint_id = taken.endpoint_id AND d.id = taken.id
        RETURNING d.tenant_id, d.endpoint_id, d.id, d.event_id, d.event_type, d.attempt
      ), too_many AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id, claimable_at FROM postern.dispatches
        -- Decided before it is looked for: without crowded endpoints nothing is.
        WHERE cardinality($6) > 0
          AND NOT held AND NOT superseded AND claimable_at <= now() AND endpoint_id = ANY ($6)
        ORDER BY claimable_at LIMIT $5
        FOR UPDATE SKIP LOCKED
      ), put_off AS MATERIALIZED (
        SELECT tenant_id, too_many.endpoint_id, id,
          least($10 - spread_ms, after_ms + every_ms * row_number() OVER (
            PARTITION BY too_many.endpoint_id ORDER BY claimable_at)) + random() * spread_ms AS delay_ms
        FROM too_many JOIN crowded ON crowded.endpoint_id = too_many.endpoint_id
      ), put_back AS (
        UPDATE postern.dispatches d
        SET lease_owner = NULL, claimable_at = now() + r.delay_ms * interval '1 ms'
        FROM put_off r WHERE d.tenant_id = r.tenant_id AND d.endpoint_id = r.endpoint_id AND d.id = r.id
      )
      SELECT found.*, claimed.*, e.body FROM (
        SELECT (SELECT count(*)::int FROM due) AS due, (
          SELECT json_agg(counts) FROM (
            SELECT endpoint_id, count(*) FROM too_many GROUP BY endpoint_id) AS counts) AS turned_away
      ) AS found LEFT JOIN claimed ON true
      -- Here, and not within the update: with an outer join to a partitioned table there, PostgreSQL 18.4 has crashed.
      LEFT JOIN postern.events e ON e.id = claimed.event_id`,
    values: [
      leaseId,
      limits.dispatches,
      LEASE_MS,
      limits.bodyBytes,
      TURNED_AWAY_AT_ONCE,
      crowded.map(({ endpointId }) => endpointId),
      crowded.map(({ returns }) => returns.afterMs),
      crowded.map(({ returns }) => returns.spreadMs),
      crowded.map(({ returns }) => returns.everyMs),
      LONGEST_RETURN_MS,
    ],
  });
  const claimed: LeasedDispatch[] = [];
  const withoutEvent: LeasedDispatch[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    const dispatch = { ...toDispatch(row), leaseId, leaseEndsMs };
    (row.body === null ? withoutEvent : claimed).push(dispatch);
  }
  const [found] = rows;
  if (found === undefined) throw new Error("the claim answered nothing");
  const counts = found.turned_away ?? [];
  const turnedAway = new Map(counts.map(({ endpoint_id, count }) => [endpoint_id, count]));
  const away = counts.reduce((sum, { count }) => sum + count, 0);
  const isAll =
    found.due < limits.dispatches &&
    claimed.length + withoutEvent.length === found.due &&
    away < TURNED_AWAY_AT_ONCE;
  return { claimed, withoutEvent, turnedAway, isAll };
}

function toDispatch(row: ClaimedRow): Omit<LeasedDispatch, "leaseId" | "leaseEndsMs"> {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body ?? "",
    attempt: row.attempt,
  };
}

/** Locks in the order of the key, as every statement on several dispatches does. */
export async function postponeDispatches(
  db: Db,
  postponed: readonly { dispatch: LeasedDispatch; delayMs: number }[],
): Promise<void> {
  await db.query(
    /* sql */ `WITH given AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::float8[])
          AS given (tenant_id, endpoint_id, id, lease_id, delay_ms)
        ORDER BY tenant_id, endpoint_id, id
      ), locked AS MATERIALIZED (
        ${withLeased("given", "wait")}
      )
      UPDATE postern.dispatches d
      SET lease_owner = NULL, claimable_at = now() + locked.delay_ms * interval '1 ms'
      FROM locked WHERE ${isRowOf("locked")}`,
    [...leaseArrays(postponed.map((item) => item.dispatch)), postponed.map((item) => item.delayMs)],
  );
}

/** Tenant, endpoint, dispatch and lease ids as the four arrays that every statement on leased dispatches takes. */
export function leaseArrays(
  dispatches: readonly Pick<LeasedDispatch, "tenantId" | "endpointId" | "id" | "leaseId">[],
): [TenantId[], EndpointId[], DeliveryId[], string[]] {
  return [
    dispatches.map((dispatch) => dispatch.tenantId),
    dispatches.map((dispatch) => dispatch.endpointId),
    dispatches.map((dispatch) => dispatch.id),
    dispatches.map((dispatch) => dispatch.leaseId),
  ];
}
