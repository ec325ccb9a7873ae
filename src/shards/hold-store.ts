/** Brings a tenant's work to rest in the source of its move, and lets it go on. */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";

/** In the order of their keys, as everywhere: whoever locks several meanwhile and this never have each the other's. */
function lockedSql(which: string): string {
  return /* sql */ `WITH locked AS MATERIALIZED (
        SELECT id FROM postern.endpoints WHERE tenant_id = $1 AND ${which} ORDER BY id FOR NO KEY UPDATE
      )`;
}
const OF_LOCKED = "FROM locked WHERE e.tenant_id = $1 AND e.id = locked.id";

const HELD_AT_ONCE = 5000;

/** Holds what no worker has leased, some at a time; answers whether attempts are still in flight, or more is left. */
export async function holdTenant(db: Db, tenantId: TenantId): Promise<boolean> {
  await db.query(
    /* sql */ `${lockedSql("NOT moving")}
      UPDATE postern.endpoints e SET moving = true ${OF_LOCKED}`,
    [tenantId],
  );
  await db.query(
    /* sql */ `UPDATE postern.dispatches SET held = true, lease_owner = NULL
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM postern.dispatches
        WHERE tenant_id = $1 AND NOT held AND NOT superseded AND (lease_owner IS NULL OR claimable_at <= now())
        LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    [tenantId, HELD_AT_ONCE],
  );
  return isAtWork(db, tenantId);
}

/** Whether an attempt may be in flight. */
export async function isAtWork(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await db.query<{ busy: boolean }>(
    /* sql */ `SELECT EXISTS (SELECT FROM postern.dispatches WHERE tenant_id = $1 AND NOT held) AS busy`,
    [tenantId],
  );
  return rows[0]?.busy === true;
}

/** Whether counts of attempts are not folded. */
export async function hasCounts(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await db.query<{ waiting: boolean }>(
    /* sql */ `SELECT EXISTS (SELECT FROM postern.delivery_counts WHERE tenant_id = $1) AS waiting`,
    [tenantId],
  );
  return rows[0]?.waiting === true;
}

/** Workers resume what was held for the move. */
export async function releaseEndpoints(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(
    /* sql */ `${lockedSql("moving")}
      UPDATE postern.endpoints e SET moving = false, unsettled = true ${OF_LOCKED}`,
    [tenantId],
  );
}

/** The same once nothing is open that began before: also what such a transaction held behind those that resumed. */
export async function releaseLate(db: Db, tenantId: TenantId): Promise<void> {
  await db.query(
    /* sql */ `${lockedSql("(moving OR deleted_at IS NULL)")}
      UPDATE postern.endpoints e SET moving = false, unsettled = true ${OF_LOCKED}`,
    [tenantId],
  );
}

export async function hasMovingEndpoints(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.endpoints WHERE tenant_id = $1 AND moving LIMIT 1`,
    [tenantId],
  );
  return rowCount === 1;
}
