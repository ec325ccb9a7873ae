/**
 * Erasing on request. A row is made to expire at once: from then on nothing can
 * be downloaded. Its bytes are deleted by version when a worker next compares
 * rows and bucket, which also sees that they are gone.
 */
import { OPERATOR } from "../audit/audit-entry.ts";
import { recordAudit } from "../audit/audit.ts";
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { TenantId } from "../shared/id.ts";
import { applyMutations } from "./mutation-store.ts";
import { moveState } from "./operations/mutations.ts";
import type { StoredObject } from "./operations/stored-object.ts";
import { listTenantObjects, readDatabaseClock } from "./stored-object-store.ts";

const PAGE = 1000;

export type Erasure = {
  erased: Pick<StoredObject, "id" | "kind" | "key" | "version_id" | "size">[];
  left: (Pick<StoredObject, "id" | "kind"> & { reason: string })[];
};

type Wanted = { tenantId: TenantId; objectId: string | null };

/** What the tenant can still download, or could if it were not missing. */
export async function listErasable(db: Db, wanted: Wanted): Promise<StoredObject[]> {
  return (await listAll(db, wanted)).filter((object) => reasonToLeave(object) === null);
}

/** Erases what can be erased, and says of the rest why not. */
export async function eraseArtifacts(db: Pool, wanted: Wanted): Promise<Erasure> {
  const erasure: Erasure = { erased: [], left: [] };
  for (const object of await listAll(db, wanted)) {
    const { id, kind, key, version_id, size } = object;
    const reason = reasonToLeave(object);
    if (reason === null && (await expire(db, wanted.tenantId, object))) {
      erasure.erased.push({ id, kind, key, version_id, size });
    } else {
      erasure.left.push({ id, kind, reason: reason ?? "it changed meanwhile: try again" });
    }
  }
  return erasure;
}

async function expire(db: Pool, tenantId: TenantId, object: StoredObject): Promise<boolean> {
  const now = await readDatabaseClock(db);
  return inTransaction(db, async (transaction) => {
    const mutations = [moveState(object, "expired")];
    const { changedRows } = await applyMutations(transaction, mutations, { now, bucket: null });
    if (changedRows === 0) return false;
    const { id, delivery_id, kind } = object;
    await recordAudit(transaction, {
      tenantId,
      actor: OPERATOR,
      action: "artifact.erased",
      endpointId: null,
      outcome: "done",
      details: { object_id: id, delivery_id, kind },
      requestId: null,
      address: null,
    });
    return true;
  });
}

async function listAll(db: Db, { tenantId, objectId }: Wanted): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  for (;;) {
    const after = found.at(-1)?.id ?? null;
    const page = await listTenantObjects(db, tenantId, { objectId, after, limit: PAGE });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

function reasonToLeave({ state, hold }: StoredObject): string | null {
  if (hold) return "it is held: end the hold first";
  switch (state) {
    case "available":
    case "missing":
      return null;
    case "expired":
      return "it has expired already; its bytes are deleted by a worker";
    case "pending":
      return "it is not available yet: try again later";
    default:
      return "it is quarantined: other bytes than its own are in the bucket, look at them first";
  }
}
