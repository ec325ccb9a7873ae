/**
 * Erasing on request. A row is made to expire at once: from then on this API
 * gives and serves no link to it. Then its own version is deleted and looked for
 * again. Comparing rows and bucket later says that the artifact is purged.
 */
import { recordDone } from "../../audit/audit.ts";
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { OWNER_PREFIX } from "../bytes/own-keys.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import { matchesHead } from "../rules/identity.ts";
import { moveState } from "../rules/mutations.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { findRowState, listTenantObjects, readDatabaseClock } from "../rows/stored-object-store.ts";
import type { Changing } from "./change-artifacts.ts";

const PAGE = 1000;
const NO_OWNER =
  "the version is not there, but neither is the bucket's owner mark: `postern storage doctor` says more";

type Erased = Pick<StoredObject, "id" | "kind" | "key" | "version_id" | "size">;

/** What became of one artifact; `reason` says why it, or its bytes, were left. */
export type Erasure =
  | {
      outcome: "erased";
      /** `bytes`: looked for again and gone, or still to be deleted by a worker. */
      artifact: Erased & { bytes: "deleted" | "waiting"; reason: string | null };
    }
  | { outcome: "left"; artifact: Pick<StoredObject, "id" | "kind"> & { reason: string } };

export type EraseServices = { changing: Changing; bucket: Bucket };
type Wanted = { tenantId: TenantId; objectId: string | null };

/** How many artifacts of the tenant an erasure would take. */
export async function countErasable(db: Db, wanted: Wanted): Promise<number> {
  let count = 0;
  for await (const object of eachObject(db, wanted)) if (reasonToLeave(object) === null) count++;
  return count;
}

/** Erases what can be erased, one by one, and says of the rest why not. */
export async function* eraseArtifacts(
  services: EraseServices,
  objectId: string | null,
): AsyncGenerator<Erasure> {
  const { changing } = services;
  const { tenantId } = changing.by;
  for await (const object of eachObject(changing.db, { tenantId, objectId })) {
    const { id, kind, key, version_id, size } = object;
    const reason = reasonToLeave(object);
    if (reason === null && (await close(changing, object))) {
      const left = await tryToDelete(services.bucket, object);
      const bytes = left === null ? "deleted" : "waiting";
      yield { outcome: "erased", artifact: { id, kind, key, version_id, size, bytes, reason: left } };
    } else {
      yield { outcome: "left", artifact: { id, kind, reason: reason ?? "it changed meanwhile: try again" } };
    }
  }
}

async function tryToDelete(bucket: Bucket, object: StoredObject): Promise<string | null> {
  try {
    return await deleteOwnVersion(bucket, object);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error.message;
    throw error;
  }
}

/**
 * Deletes the version that the row names, if its bytes are the row's, and looks
 * again. This needs no comparing, and is right in any bucket. Answers why the
 * bytes may still be there; null where they are gone.
 *
 * @throws StoreUnavailableError
 */
export async function deleteOwnVersion(bucket: Bucket, object: StoredObject): Promise<string | null> {
  const { key, version_id: versionId } = object;
  const own = { bucket: object.bucket, key, version_id: versionId };
  const head = await bucket.head(own);
  if (!head.found) return (await hasOwner(bucket)) ? null : NO_OWNER;
  if (!matchesHead(object, head)) return "the version in the bucket is not of the row's size and SHA-256";
  await bucket.deleteVersion({ key, versionId });
  return (await bucket.head(own)).found ? "the version was deleted and is still there" : null;
}

/** What is absent in a bucket without an owner mark, as in a folder whose volume is not mounted, may be in the right one. */
async function hasOwner(bucket: Bucket): Promise<boolean> {
  const { objects } = await bucket.list({ after: null, limit: 1, prefix: OWNER_PREFIX });
  return objects.length > 0;
}

/**
 * For a user: one artifact, or why not.
 *
 * @throws Refusal `not_found`, `held` or `not_available`.
 */
export async function eraseOne(services: EraseServices, objectId: string): Promise<"deleted" | "waiting"> {
  const { changing } = services;
  const { tenantId } = changing.by;
  const [object] = await listTenantObjects(changing.db, tenantId, { objectId, after: null, limit: 1 });
  if (object === undefined) throw new Refusal("not_found");
  if (object.hold) throw heldRefusal(object.id);
  for await (const { artifact } of eraseArtifacts(services, objectId)) {
    if ("bytes" in artifact) return artifact.bytes;
  }
  throw new Refusal("not_available");
}

function heldRefusal(objectId: string): Refusal {
  const message = `${objectId} is held: end the hold first`;
  return new Refusal("held", { issues: [{ path: ["object_id"], message, code: "held" }] });
}

/** Whether its bytes may be deleted. A hold may have come since the page was read. */
async function close(changing: Changing, object: StoredObject): Promise<boolean> {
  if (object.state !== "expired") return expire(changing, object);
  return (await findRowState(changing.db, object.bucket, object.key))?.hold === false;
}

async function expire({ db, transaction, by }: Changing, object: StoredObject): Promise<boolean> {
  const now = await readDatabaseClock(db);
  return transaction(async (client) => {
    const mutations = [moveState(object, "expired")];
    const { changedRows } = await applyMutations(client, mutations, { now, bucket: null });
    if (changedRows === 0) return false;
    const { id, delivery_id, kind } = object;
    const details = { object_id: id, delivery_id, kind };
    await recordDone(client, by, { action: "artifact.erased", endpointId: null, details });
    return true;
  });
}

/** The tenant's rows that are not purged, or one of them. */
export async function* eachObject(db: Db, { tenantId, objectId }: Wanted): AsyncGenerator<StoredObject> {
  let after: string | null = null;
  for (;;) {
    const page: StoredObject[] = await listTenantObjects(db, tenantId, { objectId, after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? null;
  }
}

function reasonToLeave({ state, hold }: StoredObject): string | null {
  if (hold) return "it is held: end the hold first, by `postern storage hold --end`";
  switch (state) {
    case "available":
    case "missing":
    case "expired":
      return null;
    case "pending":
      return "it is not available yet: try again later";
    default:
      return "it is quarantined: other bytes than its own are in the bucket, look at them first";
  }
}
