/** The gate through which an artifact becomes downloadable. */
import * as z from "zod";
import type { StoragePort } from "./ports.ts";
import { matchesHead } from "./identity.ts";
import { moveState, type InstantUpdate, type OperationResult, type StateUpdate } from "./mutations.ts";
import { parseObjectKey } from "./object-key.ts";
import { storedObject, type StoredObject } from "./stored-object.ts";
import { attempt, instant, integer, uuid } from "./values.ts";
import { ARCHIVE_CODES } from "./validate-archive.ts";

/**
 * What the store and the API must answer for a trial object. A store that
 * answers 200 to a tampered link checks no signatures and must not hold data.
 */
export const REQUIRED_PROBES = {
  owner_get: 200,
  range_get: 206,
  head_with_get_url: 403,
  unsigned_get: 403,
  tampered_get: 403,
  expired_get: 403,
  other_key_get: 403,
  foreign_tenant_api: 404,
} as const;

export const probeName = z.enum([
  "owner_get",
  "range_get",
  "head_with_get_url",
  "unsigned_get",
  "tampered_get",
  "expired_get",
  "other_key_get",
  "foreign_tenant_api",
]);
export type ProbeName = z.infer<typeof probeName>;

export const validateDeliveryInput = z.strictObject({
  delivery: z.strictObject({ id: uuid, tenant_id: uuid, latest_attempt: attempt }),
  object: storedObject,
  /** The code of `validate_archive`; null for what is not an archive. */
  archive_code: z.enum(ARCHIVE_CODES).nullable(),
  probes: z.array(z.strictObject({ probe: probeName, status: integer(100, 599) })).max(64),
  now: instant,
});
export type ValidateDeliveryInput = z.infer<typeof validateDeliveryInput>;

/** `failed` is sorted: missing and repeated probes, or the ones with a wrong status. */
export interface ValidateDeliveryOutput {
  code:
    | "DELIVERABLE"
    | "SUPERSEDED"
    | "KEY_MISMATCH"
    | "ARCHIVE_INVALID"
    | "OBJECT_MISMATCH"
    | "PROBE_UNIVERSE"
    | "PROBE_FAILED";
  failed: ProbeName[];
}

type Refusal = Exclude<ValidateDeliveryOutput["code"], "DELIVERABLE">;

/** Opens the artifact, or returns the reason against it; asks the store at most once. */
export async function validateDelivery(
  input: ValidateDeliveryInput,
  services: { storage: StoragePort },
): Promise<OperationResult<ValidateDeliveryOutput, StateUpdate | InstantUpdate>> {
  const { object, now } = input;
  const early = judgeRow(input);
  if (early !== null) return refuse(early);

  const { bucket, key, version_id } = object;
  const head = await services.storage.head({ bucket, key, version_id });
  if (!head.found || !matchesHead(object, head) || head.content_type !== object.content_type) {
    return refuse("OBJECT_MISMATCH");
  }
  const miscounted = probeName.options.filter(
    (name) => input.probes.filter(({ probe }) => probe === name).length !== 1,
  );
  if (miscounted.length > 0) return refuse("PROBE_UNIVERSE", miscounted);
  const wrong = input.probes.filter(({ probe, status }) => status !== REQUIRED_PROBES[probe]);
  if (wrong.length > 0) {
    return refuse(
      "PROBE_FAILED",
      wrong.map(({ probe }) => probe),
    );
  }
  const opening: InstantUpdate = {
    op: "update",
    target: "row",
    id: object.id,
    field: "available_at",
    // Literally null: a pending row that was available before must not restart its clock.
    from: null,
    to: now,
    revision: object.revision,
  };
  return {
    output: { code: "DELIVERABLE", failed: [] },
    mutations: [moveState(object, "available"), opening],
  };
}

function judgeRow({ object, delivery, archive_code }: ValidateDeliveryInput): Refusal | null {
  if (object.attempt !== delivery.latest_attempt || object.state !== "pending") return "SUPERSEDED";
  if (!isKeyOfRow(object) || delivery.tenant_id !== object.tenant_id || delivery.id !== object.delivery_id) {
    return "KEY_MISMATCH";
  }
  if (object.kind === "export" && archive_code !== "VALID") return "ARCHIVE_INVALID";
  return null;
}

function isKeyOfRow(object: StoredObject): boolean {
  const { parts } = parseObjectKey(object.key);
  return (
    parts !== null &&
    parts.tenant_id === object.tenant_id &&
    parts.delivery_id === object.delivery_id &&
    parts.attempt === object.attempt &&
    parts.kind === object.kind
  );
}

function refuse(code: Refusal, failed: ProbeName[] = []): OperationResult<ValidateDeliveryOutput> {
  return { output: { code, failed: failed.toSorted() }, mutations: [] };
}
