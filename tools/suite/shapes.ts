/**
 * The form of a case (rule C-1), by production's own parsers.
 *
 * Written apart from the suite's JSON Schemas on purpose: two descriptions that
 * share nothing must refuse the same mutants.
 */
import * as z from "zod";
import { ARCHIVE_CODES, ceilingName } from "../../src/storage/rules/validate-archive.ts";
import { bucketConfig, bucketRuleId } from "../../src/storage/rules/validate-bucket.ts";
import { probeName } from "../../src/storage/rules/validate-delivery.ts";
import { artifactKind, keyParts } from "../../src/storage/rules/object-key.ts";
import { mark } from "../../src/storage/rules/reconcile-types.ts";
import { objectState } from "../../src/storage/rules/stored-object.ts";
import {
  areUnique,
  attempt,
  bucketName,
  contentType,
  instant,
  integer,
  listedKey,
  revision,
  sha256,
  sizeBytes,
  text,
  uuid,
  versionId,
} from "../../src/storage/rules/values.ts";
import type { FamilyName } from "./families.ts";
import { authorizeAnswer, headAnswer, signGetAnswer } from "./ports.ts";

const rowKey = z.string().regex(/^[!-~]{1,1024}$/);
const lifetime = integer(1, 604_800);
const word = z.string().regex(/^[A-Za-z]{1,32}$/);
const members = z.record(z.string(), z.unknown());
const cursor = z.strictObject({ available_at: instant, id: uuid }).nullable();

/** The three registered methods; any other pair is for rule C-2 to name. */
const CALL_SHAPES = new Map<string, z.ZodType>([
  [
    "database.authorize",
    z.object({
      args: z.strictObject({
        tenant_id: uuid,
        user_id: uuid,
        object_id: uuid,
        delivery_id: uuid,
        action: z.literal("download"),
      }),
      result: authorizeAnswer,
    }),
  ],
  [
    "signer.signGet",
    z.object({
      args: z.strictObject({
        bucket: bucketName,
        key: rowKey,
        version_id: versionId,
        issued_at: instant,
        expires_in: lifetime,
        response_content_type: contentType,
        response_content_disposition: text(1, 255),
      }),
      result: signGetAnswer,
    }),
  ],
  [
    "storage.head",
    z.object({
      args: z.strictObject({ bucket: bucketName, key: listedKey, version_id: versionId.nullable() }),
      result: headAnswer,
    }),
  ],
]);

const call = z
  .strictObject({ service: word, method: word, args: members, result: members })
  .refine((one) => CALL_SHAPES.get(`${one.service}.${one.method}`)?.safeParse(one).success ?? true);

const rowUpdate = { op: z.literal("update"), target: z.literal("row"), id: uuid, revision };
const markBase = { target: z.literal("mark"), key: listedKey, class: mark.shape.class };
const mutation = z.union([
  z.strictObject({ ...rowUpdate, field: z.literal("state"), from: objectState, to: objectState }),
  z.strictObject({
    ...rowUpdate,
    field: z.enum(["available_at", "deadline"]),
    from: instant.nullable(),
    to: instant,
  }),
  z.strictObject({ ...markBase, op: z.literal("insert"), first_seen_at: instant, run_id: uuid }),
  z.strictObject({ ...markBase, op: z.literal("update"), first_seen_at: instant }),
  z.strictObject({ ...markBase, op: z.literal("delete") }),
  z.strictObject({
    op: z.literal("delete"),
    target: z.literal("object"),
    bucket: bucketName,
    key: listedKey,
    version_id: versionId,
  }),
  z.strictObject({
    op: z.literal("insert"),
    target: z.literal("grant"),
    id: uuid,
    object_id: uuid,
    user_id: uuid,
    issued_at: instant,
    expires_at: instant,
  }),
]);

const DENIALS = ["UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND", "NOT_AVAILABLE", "GONE"] as const;
const violationCode = z.enum(ARCHIVE_CODES).exclude(["VALID"]);

const libraryItem = z.strictObject({
  id: uuid,
  delivery_id: uuid,
  attempt,
  kind: artifactKind,
  filename: z.string().regex(/^[a-z_]{1,32}-[0-9a-f]{12}-[1-9][0-9]{0,2}\.[a-z]{3,4}$/),
  content_type: contentType,
  size: sizeBytes,
  sha256,
  status: z.enum(["ready", "expiring", "expired", "unavailable"]),
  available_at: instant,
  expires_at: instant.nullable(),
  downloadable: z.boolean(),
});

const reconcileOutput = z.strictObject({
  code: z.enum(["OK", "BATCH_INVALID", "HALTED"]),
  decisions: z.array(
    z.strictObject({
      key: listedKey,
      class: z.enum([
        ...mark.shape.class.options,
        "consistent",
        "healable",
        "purge_due",
        "purged_due",
        "foreign",
      ]),
      decision: z.enum([
        "ignored",
        "none",
        "recovered",
        "in_flight",
        "suspect",
        "awaiting",
        "deferred",
        "rearmed",
        "missing",
        "quarantined",
        "purge",
        "healed",
        "purged",
      ]),
    }),
  ),
  events: z.array(
    z.strictObject({
      sequence: integer(1),
      type: z.string().regex(/^object\.[a-z_]{1,32}$/),
      key: listedKey,
    }),
  ),
  next_cursor: listedKey.nullable(),
  pass_complete: z.boolean(),
  next_sequence: integer(1),
});

const observed = z.union([...Object.values(bucketConfig.shape), text(1, 255)]);

const OUTPUTS: Readonly<Record<FamilyName, z.ZodType>> = {
  authorize_download: z.strictObject({
    code: z.enum(["ALLOW", ...DENIALS]),
    reason: z.enum(["ABSENT", "OWNERSHIP", "DEADLINE"]).nullable(),
    http_status: z.literal([200, 401, 403, 404, 409, 410]),
  }),
  derive_deadline: z.strictObject({
    code: z.enum(["OK", "NOT_STARTED", "OUT_OF_RANGE"]),
    deadline: instant.nullable(),
    source: z.enum(["plan", "tenant", "hold", "announced"]).nullable(),
  }),
  evaluate_expiry: z.strictObject({
    code: z.enum(["ACTIVE", "EXPIRING", "EXPIRED", "HELD", "NO_DEADLINE", "INERT"]),
    remaining_ms: integer(0).nullable(),
    download_allowed: z.boolean(),
  }),
  issue_signed_url: z.strictObject({
    code: z.enum([
      "ISSUED",
      ...DENIALS,
      "OBJECT_MISSING",
      "OBJECT_MISMATCH",
      "NO_LIFETIME",
      "SIGNER_REJECTED",
    ]),
    url: text(1, 2048).nullable(),
    expires_at: instant.nullable(),
    expires_in: lifetime.nullable(),
    limit: z.enum(["requested", "policy", "deadline", "credential"]).nullable(),
  }),
  project_library: z.strictObject({
    code: z.enum(["OK", "TENANT_LEAK"]),
    items: z.array(libraryItem),
    next: cursor,
  }),
  reconcile_objects: reconcileOutput,
  validate_archive: z.strictObject({
    code: z.enum(ARCHIVE_CODES),
    violations: z.array(
      z.strictObject({
        code: violationCode,
        path: text(0, 1024).nullable(),
        ceiling: ceilingName.nullable(),
      }),
    ),
  }),
  validate_bucket: z.strictObject({
    code: z.enum(["CONFORMING", "NONCONFORMING"]),
    findings: z.array(z.strictObject({ rule: text(1, 16), pointer: text(1, 64), observed })),
    waived: z.array(bucketRuleId),
  }),
  validate_delivery: z.strictObject({
    code: z.enum([
      "DELIVERABLE",
      "SUPERSEDED",
      "KEY_MISMATCH",
      "ARCHIVE_INVALID",
      "OBJECT_MISMATCH",
      "PROBE_UNIVERSE",
      "PROBE_FAILED",
    ]),
    failed: z.array(probeName).max(8),
  }),
  validate_object_key: z.union([
    z.strictObject({ code: z.literal("OK"), key: rowKey }),
    z.strictObject({
      results: z
        .array(z.strictObject({ code: z.string().regex(/^[A-Z_]{2,16}$/), parts: keyParts.nullable() }))
        .min(1)
        .max(16),
    }),
  ]),
};

/** The eight members of every case; input and output are judged by the family. */
export const caseFrame = z.strictObject({
  id: z.string().regex(/^SL-[0-9]{3}$/),
  family: z.string(),
  title: text(1, 200),
  boundary: text(1, 32).nullable(),
  rules: z
    .array(z.string().regex(/^[A-Z]{2}-[1-9][0-9]?$/))
    .min(1)
    .max(8)
    .refine(areUnique),
  input: members,
  calls: z.array(call),
  expected: z.strictObject({ output: members, mutations: z.array(mutation) }),
});

/** Whether an output has the form that its family gives. */
export function isOutputOf(family: FamilyName, output: unknown): boolean {
  return OUTPUTS[family].safeParse(output).success;
}
