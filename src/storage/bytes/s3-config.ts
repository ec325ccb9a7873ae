/** Gathers what `validate_bucket` judges from the dozen places where a bucket keeps it. */
import * as z from "zod";
import { parseJson } from "../../shared/parse-json.ts";
import { bucketConfig, type BucketConfig } from "../rules/validate-bucket.ts";
import { isUnsupported, refusalOf, unavailable } from "./s3-errors.ts";
import type * as sdkModule from "./s3-sdk.ts";
import type { LifecycleRule, S3Client } from "./s3-sdk.ts";

type Sdk = typeof sdkModule;
type SendOptions = { abortSignal: AbortSignal };

/** What stores answer where a bucket simply has no such configuration. */
const NONE = new Set([
  "NoSuchPublicAccessBlockConfiguration",
  "NoSuchBucketPolicy",
  "OwnershipControlsNotFoundError",
  "ServerSideEncryptionConfigurationNotFoundError",
  "NoSuchLifecycleConfiguration",
  "NoSuchCORSConfiguration",
]);

/** @throws StoreUnavailableError where the store does not answer, or the credential may not look. */
export async function readS3Config(
  store: { sdk: Sdk; client: S3Client; bucket: string },
  limit: () => SendOptions,
): Promise<BucketConfig> {
  const { sdk, client } = store;
  const Bucket = { Bucket: store.bucket };
  const accessBlock = await probe("s3:GetBucketPublicAccessBlock", async () => {
    const answer = await client.send(new sdk.GetPublicAccessBlockCommand(Bucket), limit());
    const flags = answer.PublicAccessBlockConfiguration;
    return {
      block_public_acls: flags?.BlockPublicAcls === true,
      ignore_public_acls: flags?.IgnorePublicAcls === true,
      block_public_policy: flags?.BlockPublicPolicy === true,
      restrict_public_buckets: flags?.RestrictPublicBuckets === true,
    };
  });
  const policyStatus = await probe("s3:GetBucketPolicyStatus", async () => {
    const answer = await client.send(new sdk.GetBucketPolicyStatusCommand(Bucket), limit());
    return { is_public: answer.PolicyStatus?.IsPublic === true };
  });
  const ownership = await probe("s3:GetBucketOwnershipControls", async () => {
    const answer = await client.send(new sdk.GetBucketOwnershipControlsCommand(Bucket), limit());
    return answer.OwnershipControls?.Rules?.[0]?.ObjectOwnership ?? null;
  });
  const versioning = await probe("s3:GetBucketVersioning", async () => {
    const answer = await client.send(new sdk.GetBucketVersioningCommand(Bucket), limit());
    return answer.Status ?? null;
  });
  const encryption = await probe("s3:GetEncryptionConfiguration", async () => {
    const answer = await client.send(new sdk.GetBucketEncryptionCommand(Bucket), limit());
    const rule = answer.ServerSideEncryptionConfiguration?.Rules?.[0];
    const algorithm = rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm;
    return algorithm === undefined ? null : { algorithm };
  });
  const tlsOnly = await probe("s3:GetBucketPolicy", async () => {
    const { Policy } = await client.send(new sdk.GetBucketPolicyCommand(Bucket), limit());
    return refusesPlainHttp(Policy ?? "", store.bucket);
  });
  const lifecycle = await probe("s3:GetLifecycleConfiguration", async () => {
    const answer = await client.send(new sdk.GetBucketLifecycleConfigurationCommand(Bucket), limit());
    return answer.Rules ?? [];
  });
  const cors = await probe("s3:GetBucketCORS", async () => {
    const answer = await client.send(new sdk.GetBucketCorsCommand(Bucket), limit());
    return (answer.CORSRules ?? []).flatMap((rule) => rule.AllowedOrigins ?? []);
  });
  return bucketConfig.parse({
    public_access_block: accessBlock,
    policy_status: policyStatus,
    ownership,
    versioning,
    encryption,
    tls_only: tlsOnly,
    ...lifecycleDays(lifecycle),
    cors_origins: cors,
  });
}

async function probe<T>(permission: string, ask: () => Promise<T>): Promise<T | "unsupported" | null> {
  try {
    return await ask();
  } catch (error) {
    const refusal = refusalOf(error);
    if (NONE.has(refusal.name)) return null;
    if (isUnsupported(refusal)) return "unsupported";
    throw unavailable(`tell how the bucket is set up (${permission})`, error);
  }
}

/** Days until each thing happens to objects of the whole bucket; for deletions, of any part of it. */
export function lifecycleDays(
  rules: readonly LifecycleRule[] | "unsupported" | null,
): Pick<BucketConfig, "abort_multipart_days" | "noncurrent_days" | "current_expiration_days"> {
  if (rules === null || rules === "unsupported") {
    return { abort_multipart_days: rules, noncurrent_days: rules, current_expiration_days: rules };
  }
  const enabled = rules.filter((rule) => rule.Status === "Enabled");
  const everywhere = enabled.filter(coversAll);
  return {
    abort_multipart_days: least(
      everywhere.map((rule) => rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation),
    ),
    noncurrent_days: least(everywhere.map((rule) => rule.NoncurrentVersionExpiration?.NoncurrentDays)),
    // A rule for some keys, or for a fixed date, may still remove what the database counts on.
    current_expiration_days: least(
      enabled.map(({ Expiration }) => (Expiration?.Date === undefined ? Expiration?.Days : 0)),
    ),
  };
}

function coversAll({ Filter, Prefix }: LifecycleRule): boolean {
  const isFiltered =
    Filter !== undefined &&
    (Filter.And !== undefined ||
      Filter.Tag !== undefined ||
      Filter.ObjectSizeGreaterThan !== undefined ||
      Filter.ObjectSizeLessThan !== undefined ||
      (Filter.Prefix ?? "") !== "");
  return !isFiltered && (Prefix ?? "") === "";
}

function least(days: readonly (number | undefined)[]): number | null {
  const known = days.filter((count) => count !== undefined);
  return known.length === 0 ? null : Math.min(...known);
}

const PLAIN_HTTP = /^\{"Bool":\{"aws:SecureTransport":\[?"?false"?\]?\}\}$/;

const oneOrMany = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const statement = z.looseObject({
  Effect: z.string(),
  Principal: z.unknown().optional(),
  Action: oneOrMany.optional(),
  Resource: oneOrMany.optional(),
  Condition: z.unknown().optional(),
});
const policy = z.looseObject({
  Statement: z.union([statement, z.array(statement)]).transform((value) => [value].flat()),
});

/** Whether everyone is denied everything of the bucket's objects without TLS, and under no other condition. */
export function refusesPlainHttp(text: string, bucket: string): boolean {
  const parsed = policy.safeParse(parseJson(text));
  return (
    parsed.success &&
    parsed.data.Statement.some(
      ({ Effect, Principal, Action = [], Resource = [], Condition = {} }) =>
        Effect === "Deny" &&
        isEveryone(Principal) &&
        Action.some((action) => action === "*" || action === "s3:*") &&
        Resource.some((name) => name === "*" || name.endsWith(`:::${bucket}/*`)) &&
        PLAIN_HTTP.test(JSON.stringify(Condition)),
    )
  );
}

/** In each form in which stores give it back. */
function isEveryone(principal: unknown): boolean {
  return ['"*"', '{"AWS":"*"}', '{"AWS":["*"]}'].includes(JSON.stringify(principal) ?? "");
}
