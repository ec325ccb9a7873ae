import type { Db } from "../../database/pool.ts";
import { isRowOf } from "./key-look-up.ts";

/** Longer than the promise of 24 hours, so that a key never ends while a producer still counts on it. */
const IDEMPOTENCY_KEY_HOURS = 25;
const KEYS_AT_ONCE = 10_000;

/** Deletes superseded dispatches whose lease has ended: no worker will claim them again. */
export async function deleteSuperseded(db: Db): Promise<void> {
  // Locked rows are left for the next run, because waiting for them could deadlock.
  await db.query(/* sql */ `WITH locked AS MATERIALIZED (
      SELECT tenant_id, endpoint_id, id FROM postern.dispatches
      WHERE superseded AND claimable_at <= now() FOR UPDATE SKIP LOCKED
    )
    DELETE FROM postern.dispatches d USING locked WHERE ${isRowOf("locked")}`);
}

/** Deletes some expired idempotency keys; true when there may be more. */
export async function deleteOldIdempotencyKeys(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(
    // Compared as in key-look-up.ts, for the same reason.
    /* sql */ `WITH old AS MATERIALIZED (
        SELECT tenant_id, key FROM (
          SELECT tenant_id, key FROM postern.idempotency_keys
          WHERE created_at < now() - make_interval(hours => $1) ORDER BY created_at LIMIT $2
        ) AS oldest
        -- Deleted in the order of the key, as by an erasure: each would wait for what the other has.
        ORDER BY tenant_id, key
      )
      DELETE FROM postern.idempotency_keys k USING old
      WHERE k.tenant_id = ANY (ARRAY[old.tenant_id]) AND k.key = old.key`,
    [IDEMPOTENCY_KEY_HOURS, KEYS_AT_ONCE],
  );
  return rowCount === KEYS_AT_ONCE;
}
