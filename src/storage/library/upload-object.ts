/** From bytes to an artifact that a tenant may download, in two steps that can each be done again after a crash. */
import type { Readable } from "node:stream";
import type { Db } from "../../database/pool.ts";
import type { TenantId } from "../../shared/id.ts";
import { NOT_UPLOADED, type Bucket } from "../bytes/bucket.ts";
import { describeTrial } from "./link-probes.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import { deriveDeadline } from "../rules/derive-deadline.ts";
import type { InstantUpdate, StateUpdate } from "../rules/mutations.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { validateDelivery, type ValidateDeliveryInput } from "../rules/validate-delivery.ts";
import {
  findObjectByKey,
  insertPendingObject,
  recordUpload,
  type NewStoredObject,
} from "../rows/stored-object-store.ts";

/**
 * Sees to it that the row and the object are there. What an earlier try left is
 * taken over where it is the same, whether it ended before or after the upload.
 *
 * @returns the pending row with its version; null where the key is taken by other bytes, or the row has moved on.
 */
export async function uploadObject(
  services: { db: Db; bucket: Bucket; begin?: (wanted: NewStoredObject) => Promise<StoredObject | null> },
  wanted: NewStoredObject,
  open: () => Readable,
): Promise<StoredObject | null> {
  const { db, bucket, begin = (object) => insertPendingObject(db, object) } = services;
  const { tenantId } = wanted;
  const row = (await begin(wanted)) ?? (await findObjectByKey(db, wanted));
  const isSame = row?.sha256 === wanted.sha256 && row.size === wanted.size;
  if (row === null || !isSame || row.state !== "pending") return null;
  if (row.version_id !== NOT_UPLOADED) return row;
  const { key, size, sha256 } = row;
  const answer = await bucket.put({ key, size, sha256, open });
  if (answer.code === "stored") {
    const recorded = await recordUpload(db, tenantId, row, answer);
    // The tenant was erased meanwhile: no row names these bytes.
    if (recorded === null && (await findObjectByKey(db, wanted)) === null) {
      await bucket.deleteVersion({ key, versionId: answer.versionId });
    }
    return recorded;
  }
  return adoptUpload(services, tenantId, row);
}

/**
 * Records an upload that an earlier try made and could not record.
 *
 * @returns the pending row with its version; null where the bucket holds other bytes than the row's, or none, or the row has moved on.
 */
export async function adoptUpload(
  { db, bucket }: { db: Db; bucket: Bucket },
  tenantId: TenantId,
  row: StoredObject,
): Promise<StoredObject | null> {
  const head = await bucket.head({ bucket: bucket.name, key: row.key, version_id: null });
  if (!head.found || head.version_id === null) return null;
  if (head.sha256 !== row.sha256 || head.size !== row.size) return null;
  return recordUpload(db, tenantId, row, { versionId: head.version_id, etag: head.etag });
}

export type Opening = { mutations: (StateUpdate | InstantUpdate)[]; deadline: string };

/** The object stays pending: something of it, or of how its links are answered, is not as it must be. */
export class OpeningRefusedError extends Error {
  override readonly name = "OpeningRefusedError";
}

/**
 * Decides whether the object becomes available, and until when. Changes nothing.
 *
 * @throws OpeningRefusedError where it does not, with what to do about it.
 */
export async function decideOpening(
  bucket: Bucket,
  input: ValidateDeliveryInput,
  days: { plan: number; tenant: number | null },
): Promise<Opening> {
  const { output, mutations } = await validateDelivery(input, { storage: bucket });
  const { code, failed } = output;
  if (code !== "DELIVERABLE") {
    const told = failed.length === 0 ? "" : `: ${describeTrial(input.probes, failed)}`;
    throw new OpeningRefusedError(`the artifact may not be downloaded yet, ${code}${told}`);
  }
  const { id, revision, deadline: previous } = input.object;
  const derived = deriveDeadline({
    object_id: id,
    // Of the same row in the same statement.
    revision,
    available_at: input.now,
    plan_days: days.plan,
    tenant_days: days.tenant,
    hold_until: null,
    previous_deadline: previous,
  });
  if (derived.output.deadline === null) throw new Error(`no deadline: ${derived.output.code}`);
  return { mutations: [...mutations, ...derived.mutations], deadline: derived.output.deadline };
}

/** Applies a decision; false where the row has changed since. */
export async function openObject(
  db: Db,
  { mutations }: { mutations: (StateUpdate | InstantUpdate)[] },
  now: string,
): Promise<boolean> {
  const { changedRows } = await applyMutations(db, mutations, { now, bucket: null });
  return changedRows === 1;
}
