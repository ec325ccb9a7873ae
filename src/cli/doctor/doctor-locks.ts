/** What `postern doctor` says of the database's room for locks. */
import type { Config } from "../../config.ts";
import { locksNeeded, readLockRoom } from "../../database/lock-room.ts";
import type { Db } from "../../database/pool.ts";
import type { Finding } from "./finding.ts";

/** Told only where there is too little for the days that are kept. */
export async function checkLocks(
  db: Db,
  { retentionDays, databaseUrl }: Pick<Config, "retentionDays" | "databaseUrl">,
): Promise<Finding[]> {
  const room = await readLockRoom(db);
  const needed = locksNeeded(room, retentionDays);
  if (needed <= room.each) return [];
  const enough = 2 ** Math.ceil(Math.log2(needed));
  const detail = `max_locks_per_transaction is ${room.each}, too little for RETENTION_DAYS of ${retentionDays}: when many read the log at once, the database may have no room for their locks, nor for those of workers`;
  const setting =
    databaseUrl === undefined
      ? `set DATABASE_URL to a server of your own with max_locks_per_transaction = ${enough}`
      : `set max_locks_per_transaction to ${enough}, and restart PostgreSQL`;
  return [{ check: "locks", status: "warn", detail, fix: `${setting}; or shorten RETENTION_DAYS` }];
}
