/** The slots in PostgreSQL: one owner each, and every change compares the term that it is based on. */
import type { Db } from "../../database/pool.ts";
import { SLOTS_CHANGED, WAKE_CHANNEL } from "../channels.ts";
import type { InFlight, Slot, SlotRow, SlotTable, TakenSlot } from "../slots.ts";
import { IS_UNHELD, LOCKS_COUNT } from "./presence-store.ts";

/**
 * A worker without its lock whose last sign of life is so old by the server's
 * clock is gone, without observing it first. So the next start after a crash
 * of the only worker has all slots at once. Not soon after a start of the server:
 * then no worker had a chance to confirm itself, and the first one back would
 * take the slots of all.
 */
const GONE_AFTER_S = 10;

type Termed = Pick<SlotRow, "slot" | "term">;

/** Plain reads: nothing that is locked delays what a worker knows of the others. */
export async function readSlots(db: Db): Promise<SlotTable> {
  const { rows } = await db.query<SlotTable>({
    name: "read-slots",
    text: /* sql */ `SELECT
        (SELECT json_agg(json_build_object('slot', slot, 'owner', owner, 'term', term) ORDER BY slot)
          FROM postern.slots) AS slots,
        coalesce((SELECT json_agg(json_build_object('id', id, 'seenAt', session_at::text, 'isHeld', NOT is_unheld,
              'isGone', is_unheld AND session_at < now() - ${GONE_AFTER_S} * interval '1 second' AND ${LOCKS_COUNT})
            ORDER BY id)
          FROM (
            SELECT w.first_lease_id AS id, w.session_at, ${IS_UNHELD} AS is_unheld
            FROM postern.workers w WHERE w.takes_slots AND NOT w.is_dead OFFSET 0
          ) AS known), '[]') AS workers`,
  });
  return rows[0] ?? { slots: [], workers: [] };
}

/** Clears what the rows named: from now on it is in the memory of their new owner. */
export async function takeSlots(db: Db, workerId: string, slots: readonly Termed[]): Promise<TakenSlot[]> {
  const { rows } = await db.query<TakenSlot>({
    name: "take-slots",
    text: /* sql */ `WITH free AS MATERIALIZED (
        SELECT s.slot, s.in_flight FROM unnest($2::smallint[], $3::bigint[]) AS wanted (slot, term)
        JOIN postern.slots s ON s.slot = wanted.slot AND s.term = wanted.term
        ORDER BY s.slot FOR UPDATE OF s SKIP LOCKED
      )
      UPDATE postern.slots s SET owner = $1, term = s.term + 1, in_flight = '[]', changed_at = now()
      FROM free WHERE s.slot = free.slot
      RETURNING s.slot, s.term::int AS term, free.in_flight AS "inFlight"`,
    values: [workerId, ...termArrays(slots)],
  });
  return rows;
}

export async function leaveSlots(
  db: Db,
  workerId: string,
  slots: readonly Termed[],
  inFlight: ReadonlyMap<Slot, readonly InFlight[]>,
): Promise<void> {
  await db.query({
    name: "leave-slots",
    text: /* sql */ `WITH given AS MATERIALIZED (
        SELECT s.slot, given.in_flight FROM unnest($2::smallint[], $3::bigint[], $4::text[]) AS given (slot, term, in_flight)
        JOIN postern.slots s ON s.slot = given.slot AND s.term = given.term AND s.owner = $1
        ORDER BY s.slot FOR UPDATE OF s
      ), gone AS (
        UPDATE postern.slots s SET owner = NULL, term = s.term + 1, in_flight = given.in_flight::json, changed_at = now()
        FROM given WHERE s.slot = given.slot RETURNING s.slot
      )
      SELECT pg_notify('${WAKE_CHANNEL}', '${SLOTS_CHANGED}') FROM gone LIMIT 1`,
    values: [
      workerId,
      ...termArrays(slots),
      slots.map(({ slot }) => JSON.stringify(inFlight.get(slot) ?? [])),
    ],
  });
}

export async function retireFromSlots(db: Db, workerId: string): Promise<void> {
  await db.query(
    /* sql */ `WITH retired AS (
        UPDATE postern.workers SET takes_slots = false WHERE first_lease_id = $1 AND takes_slots RETURNING first_lease_id
      )
      SELECT pg_notify('${WAKE_CHANNEL}', '${SLOTS_CHANGED}') FROM retired`,
    [workerId],
  );
}

export async function askForSlots(db: Db): Promise<void> {
  await db.query(/* sql */ `SELECT pg_notify('${WAKE_CHANNEL}', '${SLOTS_CHANGED}')`);
}

/** An attempt is over when its dispatch is gone, or no longer under the lease of that attempt. */
export async function findInFlight(db: Db, attempts: readonly InFlight[]): Promise<InFlight[]> {
  const { rows } = await db.query<InFlight>({
    name: "find-in-flight",
    text: /* sql */ `SELECT given.tenant_id AS "tenantId", given.endpoint_id AS "endpointId", given.id,
        given.lease_id AS "leaseId"
      FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[]) AS given (tenant_id, endpoint_id, id, lease_id)
      CROSS JOIN LATERAL (
        SELECT FROM postern.dispatches
        WHERE tenant_id = given.tenant_id AND endpoint_id = given.endpoint_id AND id = given.id
          AND lease_owner = given.lease_id AND claimable_at > now() OFFSET 0
      ) AS leased`,
    values: [
      attempts.map(({ tenantId }) => tenantId),
      attempts.map(({ endpointId }) => endpointId),
      attempts.map(({ id }) => id),
      attempts.map(({ leaseId }) => leaseId),
    ],
  });
  return rows;
}

function termArrays(slots: readonly Termed[]): [Slot[], number[]] {
  return [slots.map(({ slot }) => slot), slots.map(({ term }) => term)];
}
