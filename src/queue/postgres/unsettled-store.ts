/** Endpoints whose pending dispatches have yet to follow a change: who changes one marks it, in the same transaction. */
import { notOnItsWay } from "../../database/on-its-way.ts";
import type { Db } from "../../database/pool.ts";
import { lockOption } from "./key-look-up.ts";
import type { EndpointKey, TenantId } from "../../shared/id.ts";

/** Its pending dispatches are claimed, held, or ended. */
export type EndpointState = "claimed" | "held" | "deleted";

/** With a locked endpoint, and with dispatches that are being added as held. */
export type FollowPatience = { whenLocked: "skip" | "wait"; heldMs: number };

const UNSETTLED_AT_ONCE = 1000;

/** Some of each tenant before more of any. */
export async function findUnsettled(db: Db): Promise<EndpointKey[]> {
  const { rows } = await db.query<EndpointKey>(
    /* sql */ `SELECT tenant_id AS "tenantId", id AS "endpointId" FROM postern.endpoints
      WHERE unsettled AND ${notOnItsWay("tenant_id")}
      ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY id), tenant_id LIMIT $1`,
    [UNSETTLED_AT_ONCE],
  );
  return rows;
}

/**
 * Locks the endpoint and answers its state; null where it is settled, or is locked and to be skipped. Behind the lock
 * of one whose dispatches no longer wait are all that were added as held: see still_held.sql.
 * @throws 55P03 where some are still being added after `heldMs`
 */
export async function lockUnsettled(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
  { whenLocked, heldMs }: FollowPatience,
): Promise<EndpointState | null> {
  const { rows } = await db.query<{ state: EndpointState }>(
    /* sql */ `SELECT CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN enabled AND mode = 'push' AND NOT moving THEN 'claimed' ELSE 'held' END
        AS state
      FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 AND unsettled
      FOR NO KEY UPDATE ${lockOption(whenLocked)}`,
    [tenantId, endpointId],
  );
  const state = rows[0]?.state ?? null;
  if (state !== null && state !== "held") await lockOutHeld(db, tenantId, heldMs);
  return state;
}

/**
 * Waits for whoever is adding dispatches of the tenant as held, and lets none be added so until the transaction ends. Merely
 * to try would never succeed while the tenant's events are accepted all the time: who waits keeps the next from being added
 * as held.
 */
async function lockOutHeld(db: Db, tenantId: TenantId, heldMs: number): Promise<void> {
  await db.query(
    /* sql */ `WITH patience AS MATERIALIZED (
        SELECT current_setting('lock_timeout') AS before,
          set_config('lock_timeout', $2, true)
      ), locked AS MATERIALIZED (
        SELECT before, pg_advisory_xact_lock(hashtextextended('postern.held ' || $1, 0)) FROM patience
      )
      SELECT set_config('lock_timeout', before, true) FROM locked`,
    [tenantId, `${heldMs}ms`],
  );
}

export async function setSettled(db: Db, endpoint: EndpointKey): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.endpoints SET unsettled = false WHERE tenant_id = $1 AND id = $2 AND unsettled`,
    [endpoint.tenantId, endpoint.endpointId],
  );
}
