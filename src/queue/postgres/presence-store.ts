import type { Db } from "../../database/pool.ts";
import { isRowOf } from "./key-look-up.ts";
import { lastLeaseId } from "./lease-ids.ts";

/** A worker whose lock nobody holds, or whose leases are being freed. `seenAt` only serves to be compared. */
export type UnheldWorker = { firstLeaseId: string; seenAt: string; isDead: boolean };

/** After a restart of the server every lock is free. So long the others may need to come back, and to end what they send. */
const AFTER_RESTART_S = 20;
const FREED_AT_ONCE = 5000;

/** The lock of a worker, by the name that it has in the statement. */
function lockKey(firstLeaseId: string): string {
  return /* sql */ `hashtextextended('postern.worker ' || ${firstLeaseId}, 0)`;
}

/** True of a row `w` of `workers` whose lock no session holds. */
const IS_UNHELD = /* sql */ `NOT EXISTS (
    SELECT FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.mode = 'ShareLock' AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((l.classid::bigint << 32) | l.objid::bigint) = ${lockKey("w.first_lease_id::text")})`;

/**
 * Holds the worker's lock for as long as the connection lasts; false if somebody
 * else has it to himself. It is shared, so that an earlier connection, which
 * the server does not know to be lost, keeps no new one out.
 */
export async function holdWorkerLock(db: Db, firstLeaseId: string): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    /* sql */ `SELECT pg_try_advisory_lock_shared(${lockKey("$1::uuid::text")}) AS held,
      -- A worker that stands still keeps its lock, and a confirmation is worth nothing after a crash of the server.
      set_config('idle_session_timeout', '0', false), set_config('synchronous_commit', 'off', false)`,
    [firstLeaseId],
  );
  return rows[0]?.held === true;
}

/**
 * Says that the worker lives. Answers since when it is registered, to be
 * compared; null while others free its leases because they took it for dead.
 */
export async function confirmWorker(db: Db, firstLeaseId: string): Promise<string | null> {
  const { rows } = await db.query<{ registered: string }>({
    name: "confirm-worker",
    text: /* sql */ `INSERT INTO postern.workers AS w (first_lease_id) VALUES ($1)
      ON CONFLICT (first_lease_id) DO UPDATE SET seen_at = now() WHERE NOT w.is_dead
      RETURNING registered_at::text AS registered`,
    values: [firstLeaseId],
  });
  return rows[0]?.registered ?? null;
}

export async function removeWorker(db: Db, firstLeaseId: string): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.workers WHERE first_lease_id = $1`, [firstLeaseId]);
}

export async function findUnheldWorkers(db: Db): Promise<UnheldWorker[]> {
  const { rows } = await db.query<UnheldWorker>({
    name: "find-unheld-workers",
    text: /* sql */ `SELECT w.first_lease_id AS "firstLeaseId", w.seen_at::text AS "seenAt", w.is_dead AS "isDead"
      FROM postern.workers w WHERE w.is_dead OR ${IS_UNHELD}`,
  });
  return rows;
}

/** Declares a worker dead; false if it lives, or if that was said before. */
export async function markWorkerDead(db: Db, firstLeaseId: string, silentMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.workers w SET is_dead = true
      WHERE first_lease_id = $1 AND NOT is_dead AND ${IS_UNHELD}
        AND seen_at < now() - $2 * interval '1 millisecond'
        AND pg_postmaster_start_time() < now() - $3 * interval '1 second'`,
    [firstLeaseId, silentMs, AFTER_RESTART_S],
  );
  return rowCount === 1;
}

/**
 * Frees leases of a dead worker, but none that somebody has locked; true when
 * there may be more. Its row stays locked meanwhile, so it cannot register anew
 * and lose what it leases then.
 */
export async function freeLeasesOfDead(db: Db, firstLeaseId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `WITH dead AS MATERIALIZED (
        SELECT FROM postern.workers WHERE first_lease_id = $1 AND is_dead FOR SHARE
      ), locked AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id FROM postern.dispatches
        WHERE EXISTS (SELECT FROM dead) AND lease_owner BETWEEN $1 AND $2 AND claimable_at > now()
        ORDER BY tenant_id, endpoint_id, id LIMIT $3 FOR UPDATE SKIP LOCKED
      )
      UPDATE postern.dispatches d SET lease_owner = NULL, claimable_at = now()
      FROM locked WHERE ${isRowOf("locked")}`,
    [firstLeaseId, lastLeaseId(firstLeaseId), FREED_AT_ONCE],
  );
  return rowCount === FREED_AT_ONCE;
}
