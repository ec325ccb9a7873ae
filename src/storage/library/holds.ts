/** Holds: while an artifact is held it neither expires nor is it purged or erased. */
import { recordDone } from "../../audit/audit.ts";
import { isTenantErasing, setHold } from "../rows/stored-object-store.ts";
import type { Changing } from "./change-artifacts.ts";

/**
 * Sets or ends a hold; doing so again changes nothing. False where the tenant has
 * no such artifact, its bytes are gone, or are going with all of the tenant.
 */
export function holdArtifact(
  { transaction, by }: Changing,
  objectId: string,
  isHeld: boolean,
): Promise<boolean> {
  return transaction(async (db) => {
    if (isHeld && (await isTenantErasing(db, by.tenantId))) return false;
    const result = await setHold(db, by.tenantId, { id: objectId, isHeld });
    if (result === "changed") {
      await recordDone(db, by, {
        action: isHeld ? "artifact.hold_set" : "artifact.hold_ended",
        endpointId: null,
        details: { object_id: objectId },
      });
    }
    return result !== "absent";
  });
}
