/** What happens to pending dispatches when their endpoint is disabled, enabled or deleted, or their event delivered. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, EventId, TenantId } from "../../shared/id.ts";
import { DISPATCH_CHANNEL } from "./accept-store.ts";
import { isRowOf, lockOption, withLeased } from "./key-look-up.ts";
import { leaseArrays } from "./release-store.ts";
import type { FollowSlice, LeasedDispatch } from "../queue.ts";

/** Dispatches in one transaction: some ten milliseconds, in which nobody else gets at them or their endpoint. */
const SLICE = 5000;
const FIRST = "00000000-0000-0000-0000-000000000000";

/**
 * Holds the dispatches whose endpoint is disabled, and answers those it dealt
 * with. The endpoint's row is locked, so an enabling at the same moment either
 * comes first, and the dispatch is not held, or finds it held and resumes it.
 * Where the endpoint was deleted since, nobody would ever resume it: it is only
 * given back, and ends when it is claimed again. With `skip`, what somebody else
 * has locked is left for another call.
 */
export async function holdDispatches(
  db: Db,
  dispatches: readonly LeasedDispatch[],
  whenLocked: "skip" | "wait",
): Promise<Set<DeliveryId>> {
  const { rows } = await db.query<{ id: DeliveryId }>(
    /* sql */ `WITH given AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[])
          AS given (tenant_id, endpoint_id, id, lease_id)
      ), endpoint AS MATERIALIZED (
        SELECT e.* FROM (SELECT DISTINCT tenant_id, endpoint_id FROM given ORDER BY 1, 2) AS wanted
        CROSS JOIN LATERAL (
          SELECT tenant_id, id, NOT enabled AND deleted_at IS NULL AS is_disabled FROM postern.endpoints
          WHERE tenant_id = wanted.tenant_id AND id = wanted.endpoint_id
          FOR SHARE ${lockOption(whenLocked)}
        ) AS e
      ), ready AS MATERIALIZED (
        -- To sort all of them has every endpoint locked before the first dispatch.
        SELECT given.*, endpoint.is_disabled FROM given
        JOIN endpoint ON endpoint.tenant_id = given.tenant_id AND endpoint.id = given.endpoint_id
        ORDER BY given.tenant_id, given.endpoint_id, given.id
      ), locked AS MATERIALIZED (
        ${withLeased("ready", whenLocked)}
      )
      UPDATE postern.dispatches d
      SET lease_owner = NULL, claimable_at = greatest(d.due_at, now()), held = locked.is_disabled
      FROM locked WHERE ${isRowOf("locked")}
      RETURNING d.id`,
    leaseArrays(dispatches),
  );
  return new Set(rows.map((row) => row.id));
}

/**
 * Locks one slice of an endpoint's dispatches, those that `which` is true of,
 * and does with `theLocked` what `change` says: one or more statements, named,
 * as they stand in a `WITH`. Locked in the order of the key: a batch of outcomes
 * of this endpoint may be recorded at the same moment.
 *
 * The slice is a range of the key, in which `which` is asked again. To join with
 * the rows that are locked, PostgreSQL may read the whole backlog for each slice.
 */
async function changeSlice(
  db: Db,
  { tenantId, endpointId }: Parameters<FollowSlice>[1],
  after: DeliveryId | null,
  { which, change }: { which: string; change: (theLocked: string) => string },
): Promise<DeliveryId | null> {
  const theLocked = /* sql */ `tenant_id = $1 AND endpoint_id = $2 AND id > $3
    AND id <= (SELECT id FROM locked ORDER BY id DESC LIMIT 1) AND ${which}`;
  const { rows } = await db.query<{ id: DeliveryId }>(
    /* sql */ `WITH locked AS MATERIALIZED (
        SELECT id FROM postern.dispatches WHERE tenant_id = $1 AND endpoint_id = $2 AND id > $3 AND ${which}
        ORDER BY id LIMIT $4 FOR UPDATE
      ), ${change(theLocked)}
      SELECT id FROM locked ORDER BY id OFFSET $4 - 1`,
    [tenantId, endpointId, after ?? FIRST, SLICE],
  );
  return rows[0]?.id ?? null;
}

/** Holds at once what no worker has leased; a worker that has sees the endpoint disabled and holds the rest. */
export const holdPendingDispatches: FollowSlice = (db, endpoint, after) =>
  changeSlice(db, endpoint, after, {
    // As a number, or PostgreSQL may read the index of all that is claimable for it.
    which: /* sql */ `lease_owner IS NULL AND held::int = 0`,
    change: (theLocked) => /* sql */ `held AS (UPDATE postern.dispatches SET held = true WHERE ${theLocked})`,
  });

export const resumeDispatches: FollowSlice = async (db, endpoint, after) => {
  const last = await changeSlice(db, endpoint, after, {
    which: "held",
    // Claimable from now on: the time on hold is no wait for a worker.
    change: (theLocked) => /* sql */ `resumed AS (
        UPDATE postern.dispatches SET held = false, claimable_at = greatest(claimable_at, now()) WHERE ${theLocked}
      )`,
  });
  await db.query(/* sql */ `SELECT pg_notify('${DISPATCH_CHANNEL}', '')`);
  return last;
};

/**
 * One in flight ends here too: its worker's outcome will find no dispatch to
 * complete. Not one that is superseded: it is no pending attempt that could
 * fail, its worker logs how it ended, and upkeep removes what is left.
 */
export const endDispatches: FollowSlice = (db, endpoint, after) =>
  changeSlice(db, endpoint, after, {
    which: /* sql */ `NOT superseded`,
    change: (theLocked) => /* sql */ `ended AS (
        DELETE FROM postern.dispatches WHERE ${theLocked}
        RETURNING tenant_id, endpoint_id, id, event_id, event_type, attempt
      ), logged AS (
        INSERT INTO postern.deliveries
          (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers,
           latency_ms, error)
        SELECT tenant_id, endpoint_id, id, event_id, event_type,
          CASE attempt WHEN 1 THEN 'event' ELSE 'auto_retry' END, 'failed', attempt, '{}', 0, 'endpoint_deleted'
        FROM ended
      )`,
  });

/** Cancels the pending automatic attempt; one in flight goes on, but none follows it. Workers hear of one that waits in a lane. */
export async function supersedeDispatches(
  db: Db,
  event: { tenantId: TenantId; endpointId: EndpointId; eventId: EventId },
): Promise<void> {
  const key = [event.tenantId, event.endpointId, event.eventId];
  await db.query(
    /* sql */ `UPDATE postern.dispatches SET superseded = true
      WHERE tenant_id = $1 AND endpoint_id = $2 AND event_id = $3`,
    key,
  );
  await db.query(
    /* sql */ `DELETE FROM postern.dispatches
      WHERE tenant_id = $1 AND endpoint_id = $2 AND event_id = $3
        AND (lease_owner IS NULL OR claimable_at <= now())`,
    key,
  );
  await db.query(
    /* sql */ `SELECT pg_notify('${DISPATCH_CHANNEL}', endpoint_id || ' ' || event_id) FROM postern.dispatches
      WHERE tenant_id = $1 AND endpoint_id = $2 AND event_id = $3`,
    key,
  );
}
