/** Holds: while an artifact is held it neither expires nor is it purged or erased. */
import { recordDone } from "../../audit/audit.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { findStoredObject, isTenantErasing, setHold } from "../rows/stored-object-store.ts";
import type { Changing } from "./change-artifacts.ts";

type HoldServices = { changing: Changing; bucket: Bucket };

/**
 * Sets or ends a hold; doing so again changes nothing. `absent` where the tenant
 * has no such artifact, it is purged, or is going with all of the tenant; `gone`
 * where it has expired or was erased, and its bytes with it.
 *
 * @throws StoreUnavailableError where nobody can say whether the bytes are there.
 */
export async function holdArtifact(
  { changing, bucket }: HoldServices,
  objectId: string,
  isHeld: boolean,
): Promise<"done" | "absent" | "gone"> {
  const { transaction, by } = changing;
  if (isHeld && (await isGone(changing, bucket, objectId))) return "gone";
  return transaction(async (db) => {
    if (isHeld && (await isTenantErasing(db, by.tenantId))) return "absent";
    const result = await setHold(db, by.tenantId, { id: objectId, isHeld });
    if (result === "changed") {
      await recordDone(db, by, {
        action: isHeld ? "artifact.hold_set" : "artifact.hold_ended",
        endpointId: null,
        details: { object_id: objectId },
      });
    }
    return result === "absent" ? "absent" : "done";
  });
}

/** The row says that it is deleted only once rows and bucket are compared. */
async function isGone({ db, by }: Changing, bucket: Bucket, objectId: string): Promise<boolean> {
  const object = await findStoredObject(db, by.tenantId, objectId);
  if (object?.state !== "expired") return false;
  const { key, version_id: versionId } = object;
  const head = await bucket.head({ bucket: object.bucket, key, version_id: versionId });
  return !head.found;
}
