/** Is a bucket configured so that tenants' artifacts may be put into it? */
import * as z from "zod";
import type { OperationResult } from "./mutations.ts";
import { areUnique, integer, text } from "./values.ts";

const word = z.string().regex(/^[A-Za-z0-9:_.-]{1,64}$/);
const days = integer(0, 36_500);
const unsupported = z.literal("unsupported");

const publicAccessBlock = z.strictObject({
  block_public_acls: z.boolean(),
  ignore_public_acls: z.boolean(),
  block_public_policy: z.boolean(),
  restrict_public_buckets: z.boolean(),
});

/** A probe's value, null where it is absent, `unsupported` where the store does not know it. */
function probed<Value extends z.ZodType>(value: Value) {
  return z.union([value, unsupported]).nullable();
}

export const bucketConfig = z.strictObject({
  public_access_block: probed(publicAccessBlock),
  policy_status: probed(z.strictObject({ is_public: z.boolean() })),
  ownership: probed(word),
  versioning: probed(word),
  encryption: probed(z.strictObject({ algorithm: word })),
  tls_only: probed(z.boolean()),
  abort_multipart_days: probed(days),
  noncurrent_days: probed(days),
  current_expiration_days: probed(days),
  cors_origins: probed(z.array(text(1, 255)).max(64)),
});
export type BucketConfig = z.infer<typeof bucketConfig>;

export const bucketRuleId = z.enum([
  "BR-01",
  "BR-02",
  "BR-03",
  "BR-04",
  "BR-05",
  "BR-06",
  "BR-07",
  "BR-08",
  "BR-09",
  "BR-10",
  "BR-11",
]);
export type BucketRuleId = z.infer<typeof bucketRuleId>;

export const validateBucketInput = z.strictObject({
  bucket: z.string().regex(/^[A-Za-z0-9._-]{1,255}$/),
  longest_retention_days: integer(1, 3650),
  config: bucketConfig,
  waivers: z
    .array(bucketRuleId)
    .max(11)
    .refine((ids) => areUnique(ids)),
});
export type ValidateBucketInput = z.infer<typeof validateBucketInput>;

export type ObservedValue = BucketConfig[keyof BucketConfig];

export interface BucketFinding {
  rule: BucketRuleId;
  /** JSON pointer into the input. */
  pointer: string;
  /** The value there, or the nearest ancestor that is null or `unsupported`. */
  observed: ObservedValue;
}

export interface ValidateBucketOutput {
  code: "CONFORMING" | "NONCONFORMING";
  findings: BucketFinding[];
  waived: BucketRuleId[];
}

interface BucketRule {
  id: BucketRuleId;
  pointer: string;
  observe: (input: ValidateBucketInput) => ObservedValue;
  isMet: (input: ValidateBucketInput) => boolean;
}

const ENCRYPTIONS: ReadonlySet<string> = new Set(["AES256", "aws:kms", "aws:kms:dsse"]);
const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
const RESERVED_PREFIX = /^(?:xn--|sthree-|amzn-s3-demo-)/;
const RESERVED_SUFFIX = /(?:-s3alias|--ol-s3|--x-s3)$/;

function isWithin(value: ObservedValue, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

/** Looks through one level of a probed object; null and `unsupported` speak for what is below. */
function below<Probe extends object, Value>(
  probe: Probe | "unsupported" | null,
  pick: (probe: Probe) => Value,
) {
  return probe === null || probe === "unsupported" ? probe : pick(probe);
}

/** Each rule judges one pointer and each pointer has one rule; the order is that of the findings. */
export const BUCKET_RULES: readonly BucketRule[] = [
  {
    id: "BR-01",
    pointer: "/config/public_access_block",
    observe: ({ config }) => config.public_access_block,
    isMet: ({ config }) =>
      below(config.public_access_block, (flags) => Object.values(flags).every(Boolean)) === true,
  },
  {
    id: "BR-02",
    pointer: "/config/policy_status/is_public",
    observe: ({ config }) => below(config.policy_status, (status) => status.is_public),
    isMet: ({ config }) => config.policy_status === null || below(config.policy_status, isPrivate) === true,
  },
  {
    id: "BR-03",
    pointer: "/config/ownership",
    observe: ({ config }) => config.ownership,
    isMet: ({ config }) => config.ownership === "BucketOwnerEnforced",
  },
  {
    id: "BR-04",
    pointer: "/config/versioning",
    observe: ({ config }) => config.versioning,
    isMet: ({ config }) => config.versioning === "Enabled",
  },
  {
    id: "BR-05",
    pointer: "/config/encryption/algorithm",
    observe: ({ config }) => below(config.encryption, ({ algorithm }) => algorithm),
    isMet: ({ config }) => below(config.encryption, ({ algorithm }) => ENCRYPTIONS.has(algorithm)) === true,
  },
  {
    id: "BR-06",
    pointer: "/config/tls_only",
    observe: ({ config }) => config.tls_only,
    isMet: ({ config }) => config.tls_only === true,
  },
  {
    id: "BR-07",
    pointer: "/config/abort_multipart_days",
    observe: ({ config }) => config.abort_multipart_days,
    isMet: ({ config }) => isWithin(config.abort_multipart_days, 1, 7),
  },
  {
    id: "BR-08",
    pointer: "/config/noncurrent_days",
    observe: ({ config }) => config.noncurrent_days,
    isMet: ({ config }) => isWithin(config.noncurrent_days, 1, 30),
  },
  {
    id: "BR-09",
    pointer: "/config/current_expiration_days",
    observe: ({ config }) => config.current_expiration_days,
    // The database owns expiry: a lifecycle rule may only be a late safety net.
    isMet: ({ config, longest_retention_days }) =>
      config.current_expiration_days === null ||
      isWithin(config.current_expiration_days, longest_retention_days + 1, Infinity),
  },
  {
    id: "BR-10",
    pointer: "/config/cors_origins",
    observe: ({ config }) => config.cors_origins,
    isMet: ({ config: { cors_origins: origins } }) =>
      origins === null || (origins !== "unsupported" && origins.every((origin) => !origin.includes("*"))),
  },
  {
    id: "BR-11",
    pointer: "/bucket",
    observe: ({ bucket }) => bucket,
    isMet: ({ bucket }) =>
      BUCKET_NAME.test(bucket) && !RESERVED_PREFIX.test(bucket) && !RESERVED_SUFFIX.test(bucket),
  },
];

/**
 * Judges a bucket by all eleven rules. A waiver admits that the store cannot
 * tell (`unsupported`); it never excuses a value that is known to be wrong.
 */
export function validateBucket(input: ValidateBucketInput): OperationResult<ValidateBucketOutput> {
  const findings = BUCKET_RULES.filter((rule) => !rule.isMet(input) && !isWaived(rule, input)).map(
    (rule): BucketFinding => ({ rule: rule.id, pointer: rule.pointer, observed: rule.observe(input) }),
  );
  const code = findings.length === 0 ? "CONFORMING" : "NONCONFORMING";
  return { output: { code, findings, waived: input.waivers.toSorted() }, mutations: [] };
}

function isWaived(rule: BucketRule, input: ValidateBucketInput): boolean {
  // A bucket may well be named "unsupported"; only a probe can be unsupported.
  const isProbe = rule.pointer.startsWith("/config/");
  return isProbe && rule.observe(input) === "unsupported" && input.waivers.includes(rule.id);
}

function isPrivate(status: { is_public: boolean }): boolean {
  return !status.is_public;
}
