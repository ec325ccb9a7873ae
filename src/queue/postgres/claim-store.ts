/** Leases dispatches: due ones, and parked ones for endpoints that ask for them. */
import type { Db } from "../../database/pool.ts";
import type { EndpointId, EndpointKey } from "../../shared/id.ts";
import type { SlotSet } from "../slots.ts";
import { toClaimed, type AnsweredRow } from "./claimed-rows.ts";
import { isRowOf } from "./key-look-up.ts";
import { inSlots } from "./in-slots.ts";
import { LEASE_MS, type Ask, type Claimed, type ClaimLimits } from "../queue.ts";

/** Parking is an update without a body, so more are parked at once than are claimed. */
const PARKED_AT_ONCE = 5000;
/** Half a second's. Below it, reading what is due takes less than a look-up for each endpoint. */
const MOST_DUE_READ = 1_000_000;
/** Of an endpoint, by its key. */
const FIRST_ROWS = 500;

// Due dispatches without a lease, or with one that has ended, of endpoints that are enabled and not backlogged.
export const DUE = /* sql */ `NOT held AND NOT parked AND NOT superseded AND claimable_at <= now()`;
export const LEASE = /* sql */ `leased AS (
    UPDATE postern.dispatches d
    SET lease_owner = $1, claimable_at = now() + $2 * interval '1 ms', parked = false
    FROM taken WHERE ${isRowOf("taken")}
    RETURNING d.tenant_id, d.endpoint_id, d.id, d.event_id, d.event_type, d.attempt, d.once, d.replay_id, d.version, taken.due_at
  )`;
// One look-up by key for each row, whatever the statistics say: see key-look-up.ts.
export const SIZE = /* sql */ `LEFT JOIN LATERAL (
    SELECT octet_length(postern.body_of_version(body, version, versions, found.version)) AS bytes
    FROM postern.events WHERE id = found.event_id OFFSET 0) AS e ON true`;
// Bodies are joined outside of the update: with an outer join to a partitioned table in it, PostgreSQL 18.4 has crashed.
export const WITH_BODY = /* sql */ `SELECT leased.*, e.body, e.traceparent FROM leased LEFT JOIN LATERAL (
    SELECT postern.body_of_version(body, version, versions, leased.version) AS body, traceparent
    FROM postern.events WHERE id = leased.event_id OFFSET 0) AS e ON true`;

/**
 * Leases due dispatches that no worker holds, the longest due first. Skips rows
 * that another worker is claiming. Measures bodies before it reads any: hundreds
 * of the largest at once would be more than a process can hold.
 */
export async function claimDispatches(
  db: Db,
  leaseId: string,
  limits: ClaimLimits,
  { slots, without }: { slots: SlotSet; without: readonly EndpointId[] },
): Promise<Claimed> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<{ due: number } & AnsweredRow>({
    name: "claim-dispatches",
    text: /* sql */ `WITH due AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id, event_id, version, claimable_at AS due_at FROM postern.dispatches
        WHERE ${DUE} AND endpoint_id NOT IN (SELECT * FROM unnest($5::uuid[])) AND ${inSlots("endpoint_id", "$6")}
        ORDER BY claimable_at LIMIT $3
        FOR UPDATE SKIP LOCKED
      ), sized AS MATERIALIZED (
        SELECT found.*, sum(coalesce(e.bytes, 0)) OVER longest_due AS size_so_far,
          row_number() OVER longest_due AS place
        FROM due AS found ${SIZE}
        WINDOW longest_due AS (ORDER BY found.due_at, found.event_id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE size_so_far <= $4 OR place = 1
      ), ${LEASE}
      SELECT counted.due, found.* FROM (SELECT count(*)::int AS due FROM due) AS counted
      LEFT JOIN (${WITH_BODY}) AS found ON true
      ORDER BY found.due_at, found.event_id`,
    values: [leaseId, LEASE_MS, limits.dispatches, limits.bodyBytes, without, slots.bits],
  });
  const look = { found: rows[0]?.due ?? 0, most: limits.dispatches };
  return toClaimed(rows, look, { leaseId, leaseEndsMs });
}

/** Parks due dispatches of the endpoints; true when no more are due. */
export async function parkDispatches(db: Db, endpoints: readonly EndpointId[]): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "park-dispatches",
    text: /* sql */ `WITH due AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id FROM postern.dispatches
        WHERE ${DUE} AND (endpoint_id IN (SELECT * FROM unnest($1::uuid[]))) IS TRUE
        ORDER BY claimable_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      )
      UPDATE postern.dispatches d SET parked = true, lease_owner = NULL FROM due
      WHERE ${isRowOf("due")}`,
    values: [endpoints, PARKED_AT_ONCE],
  });
  return (rowCount ?? 0) < PARKED_AT_ONCE;
}

/**
 * Parks what is due among the first dispatches of each endpoint. They are found by
 * key alone, so no subquery is restricted to what is due: in the order of claims
 * they may lie behind a million of another's.
 */
export async function parkOldest(db: Db, endpoints: readonly EndpointKey[]): Promise<void> {
  await db.query({
    name: "park-oldest",
    text: /* sql */ `WITH first AS MATERIALIZED (
        SELECT line.* FROM unnest($1::text[], $2::uuid[]) AS wanted (tenant_id, endpoint_id)
        CROSS JOIN LATERAL (
          SELECT tenant_id, endpoint_id, id, ${DUE} AS is_due FROM postern.dispatches d
          WHERE d.tenant_id = wanted.tenant_id AND d.endpoint_id = wanted.endpoint_id
          ORDER BY id LIMIT ${FIRST_ROWS}
        ) AS line
      ), locked AS MATERIALIZED (
        SELECT first.tenant_id, first.endpoint_id, first.id, ${DUE} AS is_due
        FROM first CROSS JOIN LATERAL (
          SELECT held, parked, superseded, claimable_at FROM postern.dispatches d
          WHERE ${isRowOf("first")}
          FOR UPDATE SKIP LOCKED
        ) AS d
        WHERE first.is_due
      ), due AS MATERIALIZED (SELECT * FROM locked WHERE is_due)
      UPDATE postern.dispatches d SET parked = true, lease_owner = NULL FROM due
      WHERE ${isRowOf("due")}`,
    values: [endpoints.map(({ tenantId }) => tenantId), endpoints.map(({ endpointId }) => endpointId)],
  });
}

/** Leases parked dispatches for each ask, the oldest of its endpoint, and replayed ones last, within its own limits. */
export async function pullDispatches(
  db: Db,
  leaseId: string,
  asks: readonly Ask[],
): Promise<Map<EndpointId, Claimed>> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<{ asked_id: EndpointId; parked: number } & AnsweredRow>({
    name: "pull-dispatches",
    text: /* sql */ `WITH ask AS MATERIALIZED (
        SELECT * FROM unnest($3::text[], $4::uuid[], $5::bigint[], $6::bigint[])
          AS ask (tenant_id, endpoint_id, dispatches, body_bytes)
      ), line AS MATERIALIZED (
        SELECT ask.body_bytes, line.*
        FROM ask CROSS JOIN LATERAL (
          SELECT d.tenant_id, d.endpoint_id, d.id, d.event_id, d.version, d.due_at, d.replay_id FROM postern.dispatches d
          WHERE d.tenant_id = ask.tenant_id AND d.endpoint_id = ask.endpoint_id AND d.parked AND NOT d.held
            AND NOT d.superseded
          ORDER BY d.replay_id NULLS FIRST, d.due_at, d.event_id LIMIT ask.dispatches
          FOR UPDATE SKIP LOCKED
        ) AS line
      ), sized AS MATERIALIZED (
        SELECT found.*, sum(coalesce(e.bytes, 0)) OVER oldest AS size_so_far, row_number() OVER oldest AS place
        FROM line AS found ${SIZE}
        WINDOW oldest AS (PARTITION BY found.endpoint_id ORDER BY found.replay_id NULLS FIRST, found.due_at,
          found.event_id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE size_so_far <= body_bytes OR place = 1
      ), ${LEASE}
      SELECT ask.endpoint_id AS asked_id, coalesce(counted.parked, 0) AS parked, found.*
      FROM ask
      LEFT JOIN (SELECT endpoint_id, count(*)::int AS parked FROM line GROUP BY endpoint_id) AS counted
        ON counted.endpoint_id = ask.endpoint_id
      LEFT JOIN (${WITH_BODY}) AS found ON found.endpoint_id = ask.endpoint_id
      ORDER BY found.replay_id NULLS FIRST, found.due_at, found.event_id`,
    values: [
      leaseId,
      LEASE_MS,
      asks.map((ask) => ask.tenantId),
      asks.map((ask) => ask.endpointId),
      asks.map((ask) => ask.dispatches),
      asks.map((ask) => ask.bodyBytes),
    ],
  });
  const answers = Map.groupBy(rows, (row) => row.asked_id);
  return new Map(
    asks.map((ask) => {
      const own = answers.get(ask.endpointId) ?? [];
      const look = { found: own[0]?.parked ?? 0, most: ask.dispatches };
      return [ask.endpointId, toClaimed(own, look, { leaseId, leaseEndsMs })];
    }),
  );
}

/**
 * Endpoints with due dispatches, in these slots. Reads that many due ones, and
 * where there are more, the first rows of each endpoint. So its time is bounded
 * by the endpoints that have rows, and not by how much is due. Where those rows
 * do not tell, the endpoint counts as one with due dispatches.
 */
export async function findDue(db: Db, slots: SlotSet, mostRead = MOST_DUE_READ): Promise<EndpointId[]> {
  const { rows } = await db.query<{ id: EndpointId }>(
    /* sql */ `WITH RECURSIVE due AS MATERIALIZED (
        SELECT endpoint_id, count(*) AS dispatches
        FROM (SELECT endpoint_id FROM postern.dispatches WHERE ${DUE} LIMIT $2) AS found GROUP BY endpoint_id
      ), line AS (
        (SELECT tenant_id, endpoint_id FROM postern.dispatches
          WHERE (SELECT sum(dispatches) FROM due) >= $2 ORDER BY tenant_id, endpoint_id LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT tenant_id, endpoint_id FROM postern.dispatches
          WHERE (tenant_id, endpoint_id) > (line.tenant_id, line.endpoint_id)
          ORDER BY tenant_id, endpoint_id LIMIT 1) AS next
      )
      SELECT endpoint_id AS id FROM due WHERE ${inSlots("endpoint_id", "$1")}
      UNION
      SELECT endpoint_id FROM line WHERE ${inSlots("endpoint_id", "$1")} AND EXISTS (
        SELECT FROM (
          SELECT ${DUE} AS is_due, row_number() OVER () AS place FROM (
            SELECT held, parked, superseded, claimable_at FROM postern.dispatches d
            WHERE d.tenant_id = line.tenant_id AND d.endpoint_id = line.endpoint_id
            ORDER BY id LIMIT ${FIRST_ROWS}) AS oldest
        ) AS placed
        WHERE is_due OR place = ${FIRST_ROWS})`,
    [slots.bits, mostRead],
  );
  return rows.map(({ id }) => id);
}

/** One index look-up for each endpoint that has parked dispatches, however many it has. */
export async function findBacklogs(db: Db): Promise<EndpointKey[]> {
  const { rows } = await db.query<EndpointKey>({
    name: "find-backlogs",
    text: /* sql */ `WITH RECURSIVE line AS (
        (SELECT tenant_id, endpoint_id FROM postern.dispatches WHERE parked AND NOT held
          ORDER BY tenant_id, endpoint_id LIMIT 1)
        UNION ALL
        SELECT next.* FROM line CROSS JOIN LATERAL (
          SELECT tenant_id, endpoint_id FROM postern.dispatches
          WHERE parked AND NOT held AND (tenant_id, endpoint_id) > (line.tenant_id, line.endpoint_id)
          ORDER BY tenant_id, endpoint_id LIMIT 1) AS next
      )
      SELECT tenant_id AS "tenantId", endpoint_id AS "endpointId" FROM line`,
  });
  return rows;
}
