/** Dispatches that a person asks for: one attempt each, through the lanes like any other. */
import type { Db } from "../../database/pool.ts";
import type { DeliveryId, ReplayId } from "../../shared/id.ts";
import type { OnceDispatch, ReplayPage } from "../once.ts";
import { isRowOf } from "./key-look-up.ts";
import { WAKE_CHANNEL } from "../wake-channel.ts";

/** Within the transaction that records who asked for it, and that has the endpoint locked. Workers hear of it at the commit. */
export async function insertOnce(
  db: Db,
  dispatch: OnceDispatch,
): Promise<{ id: DeliveryId; dueAt: Date } | null> {
  const { tenantId, endpointId, eventId, eventType, attempt } = dispatch;
  const { rows } = await db.query<{ id: DeliveryId; dueAt: Date }>(
    /* sql */ `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once)
      VALUES ($1, $2, postern.uuid_v7(), $3, $4, least($5::integer, 32767), now(), now(), true)
      RETURNING id, due_at AS "dueAt", pg_notify('${WAKE_CHANNEL}', '')`,
    [tenantId, endpointId, eventId, eventType, attempt],
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
        claimable_at, once, parked, replay_id)
      SELECT $1, $2, postern.uuid_v7(), event_id, event_type, least(attempt, 32767), now(), now(), true, true, $3
      FROM unnest($4::uuid[], $5::text[], $6::integer[]) AS given (event_id, event_type, attempt)`,
    [
      tenantId,
      endpointId,
      replayId,
      events.map((event) => event.eventId),
      events.map((event) => event.eventType),
      events.map((event) => event.attempt),
    ],
  );
}

/** Takes back a replay's dispatches that no worker has; answers how many. */
export async function removeReplayed(db: Db, replayId: ReplayId): Promise<number> {
  const { rowCount } = await db.query(
    // In the order of the key, as every statement on several dispatches.
    /* sql */ `WITH locked AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id FROM postern.dispatches WHERE replay_id = $1 AND lease_owner IS NULL
        ORDER BY tenant_id, endpoint_id, id FOR UPDATE
      )
      DELETE FROM postern.dispatches d USING locked WHERE ${isRowOf("locked")}`,
    [replayId],
  );
  return rowCount ?? 0;
}
