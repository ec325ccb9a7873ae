/**
 * Erasing on request. A row is made to expire at once: from then on nothing can
 * be downloaded. Its bytes are deleted by version when a worker next compares
 * rows and bucket, which also sees that they are gone.
 */
import { OPERATOR } from "../../audit/audit-entry.ts";
import { recordAudit } from "../../audit/audit.ts";
import type { Db, Pool } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import type { TenantId } from "../../shared/id.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import { moveState } from "../rules/mutations.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { listTenantObjects, readDatabaseClock } from "../rows/stored-object-store.ts";

const PAGE = 1000;

/** What became of one artifact; `reason` says why it was left. */
export type Erasure =
  | { outcome: "erased"; artifact: Pick<StoredObject, "id" | "kind" | "key" | "version_id" | "size"> }
  | { outcome: "left"; artifact: Pick<StoredObject, "id" | "kind"> & { reason: string } };

type Wanted = { tenantId: TenantId; objectId: string | null };

/** How many the tenant can still download, or could if they were not missing. */
export async function countErasable(db: Db, wanted: Wanted): Promise<number> {
  let count = 0;
  for await (const object of eachObject(db, wanted)) if (reasonToLeave(object) === null) count++;
  return count;
}

/** Erases what can be erased, one by one, and says of the rest why not. */
export async function* eraseArtifacts(db: Pool, wanted: Wanted): AsyncGenerator<Erasure> {
  for await (const object of eachObject(db, wanted)) {
    const { id, kind, key, version_id, size } = object;
    const reason = reasonToLeave(object);
    if (reason === null && (await expire(db, wanted.tenantId, object))) {
      yield { outcome: "erased", artifact: { id, kind, key, version_id, size } };
    } else {
      const why = reason ?? "it changed meanwhile: try again";
      yield { outcome: "left", artifact: { id, kind, reason: why } };
    }
  }
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

async function* eachObject(db: Db, { tenantId, objectId }: Wanted): AsyncGenerator<StoredObject> {
  let after: string | null = null;
  for (;;) {
    const page: StoredObject[] = await listTenantObjects(db, tenantId, { objectId, after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? null;
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
