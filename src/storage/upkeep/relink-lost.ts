/**
 * Before a pass destroys objects without a row, looks for rows that lost
 * exactly those bytes: objects may have been renamed, or restored under other
 * keys. Such bytes are copied to where the row expects them.
 */
import type { Pool } from "../../database/pool.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { fromMs, toMs } from "../rules/instants.ts";
import { CONFIRM_MS } from "../rules/reconcile-judge.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { listRowsByDigest, readDatabaseClock, relinkObject } from "../rows/stored-object-store.ts";
import { listConfirmableOrphans } from "./reconcile-store.ts";
import { copyVersion, digestOfVersion } from "./trash.ts";

/** Rows of equal bytes that are looked at for each object: those first that have most likely lost theirs. */
const ROWS_OF_A_DIGEST = 20;

export type Orphans = {
  /** Keys of objects that no row misses: only these may be destroyed by the pass. */
  examined: Set<string>;
  /** Rows that have their bytes again. */
  relinked: number;
};

type Services = { db: Pool; bucket: Bucket };

/**
 * @param isDryRun finds the same, and copies nothing.
 * @param signal ends it after the current object: the others are kept.
 */
export async function relinkLost(
  services: Services,
  isDryRun: boolean,
  signal?: AbortSignal,
): Promise<Orphans> {
  const { db, bucket } = services;
  const orphans: Orphans = { examined: new Set(), relinked: 0 };
  const seenUntil = fromMs(toMs(await readDatabaseClock(db)) - CONFIRM_MS);
  for (const key of await listConfirmableOrphans(db, bucket.name, seenUntil)) {
    if (signal?.aborted === true) break;
    try {
      const lost = await findLostRow(services, key);
      if (lost === null) orphans.examined.add(key);
      else if (!isDryRun && (await relink(services, lost))) orphans.relinked++;
    } catch (error) {
      // Not examined, so kept; another may be within reach.
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
  return orphans;
}

type LostRow = { row: StoredObject; orphan: { key: string; versionId: string } };

/** Null where no row misses the object's bytes, or where the object is gone. */
async function findLostRow(services: Services, key: string): Promise<LostRow | null> {
  const { bucket } = services;
  return findRow(services, key, async (row) => {
    const own = await bucket.head({ bucket: bucket.name, key: row.key, version_id: row.version_id });
    return !own.found;
  });
}

/** As {@link findLostRow}, and rows whose version lies under a mark of deletion or other bytes, as renaming leaves it. */
export async function findMovedRow(services: Services, key: string): Promise<LostRow | null> {
  const { bucket } = services;
  return findRow(services, key, async (row) => {
    const current = await bucket.head({ bucket: bucket.name, key: row.key, version_id: null });
    return !current.found || current.version_id !== row.version_id;
  });
}

async function findRow(
  { db, bucket }: Services,
  key: string,
  isWanted: (row: StoredObject) => Promise<boolean>,
): Promise<LostRow | null> {
  const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
  if (!head.found || head.version_id === null) return null;
  const { size, version_id: versionId } = head;
  // A store that was not told the digest does not know it.
  const sha256 = head.sha256 ?? (await digestOfVersion(bucket, { key, versionId }));
  const rows = await listRowsByDigest(db, bucket.name, { size, sha256, limit: ROWS_OF_A_DIGEST });
  for (const row of rows) {
    if (await isWanted(row)) return { row, orphan: { key, versionId } };
  }
  return null;
}

/** False where the row's key is taken by other bytes, or the row has changed meanwhile. */
async function relink({ db, bucket }: Services, { row, orphan }: LostRow): Promise<boolean> {
  const copied = await copyVersion(bucket, orphan, row.key);
  if (copied === null) return false;
  if (copied.code === "stored") return relinkObject(db, row, copied);
  // Also where an earlier try copied the bytes and could not record that.
  const there = await bucket.head({ bucket: bucket.name, key: row.key, version_id: null });
  if (!there.found || there.version_id === null) return false;
  if (there.sha256 !== row.sha256 || there.size !== row.size) return false;
  return relinkObject(db, row, { versionId: there.version_id, etag: there.etag });
}
