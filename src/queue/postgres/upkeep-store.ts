import type { Db } from "../../database/pool.ts";

/** Longer than the promise of 24 hours, so that a key never ends while a producer still counts on it. */
const IDEMPOTENCY_KEY_HOURS = 25;
const KEYS_AT_ONCE = 10_000;

/** What a person's delivery made needless while a worker held it, and what no worker will claim again. */
export async function deleteSuperseded(db: Db): Promise<void> {
  // What somebody else has locked can wait for the next time; waiting for it could become a deadlock.
  await db.query(/* sql */ `DELETE FROM postern.dispatches WHERE (tenant_id, endpoint_id, id) IN (
      SELECT tenant_id, endpoint_id, id FROM postern.dispatches
      WHERE superseded AND claimable_at <= now() FOR UPDATE SKIP LOCKED)`);
}

/** Forgets some of the idempotency keys that have served their time; true when there may be more. */
export async function deleteOldIdempotencyKeys(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `DELETE FROM postern.idempotency_keys WHERE (tenant_id, key) IN (
      SELECT tenant_id, key FROM postern.idempotency_keys
      WHERE created_at < now() - make_interval(hours => $1) ORDER BY created_at LIMIT $2)`,
    [IDEMPOTENCY_KEY_HOURS, KEYS_AT_ONCE],
  );
  return rowCount === KEYS_AT_ONCE;
}
