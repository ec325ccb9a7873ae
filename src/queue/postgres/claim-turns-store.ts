/**
 * A look at what is due by tenants in turn, for looks after one that left some due.
 * By age alone, a single retry of one tenant waits behind whatever another has due.
 *
 * No look pays for it while each claims all that is due: the turns are a statement of
 * their own. It finds tenants by an index of what nobody has leased, at the cost of a
 * look-up each. What is leased as it is accepted never enters that index.
 */
import type { Db } from "../../database/pool.ts";
import type { EndpointId } from "../../shared/id.ts";
import { DUE, LEASE, SIZE, WITH_BODY } from "./claim-store.ts";
import { toClaimed, type AnsweredRow } from "./claimed-rows.ts";
import { inSlots } from "./in-slots.ts";
import { LEASE_MS, type Claimed, type ClaimLimits } from "../queue.ts";
import type { SlotSet } from "../slots.ts";

/** That a look finds: some milliseconds. Of more, the next look finds the next. */
const TENANTS_AT_ONCE = 500;
/** Before the first tenant's id. */
export const FIRST_TURN = "";

const CLAIMABLE = /* sql */ `${DUE} AND endpoint_id NOT IN (SELECT * FROM unnest($5::uuid[])) AND ${inSlots("endpoint_id", "$6")}`;
const DISPATCH = /* sql */ `SELECT tenant_id, endpoint_id, id, event_id, version, claimable_at AS due_at FROM postern.dispatches`;
// The condition and the order of the index of turns, and of no other.
const UNLEASED = /* sql */ `NOT held AND NOT parked AND lease_owner IS NULL`;
const FIRST_OF_TENANT = /* sql */ `SELECT tenant_id, claimable_at FROM postern.dispatches WHERE ${UNLEASED}`;

/**
 * Leases due dispatches as `claimDispatches` does: the longest due, equal parts for
 * the tenants behind `turn` that have some, and with what is left of its limits more
 * of those and of others, the longest due of each.
 * An endpoint's dispatches are taken in their order. Answers the turn of the next look.
 */
export async function claimInTurns(
  db: Db,
  leaseId: string,
  limits: ClaimLimits,
  { slots, without, turn }: { slots: SlotSet; without: readonly EndpointId[]; turn: string },
): Promise<{ claimed: Claimed; turn: string }> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<{ due: number; turn: string } & AnsweredRow>({
    name: "claim-in-turns",
    text: /* sql */ `WITH RECURSIVE line AS (
        (SELECT first.*, 1 AS place FROM (${FIRST_OF_TENANT} AND tenant_id > $7
          ORDER BY tenant_id, claimable_at LIMIT 1) AS first)
        UNION ALL
        SELECT next.*, place + 1 FROM line CROSS JOIN LATERAL (${FIRST_OF_TENANT} AND tenant_id > line.tenant_id
          ORDER BY tenant_id, claimable_at LIMIT 1) AS next
        WHERE place < ${TENANTS_AT_ONCE}
      ), tenants AS MATERIALIZED (
        SELECT * FROM line
      ), due AS MATERIALIZED (
        ${DISPATCH} WHERE ${CLAIMABLE}
        ORDER BY claimable_at LIMIT $3
        FOR UPDATE SKIP LOCKED
      ), part AS MATERIALIZED (
        SELECT tenant_id, greatest(1, $3 / count(*) OVER ()) AS dispatches FROM tenants WHERE claimable_at <= now()
      ), parts AS MATERIALIZED (
        SELECT one.* FROM part CROSS JOIN LATERAL (
          ${DISPATCH}
          -- A range in place of an equation keeps PostgreSQL from passing over other tenants' in the order of time.
          WHERE tenant_id BETWEEN part.tenant_id AND part.tenant_id AND lease_owner IS NULL AND ${CLAIMABLE}
          ORDER BY dispatches.tenant_id, claimable_at LIMIT part.dispatches
          FOR UPDATE SKIP LOCKED
        ) AS one
      ), found AS (
        -- The longest due first, or it would wait for as long as others have small ones.
        SELECT *, CASE row_number() OVER (ORDER BY due_at, event_id) WHEN 1 THEN 0
          ELSE row_number() OVER (PARTITION BY tenant_id ORDER BY due_at, event_id) END AS turn
        FROM (SELECT *, true AS is_of_part FROM parts UNION ALL SELECT *, false FROM due
          WHERE (tenant_id, endpoint_id, id) NOT IN (SELECT tenant_id, endpoint_id, id FROM parts)) AS either
      ), sized AS MATERIALIZED (
        SELECT found.*, sum(coalesce(e.bytes, 0)) OVER in_turn AS size_so_far, row_number() OVER in_turn AS place
        FROM found ${SIZE}
        -- Of rows in the same turn the small first: a tenant waits behind no large ones of many others.
        WINDOW in_turn AS (ORDER BY found.turn, found.is_of_part DESC, e.bytes, found.event_id, found.id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT * FROM sized WHERE place <= $3 AND (size_so_far <= $4 OR place = 1)
      ), ${LEASE}
      SELECT counted.*, found.* FROM (
        SELECT (SELECT count(*)::int FROM sized) AS due,
          coalesce((SELECT tenant_id FROM tenants WHERE place = ${TENANTS_AT_ONCE}), '${FIRST_TURN}') AS turn
      ) AS counted LEFT JOIN (${WITH_BODY}) AS found ON true
      ORDER BY found.due_at, found.event_id`,
    values: [leaseId, LEASE_MS, limits.dispatches, limits.bodyBytes, without, slots.bits, turn],
  });
  const { due = 0, turn: next = FIRST_TURN } = rows[0] ?? {};
  const look = { found: due, most: limits.dispatches };
  return { claimed: toClaimed(rows, look, { leaseId, leaseEndsMs }), turn: next };
}
