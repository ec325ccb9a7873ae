/**
 * Leases of clients, on the held dispatches of pull endpoints. Such a dispatch
 * has an owner only while a client has it, and the end of the lease as its time:
 * so due dispatches are one range of their endpoint's index, and leases
 * that ended are another.
 */
import { notOnItsWay } from "../../database/on-its-way.ts";
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointKey, TenantId } from "../../shared/id.ts";
import { CLIENT_LEASE_MS, type EndedLease, type FetchedDispatch } from "../fetching.ts";
import { DISPATCH_TRIGGER } from "../dispatch-trigger.ts";
import { isRowOf } from "./key-look-up.ts";

const ENDED_AT_ONCE = 500;
const UNFETCHED_AT_ONCE = 1000;

const WAITING = /* sql */ `tenant_id = $1 AND endpoint_id = $2 AND held AND NOT superseded AND lease_owner IS NULL`;

/** Due dispatches, fresh or replayed, in the order of the index. */
function dueSql(which: "IS NULL" | "IS NOT NULL", limit: string): string {
  return /* sql */ `SELECT tenant_id, endpoint_id, id, event_id, version, replay_id, claimable_at FROM postern.dispatches
        WHERE ${WAITING} AND replay_id ${which} AND claimable_at <= now()
        ORDER BY replay_id NULLS FIRST, claimable_at, event_id LIMIT ${limit}
        FOR UPDATE SKIP LOCKED`;
}

const LEASE_HELD = /* sql */ `WITH fresh AS MATERIALIZED (
        ${dueSql("IS NULL", "$3")}
      ), replayed AS MATERIALIZED (
        ${dueSql("IS NOT NULL", "$3 - (SELECT count(*) FROM fresh)")}
      ), found AS MATERIALIZED (
        SELECT * FROM fresh UNION ALL SELECT * FROM replayed
      ), sized AS MATERIALIZED (
        SELECT found.*, sum(coalesce(e.bytes, 0)) OVER oldest AS size_so_far, row_number() OVER oldest AS place
        FROM found LEFT JOIN LATERAL (
          SELECT octet_length(postern.body_of_version(body, version, versions, found.version)) AS bytes
          FROM postern.events WHERE id = found.event_id AND tenant_id = $1 OFFSET 0
        ) AS e ON true
        WINDOW oldest AS (ORDER BY found.replay_id NULLS FIRST, found.claimable_at, found.event_id
          ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE size_so_far <= $4 OR place = 1
      ), leased AS (
        -- Not by a join: the policy compares the tenant with a constant, by which all of its rows could be read for one.
        UPDATE postern.dispatches d SET lease_owner = $5, claimable_at = now() + $6 * interval '1 ms'
        WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id = ANY (ARRAY(SELECT id FROM taken))
        RETURNING d.id, d.event_id, d.event_type, d.attempt, ${DISPATCH_TRIGGER} AS trigger, d.replay_id, d.version
      )
      SELECT leased.id, leased.event_id AS "eventId", leased.event_type AS "eventType",
        coalesce(leased.version, 1) AS version, leased.attempt, leased.trigger,
        leased.replay_id AS "replayId", e.body, now() AS "leasedAt"
      FROM taken JOIN leased ON leased.id = taken.id LEFT JOIN LATERAL (
        SELECT postern.body_of_version(body, version, versions, leased.version) AS body
        FROM postern.events WHERE id = leased.event_id AND tenant_id = $1 OFFSET 0
      ) AS e ON true
      ORDER BY taken.place`;

/**
 * Leases due dispatches of a pull endpoint to a client: fresh ones before
 * replayed ones, the longest due first. Skips dispatches that another client is
 * leasing. At least one, however large.
 */
export async function leaseHeld(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
  leaseId: string,
  limits: { dispatches: number; bodyBytes: number },
): Promise<FetchedDispatch[]> {
  const { rows } = await db.query<FetchedDispatch>({
    name: "lease-held",
    text: LEASE_HELD,
    values: [tenantId, endpointId, limits.dispatches, limits.bodyBytes, leaseId, CLIENT_LEASE_MS],
  });
  return rows;
}

/** Milliseconds until the endpoint's next dispatch is due, or null where none is scheduled. */
export async function nextHeldInMs(db: Db, { tenantId, endpointId }: EndpointKey): Promise<number | null> {
  const { rows } = await db.query<{ inMs: number }>({
    name: "next-held",
    text: /* sql */ `SELECT greatest(0, extract(epoch FROM claimable_at - clock_timestamp()) * 1000)::float8 AS "inMs"
      FROM postern.dispatches WHERE ${WAITING} AND replay_id IS NULL
      ORDER BY replay_id NULLS FIRST, claimable_at, event_id LIMIT 1`,
    values: [tenantId, endpointId],
  });
  return rows[0]?.inMs ?? null;
}

/** Which of these dispatches the client still has by this lease. */
export async function findHeldByLease(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
  leaseId: string,
  ids: readonly DeliveryId[],
): Promise<EndedLease[]> {
  const { rows } = await db.query<EndedLease>({
    name: "find-held-by-lease",
    text: /* sql */ `SELECT d.tenant_id AS "tenantId", d.endpoint_id AS "endpointId", d.id, d.lease_owner AS "leaseId",
        d.event_type AS "eventType", d.attempt, d.once, d.leased_at AS "leasedAt"
      FROM unnest($3::uuid[]) AS given (id) CROSS JOIN LATERAL (
        SELECT tenant_id, endpoint_id, id, lease_owner, event_type, attempt, once,
          claimable_at - $5 * interval '1 ms' AS leased_at
        FROM postern.dispatches
        WHERE tenant_id = $1 AND endpoint_id = $2 AND id = given.id AND lease_owner = $4 AND claimable_at > now()
        OFFSET 0
      ) AS d`,
    values: [tenantId, endpointId, ids, leaseId, CLIENT_LEASE_MS],
  });
  return rows;
}

/**
 * Some leases of clients that have ended, of all tenants but those `without`, the longest
 * ended first. Passes over locked ones: there may be so many that no other is found.
 */
export async function findEndedLeases(
  db: Db,
  without: readonly TenantId[] = [],
): Promise<{ leases: EndedLease[]; mayHaveMore: boolean }> {
  const { rows } = await db.query<EndedLease>({
    name: "find-ended-leases",
    text: /* sql */ `SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId", id, lease_owner AS "leaseId",
        event_type AS "eventType", attempt, once, claimable_at - $2 * interval '1 ms' AS "leasedAt"
      FROM postern.dispatches WHERE held AND lease_owner IS NOT NULL AND claimable_at <= now() AND ${notOnItsWay("tenant_id")}
        AND tenant_id NOT IN (SELECT * FROM unnest($3::text[]))
      ORDER BY claimable_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
    values: [ENDED_AT_ONCE, CLIENT_LEASE_MS, without],
  });
  return { leases: rows, mayHaveMore: rows.length === ENDED_AT_ONCE };
}

/**
 * Ends dispatches that have waited at pull endpoints for longer than the log is
 * kept, as failed with the error `not_fetched`; true when there may be more. Of all tenants.
 */
export async function endUnfetched(db: Db, retentionDays: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `WITH old AS MATERIALIZED (
        SELECT d.* FROM postern.endpoints e CROSS JOIN LATERAL (
          SELECT tenant_id, endpoint_id, id FROM postern.dispatches
          WHERE tenant_id = e.tenant_id AND endpoint_id = e.id AND held AND NOT superseded AND lease_owner IS NULL
            AND claimable_at < now() - make_interval(days => $1)
          ORDER BY replay_id NULLS FIRST, claimable_at, event_id LIMIT $2
          FOR UPDATE SKIP LOCKED
        ) AS d WHERE e.mode = 'pull' AND e.deleted_at IS NULL AND ${notOnItsWay("e.tenant_id")} LIMIT $2
      ), ended AS (
        DELETE FROM postern.dispatches d USING old WHERE ${isRowOf("old")}
        RETURNING d.tenant_id, d.endpoint_id, d.id, d.event_id, d.event_type, d.attempt, d.once, d.replay_id,
          d.version
      )
      INSERT INTO postern.deliveries
        (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers, latency_ms,
         error, replay_id, version)
      SELECT tenant_id, endpoint_id, id, event_id, event_type, ${DISPATCH_TRIGGER}, 'failed', attempt, '{}', 0,
        'not_fetched', replay_id, version
      FROM ended AS d`,
    [retentionDays, UNFETCHED_AT_ONCE],
  );
  return (rowCount ?? 0) > 0;
}
