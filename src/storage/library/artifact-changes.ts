/** What a tenant's user may change of its artifacts. */
import type { Caller } from "../../audit/audit-entry.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { byUser } from "./change-artifacts.ts";
import { eraseOne } from "./erase.ts";
import { holdArtifact } from "./holds.ts";

export type ArtifactChanges = ReturnType<typeof makeArtifactChanges>;

export function makeArtifactChanges(tenants: TenantPool, bucket: Bucket) {
  return {
    /** @throws Refusal `not_found`, `held` or `not_available`. */
    erase: (caller: Caller, objectId: string) =>
      eraseOne({ changing: byUser(tenants, caller), bucket }, objectId),
    /** @throws Refusal `not_found`, or `gone` where there are no bytes to hold. */
    async hold(caller: Caller, objectId: string, isHeld: boolean): Promise<void> {
      const services = { changing: byUser(tenants, caller), bucket };
      const result = await holdArtifact(services, objectId, isHeld);
      if (result === "absent") throw new Refusal("not_found");
      if (result === "gone") throw new Refusal("gone");
    },
  };
}
