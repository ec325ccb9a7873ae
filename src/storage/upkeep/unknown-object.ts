/**
 * Detects a database that is older than its bucket by the objects of a page.
 *
 * Postern commits the row of an object before it uploads the bytes, and keeps it
 * until they are gone. Only an archive that its run gave up loses its row before;
 * its export still names it. So any other object under a key that Postern made,
 * stored since the last whole pass began and without a row, was stored by a newer state of this
 * database. Both times are the store's: no two clocks are compared.
 */
import { version } from "uuid";
import type { Pool } from "../../database/pool.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { readAttempts } from "../exports/export-store.ts";
import { toMs } from "../rules/instants.ts";
import { parseObjectKey } from "../rules/object-key.ts";
import type { JudgedPage } from "./reconcile-page.ts";
import { findOwners } from "./reconcile-store.ts";
import { findMovedRow } from "./relink-lost.ts";

type Services = { db: Pool; bucket: Bucket };

/**
 * The key of one such object of the page; null where there is none. An object that
 * was renamed is none, and one that this database has found without a row before.
 *
 * @param since when the last pass began that came to its end.
 * @throws StoreUnavailableError
 */
export async function findUnknownObject(
  services: Services,
  { listed, input }: JudgedPage,
  since: string,
): Promise<string | null> {
  const suspected = input.marks.filter((mark) => mark.class === "object_without_row");
  const known = new Set([...input.rows, ...suspected].map(({ key }) => key));
  const candidates = listed
    // For a store with times in whole seconds: an object stored right after the pass began has the same time.
    .filter(({ key, last_modified }) => toMs(last_modified) >= toMs(since) && !known.has(key))
    .map(({ key }) => key)
    .filter(isMadeHere);
  if (candidates.length === 0) return null;
  for (const key of await withoutCause(services, candidates)) {
    if ((await findMovedRow(services, key)) === null) return key;
  }
  return null;
}

/** Keys of which neither a row nor an export speaks. */
async function withoutCause({ db, bucket }: Services, keys: readonly string[]): Promise<string[]> {
  // The page's rows were read before its objects: uploads go on meanwhile.
  const owners = await findOwners(db, bucket.name, keys);
  const ownerless = keys.filter((key) => !owners.has(key));
  const attempts = await readAttempts(
    db,
    ownerless.flatMap((key) => parseObjectKey(key).parts?.delivery_id ?? []),
  );
  return ownerless.filter((key) => {
    const { parts } = parseObjectKey(key);
    return parts?.kind !== "export" || parts.attempt > (attempts.get(parts.delivery_id) ?? 0);
  });
}

/** Ids of deliveries and exports are UUIDs of version 7; made-up keys rarely are. */
function isMadeHere(key: string): boolean {
  const { parts } = parseObjectKey(key);
  return parts !== null && version(parts.delivery_id) === 7;
}
