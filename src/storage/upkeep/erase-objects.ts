/**
 * Deletes a tenant's objects for good, whatever its rows say: every version and
 * mark of a deletion, and its part of the trash. Of a bucket only if it is ours.
 */
import type { Pool } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { checkOwner } from "./ownership.ts";
import { deleteFromTrash, listTrash } from "./trash.ts";

/** `buckets` are those that rows name. `trouble` says why something was left that is not `most`. */
export async function eraseObjectsOf(
  services: { db: Pool; bucket: Bucket },
  tenantId: TenantId,
  { most, buckets }: { most: number; buckets: readonly string[] },
): Promise<{ erased: number; trouble: string | null }> {
  const { bucket } = services;
  const foreign = buckets.find((name) => name !== bucket.name);
  if (foreign !== undefined)
    return {
      erased: 0,
      trouble: `artifacts are in the bucket ${foreign}; OBJECT_STORE_URL is ${bucket.name}`,
    };
  let erased = 0;
  try {
    const trouble = await checkOwner(services);
    if (trouble !== null) return { erased, trouble };
    const prefix = `v1/t/${storageTenantId(tenantId)}/`;
    for await (const version of bucket.versions(prefix)) {
      await bucket.deleteVersion(version);
      if (++erased === most) return { erased, trouble: null };
    }
    for await (const entry of listTrash(bucket, prefix)) {
      if (await deleteFromTrash(bucket, entry)) erased++;
      if (erased === most) return { erased, trouble: null };
    }
    return { erased, trouble: null };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return { erased, trouble: error.message };
  }
}
