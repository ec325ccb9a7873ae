/** Dispatches that a person asks for: one attempt each, through the lanes like any other. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId } from "../../shared/id.ts";
import type { OnceDispatch, ReplayPage } from "../once.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";

// Of the endpoint that the transaction has locked.
const IS_HELD = /* sql */ `coalesce(
        (SELECT mode = 'pull' OR moving FROM postern.endpoints WHERE tenant_id = $1 AND id = $2), false)`;
// Heard on commit, and once however many rows say it. Parked ones are found by the lanes.
const NOTIFY = /* sql */ `CASE WHEN held THEN pg_notify('${FETCH_CHANNEL}', endpoint_id::text)
        WHEN NOT parked THEN pg_notify('${WAKE_CHANNEL}', '') END`;

/** Within the transaction that records who asked for it, and that has the endpoint locked. Workers hear of it at the commit. */
export async function insertOnce(
  db: Db,
  dispatch: OnceDispatch,
): Promise<{ id: DeliveryId; dueAt: Date } | null> {
  const { tenantId, endpointId, eventId, eventType, version, attempt } = dispatch;
  const { rows } = await db.query<{ id: DeliveryId; dueAt: Date }>(
    /* sql */ `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once, version, held)
      SELECT $1, $2, postern.uuid_v7(), $3, $4, least($5::integer, 32767), now(), now(), true,
        nullif($6::smallint, 1), ${IS_HELD}
      RETURNING id, due_at AS "dueAt", ${NOTIFY}`,
    [tenantId, endpointId, eventId, eventType, attempt, version],
  );
  return rows[0] ?? null;
}

/** Within the transaction that moves the replay's cursor behind these events, so that each is added once. They lie parked, behind all that is fresh. */
export async function insertReplayed(
  db: Db,
  { tenantId, endpointId, replayId, events }: ReplayPage,
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at,
        claimable_at, once, parked, replay_id, version, held)
      SELECT $1, $2, postern.uuid_v7(), event_id, event_type, least(attempt, 32767), now(), now(), true, true, $3,
        nullif(version, 1), ${IS_HELD}
      FROM unnest($4::uuid[], $5::text[], $6::integer[], $7::smallint[])
        AS given (event_id, event_type, attempt, version)
      RETURNING ${NOTIFY}`,
    [
      tenantId,
      endpointId,
      replayId,
      events.map((event) => event.eventId),
      events.map((event) => event.eventType),
      events.map((event) => event.attempt),
      events.map((event) => event.version),
    ],
  );
}

// Not as an id: PostgreSQL may read the whole index of replayed dispatches, or of a tenant's, where the endpoint's key leads to few.
const UNLEASED = /* sql */ `tenant_id = $1 AND endpoint_id = $2 AND coalesce(replay_id::text, '') = $3
  AND lease_owner IS NULL`;

/**
 * Takes back a replay's dispatches that no worker has, within a transaction that
 * keeps it from getting more; answers how many. Reads the endpoint's pending dispatches.
 */
export async function removeReplayed(
  transaction: Db,
  { tenantId, endpointId, replayId }: Omit<ReplayPage, "events">,
): Promise<number> {
  const values = [tenantId, endpointId, replayId];
  await transaction.query(
    /* sql */ `SELECT FROM postern.dispatches WHERE ${UNLEASED} ORDER BY id FOR UPDATE`,
    values,
  );
  const { rowCount } = await transaction.query(
    /* sql */ `DELETE FROM postern.dispatches WHERE ${UNLEASED}`,
    values,
  );
  return rowCount ?? 0;
}
