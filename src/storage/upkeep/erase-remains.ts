/**
 * What a tenant's erasure finds beside its rows: bodies that wait to be stored,
 * its part of the trash, older versions of its objects and marks of their
 * deletion, and objects that no row speaks of. Of a bucket only if it is ours:
 * in another's, the keys of a tenant of the same name would be another's too.
 */
import { recordDone } from "../../audit/audit.ts";
import type { Pool } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { deleteBodiesOf } from "../artifacts/kept-body-store.ts";
import { byOperator } from "../library/change-artifacts.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { findRowState } from "../rows/stored-object-store.ts";
import { checkOwner } from "./ownership.ts";
import { makeUnlessRefused } from "./refused-one.ts";
import { deleteFromTrash, listTrash } from "./trash.ts";

/** What was deleted for good; `reason` says why anything was left. */
export type ErasedRemains = { bodies: number; versions: number; trash: number; reason: string | null };

export async function eraseRemains(
  services: { db: Pool; bucket: Bucket },
  tenantId: TenantId,
): Promise<ErasedRemains> {
  const bodies = await deleteBodiesOf(services.db, tenantId);
  const remains: ErasedRemains = { bodies, versions: 0, trash: 0, reason: null };
  try {
    remains.reason = await checkOwner(services);
    if (remains.reason === null) await eraseIn(services, tenantId, remains);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    remains.reason = error.message;
  }
  const { versions, trash } = remains;
  if (bodies + versions + trash > 0) {
    await recordDone(services.db, byOperator(services.db, tenantId).by, {
      action: "artifact.erased",
      endpointId: null,
      details: { bodies, versions, trash },
    });
  }
  return remains;
}

async function eraseIn(
  { db, bucket }: { db: Pool; bucket: Bucket },
  tenantId: TenantId,
  remains: ErasedRemains,
): Promise<void> {
  const unlessRefused = makeUnlessRefused(bucket);
  const prefix = `v1/t/${storageTenantId(tenantId)}/`;
  for await (const version of bucket.versions(prefix)) {
    // Asked for each: an upload may have begun meanwhile, and its row came first.
    const row = await findRowState(db, bucket.name, version.key);
    if (row !== null && (row.hold || !["expired", "purged"].includes(row.state))) continue;
    const end = await unlessRefused(() => bucket.deleteVersion(version));
    if ("refusal" in end) remains.reason ??= end.refusal;
    else remains.versions++;
  }
  for await (const entry of listTrash(bucket, prefix)) {
    if ((await findRowState(db, bucket.name, entry.key))?.hold === true) continue;
    const end = await unlessRefused(() => deleteFromTrash(bucket, entry));
    if ("refusal" in end) remains.reason ??= end.refusal;
    else if (end.done) remains.trash++;
  }
}
