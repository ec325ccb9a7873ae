/**
 * Tells a database that is older than its bucket by the objects of a page.
 *
 * Postern commits the row of an object before it uploads the bytes, and keeps it
 * until they are gone. So an object under a key that Postern made, stored since
 * the last pass and without a row, was stored by a newer state of this database.
 * Both times are the store's: no two clocks are compared.
 */
import { version } from "uuid";
import type { Pool } from "../../database/pool.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { toMs } from "../rules/instants.ts";
import { parseObjectKey } from "../rules/object-key.ts";
import type { JudgedPage } from "./reconcile-page.ts";
import { findOwners } from "./reconcile-store.ts";
import { findLostRow } from "./relink-lost.ts";

/**
 * The key of one such object of the page; null where there is none. An object whose
 * bytes a row has lost is none: somebody renamed it.
 *
 * @param since when the last whole pass began.
 * @throws StoreUnavailableError
 */
export async function findUnknownObject(
  services: { db: Pool; bucket: Bucket },
  { listed, input }: JudgedPage,
  since: string,
): Promise<string | null> {
  const known = new Set(input.rows.map(({ key }) => key));
  const candidates = listed
    .filter(({ key, last_modified }) => toMs(last_modified) > toMs(since) && !known.has(key))
    .map(({ key }) => key)
    .filter(isMadeHere);
  if (candidates.length === 0) return null;
  // The page's rows were read before its objects: uploads go on meanwhile.
  const owners = await findOwners(services.db, services.bucket.name, candidates);
  for (const key of candidates) {
    if (!owners.has(key) && (await findLostRow(services, key)) === null) return key;
  }
  return null;
}

/** Ids of deliveries and exports are UUIDs of version 7; keys that somebody made up rarely are. */
function isMadeHere(key: string): boolean {
  const { parts } = parseObjectKey(key);
  return parts !== null && version(parts.delivery_id) === 7;
}
