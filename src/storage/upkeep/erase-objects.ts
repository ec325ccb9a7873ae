/**
 * Deletes a tenant's objects for good, whatever its rows say: every version and
 * mark of a deletion, and its part of the trash. In a bucket that may be another
 * installation's only the versions that rows name and whose bytes are the rows'.
 */
import type { Pool } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import type { TenantId } from "../../shared/id.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { deleteOwnVersion, eachObject } from "../library/erase.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import { moveState } from "../rules/mutations.ts";
import type { ObjectState, StoredObject } from "../rules/stored-object.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { readDatabaseClock } from "../rows/stored-object-store.ts";
import { checkOwner } from "./ownership.ts";
import { makeUnlessRefused } from "./refused-one.ts";
import { deleteFromTrash, listTrash } from "./trash.ts";

type Services = { db: Pool; bucket: Bucket };
type Erased = { erased: number; trouble: string | null };

/** How many of the remaining artifacts are named. */
const NAMED = 3;

/** `buckets` are named by rows. `trouble` is the reason why anything was left other than `most`. */
export async function eraseObjectsOf(
  services: Services,
  tenantId: TenantId,
  { most, buckets }: { most: number; buckets: readonly string[] },
): Promise<Erased> {
  const { bucket } = services;
  const done: Erased = { erased: 0, trouble: null };
  const foreign = buckets.find((name) => name !== bucket.name);
  try {
    const doubt =
      foreign === undefined
        ? await checkOwner(services)
        : `artifacts are in the bucket ${foreign}; OBJECT_STORE_URL is ${bucket.name}`;
    return doubt === null
      ? await eraseAll(bucket, tenantId, { most, done })
      : await eraseNamed(services, tenantId, { most, doubt });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return { ...done, trouble: error.message };
  }
}

/**
 * Counts in `done`, also where the store goes away in the middle. What the store
 * refuses counts among `most` too: it may refuse all of a tenant's objects, and
 * whoever asks has a lease that ends.
 */
async function eraseAll(
  bucket: Bucket,
  tenantId: TenantId,
  { most, done }: { most: number; done: Erased },
): Promise<Erased> {
  const unlessRefused = makeUnlessRefused(bucket);
  let refused = 0;
  let trouble: string | null = null;
  const erase = async (deletion: () => Promise<boolean>): Promise<boolean> => {
    const end = await unlessRefused(deletion);
    if ("refusal" in end) {
      refused++;
      trouble ??= end.refusal;
    } else if (end.done) done.erased++;
    return done.erased + refused === most;
  };
  const some = (): Erased => (done.erased > 0 ? done : { ...done, trouble });
  const prefix = `v1/t/${storageTenantId(tenantId)}/`;
  for await (const version of bucket.versions(prefix))
    if (await erase(() => bucket.deleteVersion(version).then(() => true))) return some();
  for await (const entry of listTrash(bucket, prefix))
    if (await erase(() => deleteFromTrash(bucket, entry))) return some();
  return { ...done, trouble };
}

async function eraseNamed(
  { db, bucket }: Services,
  tenantId: TenantId,
  { most, doubt }: { most: number; doubt: string },
): Promise<Erased> {
  let erased = 0;
  const left: string[] = [];
  for await (const object of eachObject(db, { tenantId, objectId: null })) {
    if (await eraseOne({ db, bucket }, object)) erased++;
    else left.push(object.key);
    if (erased === most) return { erased, trouble: null };
  }
  const named =
    left.length === 0 ? "" : ` ${left.slice(0, NAMED).join(", ")}${left.length > NAMED ? " …" : ""}`;
  return {
    erased,
    trouble: `${doubt}. Left are ${left.length} artifacts${named}, and what no row names`,
  };
}

/** Its row is purged with it, so that the next step continues with the others. */
async function eraseOne({ db, bucket }: Services, object: StoredObject): Promise<boolean> {
  const { state } = object;
  if (object.bucket !== bucket.name || state === "pending" || state === "quarantined") return false;
  if ((await deleteOwnVersion(bucket, object)) !== null) return false;
  const now = await readDatabaseClock(db);
  return inTransaction(db, async (transaction) => {
    const move = async (row: StoredObject, to: ObjectState) =>
      (await applyMutations(transaction, [moveState(row, to)], { now, bucket: null })).changedRows === 1;
    if (state !== "expired" && !(await move(object, "expired"))) return false;
    const revision = state === "expired" ? object.revision : object.revision + 1;
    return move({ ...object, state: "expired", revision }, "purged");
  });
}
