import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";

/** The channel on which the log's trigger names new rows (migrations/functions/log_added.sql). */
export const LOG_CHANNEL = "postern_log";
/** Longer than the time between two notes, by as much as a process may stand still. */
const WATCH_LIFE_S = 30;

/** Notes that this process has a watcher of the tenant's log, for half a minute. */
export async function noteWatch(db: Db, tenantId: TenantId, watcher: string): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.log_watches (tenant_id, watcher, until)
      VALUES ($1, $2, now() + make_interval(secs => $3))
      ON CONFLICT (tenant_id, watcher) DO UPDATE SET until = excluded.until`,
    [tenantId, watcher, WATCH_LIFE_S],
  );
}

export async function endWatch(db: Db, tenantId: TenantId, watcher: string): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.log_watches WHERE tenant_id = $1 AND watcher = $2`, [
    tenantId,
    watcher,
  ]);
}

/** Deletes the notes of processes that ended without a word. Of all tenants. */
export async function removeOldWatches(db: Db): Promise<void> {
  await db.query(/* sql */ `WITH old AS MATERIALIZED (
      SELECT tenant_id, watcher FROM postern.log_watches WHERE until < now()
      ORDER BY tenant_id, watcher -- as in order_of_deletion.sql
    )
    DELETE FROM postern.log_watches w USING old
    WHERE w.tenant_id = ANY (ARRAY[old.tenant_id]) AND w.watcher = old.watcher AND until < now()`);
}
