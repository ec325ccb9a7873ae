/** What happens to pending dispatches when their endpoint is disabled, enabled or deleted, or their event delivered. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId } from "../../shared/id.ts";
import { DISPATCH_TRIGGER } from "../dispatch-trigger.ts";
import { isRowOf, lockOption, withLeased } from "./key-look-up.ts";
import { leaseArrays } from "./release-store.ts";
import type { LeasedDispatch } from "../queue.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";

/** Dispatches per transaction: they and their endpoint stay locked for some ten milliseconds. */
const SLICE = 5000;
const FIRST = "00000000-0000-0000-0000-000000000000";

/**
 * One slice of an endpoint's pending dispatches, those after the given one,
 * within a transaction that has the endpoint locked. Answers the last of the
 * slice, or null when no more are left.
 */
export type FollowSlice = (
  db: Db,
  endpoint: EndpointKey,
  after: DeliveryId | null,
) => Promise<DeliveryId | null>;

/**
 * Holds the dispatches whose endpoint is disabled or pull, and releases the others.
 * Returns the ids of both. The endpoint's row is locked, so a change that enables
 * it at the same moment either comes first, and the dispatch is not held, or
 * finds it held and resumes it. A dispatch of a deleted endpoint is only
 * released, because nothing would ever resume it: it ends at its next claim.
 * With `skip`, locked rows are left for another call.
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
          SELECT tenant_id, id, (NOT enabled OR mode = 'pull' OR moving) AND deleted_at IS NULL AS is_held FROM postern.endpoints
          WHERE tenant_id = wanted.tenant_id AND id = wanted.endpoint_id
          FOR SHARE ${lockOption(whenLocked)}
        ) AS e
      ), ready AS MATERIALIZED (
        -- To sort all of them has every endpoint locked before the first dispatch.
        SELECT given.*, endpoint.is_held FROM given
        JOIN endpoint ON endpoint.tenant_id = given.tenant_id AND endpoint.id = given.endpoint_id
        ORDER BY given.tenant_id, given.endpoint_id, given.id
      ), locked AS MATERIALIZED (
        ${withLeased("ready", whenLocked)}
      )
      UPDATE postern.dispatches d
      SET lease_owner = NULL, claimable_at = greatest(d.due_at, now()), held = locked.is_held
      FROM locked WHERE ${isRowOf("locked")}
      RETURNING d.id, CASE WHEN locked.is_held THEN pg_notify('${FETCH_CHANNEL}', d.endpoint_id::text) END`,
    leaseArrays(dispatches),
  );
  return new Set(rows.map((row) => row.id));
}

/**
 * Locks one slice of an endpoint's dispatches that satisfy `which`, and applies
 * `change` to it: one or more named statements of a `WITH`. Locks in the order of
 * the key, because a batch of this endpoint's outcomes may be recorded at the
 * same moment.
 *
 * The slice is a range of the key, in which `which` is evaluated again. A join
 * with the locked rows might read the whole backlog for each slice.
 */
async function changeSlice(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
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

/** Holds the dispatches that no worker has leased. A worker holds its leased ones when it sees the endpoint disabled, or pull. */
export const holdPendingDispatches: FollowSlice = async (db, endpoint, after) => {
  const last = await changeSlice(db, endpoint, after, {
    // As a number, or PostgreSQL may read the whole index of claimable dispatches.
    which: /* sql */ `lease_owner IS NULL AND held::int = 0`,
    change: (theLocked) => /* sql */ `held AS (UPDATE postern.dispatches SET held = true WHERE ${theLocked})`,
  });
  await notifyFetchers(db, [endpoint.endpointId]);
  return last;
};

/** A client's lease outlives the change: only once it has ended may a worker claim the dispatch. */
export const resumeDispatches: FollowSlice = async (db, endpoint, after) => {
  const last = await changeSlice(db, endpoint, after, {
    // As a number, or PostgreSQL may read the whole index of held dispatches for each slice.
    which: /* sql */ `held::int = 1`,
    // Claimable from now on: the time on hold does not count as waiting for a worker.
    change: (theLocked) => /* sql */ `resumed AS (
        UPDATE postern.dispatches SET held = false, claimable_at = greatest(claimable_at, now()) WHERE ${theLocked}
      )`,
  });
  await db.query(/* sql */ `SELECT pg_notify('${WAKE_CHANNEL}', '')`);
  // Where it was pull, they wait in vain.
  await notifyFetchers(db, [endpoint.endpointId]);
  return last;
};

/** Clients that wait for these endpoints' events are told on commit. */
export async function notifyFetchers(db: Db, endpoints: readonly EndpointId[]): Promise<void> {
  await db.query(/* sql */ `SELECT pg_notify('${FETCH_CHANNEL}', id) FROM unnest($1::text[]) AS given (id)`, [
    endpoints,
  ]);
}

/**
 * Ends dispatches in flight too: their worker's outcome will find no dispatch to
 * complete. Skips superseded ones, which are no pending attempts: their worker
 * logs the outcome, and upkeep deletes the rest.
 */
export const endDispatches: FollowSlice = async (db, endpoint, after) => {
  const last = await changeSlice(db, endpoint, after, {
    which: /* sql */ `NOT superseded`,
    change: (theLocked) => /* sql */ `ended AS (
        DELETE FROM postern.dispatches WHERE ${theLocked}
        RETURNING tenant_id, endpoint_id, id, event_id, event_type, attempt, once, replay_id, version
      ), logged AS (
        INSERT INTO postern.deliveries
          (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers,
           latency_ms, error, replay_id, version)
        SELECT tenant_id, endpoint_id, id, event_id, event_type,
          ${DISPATCH_TRIGGER}, 'failed', attempt, '{}', 0, 'endpoint_deleted', replay_id, version
        FROM ended AS d
      )`,
  });
  await notifyFetchers(db, [endpoint.endpointId]);
  return last;
};

/**
 * Cancels the pending automatic attempt. An attempt in flight is finished, but
 * none follows it. Workers are notified of one that waits in a lane.
 *
 * Dispatches have no index by event, which every publisher would pay for, so
 * this reads the endpoint's pending dispatches. The second reading is for an
 * outcome that was recorded while the first waited for its dispatch's lock: the
 * next attempt's dispatch is newer than the first reading's snapshot.
 * Attempts that a person requested are still made.
 */
export async function supersedeDispatches(db: Db, event: EndpointKey & { eventId: EventId }): Promise<void> {
  if (!(await supersedeOnce(db, event))) await supersedeOnce(db, event);
}

/** False where nothing was pending. */
async function supersedeOnce(
  db: Db,
  { tenantId, endpointId, eventId }: EndpointKey & { eventId: EventId },
): Promise<boolean> {
  const { rows } = await db.query<{ id: DeliveryId; isLeased: boolean }>(
    /* sql */ `UPDATE postern.dispatches SET superseded = true
      WHERE tenant_id = $1 AND endpoint_id = $2 AND event_id = $3 AND NOT once
      RETURNING id, lease_owner IS NOT NULL AND claimable_at > now() AS "isLeased"`,
    [tenantId, endpointId, eventId],
  );
  for (const { id, isLeased } of rows) {
    if (isLeased) {
      await db.query(/* sql */ `SELECT pg_notify('${WAKE_CHANNEL}', $1)`, [`${endpointId} ${eventId}`]);
    } else {
      await db.query(
        /* sql */ `DELETE FROM postern.dispatches WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3`,
        [tenantId, endpointId, id],
      );
    }
  }
  return rows.length > 0;
}
