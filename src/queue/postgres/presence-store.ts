import type { Db } from "../../database/pool.ts";
import { LEASE_MS } from "../queue.ts";
import { isRowOf, withLeased } from "./key-look-up.ts";
import { lastLeaseId } from "./lease-ids.ts";

/** A worker whose lock is free, or whose leases are being freed. `seenAt` is only for comparing. */
export type UnheldWorker = { firstLeaseId: string; seenAt: string; isDead: boolean };

/** After a restart of the server every lock is free. Workers need up to this long to reconnect and to finish their attempts in flight. */
const AFTER_RESTART_S = 20;
/** False as long as a free lock says nothing about its worker. */
export const LOCKS_COUNT = /* sql */ `pg_postmaster_start_time() < now() - ${AFTER_RESTART_S} * interval '1 second'`;
const FREED_AT_ONCE = 5000;

/** The lock of a worker, by the name that it has in the statement. */
function lockKey(firstLeaseId: string): string {
  return /* sql */ `hashtextextended('postern.worker ' || ${firstLeaseId}, 0)`;
}

/** True of a row `w` of `workers` whose lock no session holds. */
export const IS_UNHELD = /* sql */ `NOT EXISTS (
    SELECT FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.mode = 'ShareLock' AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((l.classid::bigint << 32) | l.objid::bigint) = ${lockKey("w.first_lease_id::text")})`;

/**
 * Holds the worker's lock for as long as the connection lasts; false if another
 * session has it exclusively. The lock is shared, so that an earlier connection
 * that the server does not know to be lost does not block a new one.
 */
export async function holdWorkerLock(db: Db, firstLeaseId: string): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    /* sql */ `SELECT pg_try_advisory_lock_shared(${lockKey("$1::uuid::text")}) AS held,
      -- A suspended worker keeps its lock, and a confirmation is worth nothing after a crash of the server.
      set_config('idle_session_timeout', '0', false), set_config('synchronous_commit', 'off', false)`,
    [firstLeaseId],
  );
  return rows[0]?.held === true;
}

/**
 * Confirms that the worker lives. Returns the time of its registration, for
 * comparing; null while others free its leases because they took it for dead.
 * Over the pool it keeps its leases, but not its slots.
 */
export async function confirmWorker(
  db: Db,
  firstLeaseId: string,
  over: "session" | "pool",
): Promise<string | null> {
  const { rows } = await db.query<{ registered: string }>({
    name: "confirm-worker",
    text: /* sql */ `INSERT INTO postern.workers AS w (first_lease_id, takes_slots) VALUES ($1, true)
      ON CONFLICT (first_lease_id) DO UPDATE SET seen_at = now(), session_at = CASE WHEN $2 THEN now() ELSE w.session_at END
      WHERE NOT w.is_dead
      RETURNING registered_at::text AS registered`,
    values: [firstLeaseId, over === "session"],
  });
  return rows[0]?.registered ?? null;
}

/** For a worker's own end. */
export async function removeWorker(db: Db, firstLeaseId: string): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.workers WHERE first_lease_id = $1`, [firstLeaseId]);
}

/** Not if another has removed it since, and the worker lives and has registered anew. */
export async function removeDeadWorker(db: Db, firstLeaseId: string): Promise<void> {
  await db.query(/* sql */ `DELETE FROM postern.workers WHERE first_lease_id = $1 AND is_dead`, [
    firstLeaseId,
  ]);
}

export async function findUnheldWorkers(db: Db): Promise<UnheldWorker[]> {
  const { rows } = await db.query<UnheldWorker>({
    name: "find-unheld-workers",
    text: /* sql */ `SELECT w.first_lease_id AS "firstLeaseId", w.seen_at::text AS "seenAt", w.is_dead AS "isDead"
      FROM postern.workers w WHERE w.is_dead OR ${IS_UNHELD}`,
  });
  return rows;
}

/** Declares a worker dead; false if it lives, or was declared dead before. */
export async function markWorkerDead(db: Db, firstLeaseId: string, silentMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `UPDATE postern.workers w SET is_dead = true
      WHERE first_lease_id = $1 AND NOT is_dead AND ${IS_UNHELD}
        AND seen_at < now() - $2 * interval '1 millisecond'
        AND ${LOCKS_COUNT}`,
    [firstLeaseId, silentMs],
  );
  return rowCount === 1;
}

/**
 * Frees leases of a dead worker, except on locked rows. True when there may be
 * more. Its row stays locked meanwhile, so it cannot register anew and lose what
 * it leases then.
 *
 * Reads the dispatches that become claimable within twice the length of a lease,
 * in case the server's clock was set back: not all that are scheduled, held or
 * parked.
 */
export async function freeLeasesOfDead(db: Db, firstLeaseId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: number; freed: number }>(
    /* sql */ `WITH dead AS MATERIALIZED (
        SELECT FROM postern.workers WHERE first_lease_id = $1 AND is_dead FOR SHARE
      ), leased AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id, lease_owner AS lease_id FROM postern.dispatches
        WHERE EXISTS (SELECT FROM dead) AND NOT held AND NOT parked AND lease_owner BETWEEN $1 AND $2
          AND claimable_at > now() AND claimable_at <= now() + $4 * interval '1 ms'
        ORDER BY claimable_at LIMIT $3
      ), given AS MATERIALIZED (
        SELECT * FROM leased ORDER BY tenant_id, endpoint_id, id
      ), locked AS MATERIALIZED (
        ${withLeased("given", "skip")}
      ), freed AS (
        UPDATE postern.dispatches d SET lease_owner = NULL, claimable_at = now()
        FROM locked WHERE ${isRowOf("locked")} RETURNING d.id
      )
      SELECT (SELECT count(*)::int FROM leased) AS found, (SELECT count(*)::int FROM freed) AS freed`,
    [firstLeaseId, lastLeaseId(firstLeaseId), FREED_AT_ONCE, 2 * LEASE_MS],
  );
  const [counts] = rows;
  return counts !== undefined && counts.found === FREED_AT_ONCE && counts.freed > 0;
}
