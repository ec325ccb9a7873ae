/** Whether the bucket in use may hold tenants' artifacts, and what to do where it may not. */
import type { Bucket } from "./bucket.ts";
import { validateBucket, type BucketFinding, type BucketRuleId } from "../rules/validate-bucket.ts";

/** What each rule asks for, as a person would be told. */
const REMEDIES: Readonly<Record<BucketRuleId, string>> = {
  "BR-01": "block public access: turn all four settings on",
  "BR-02": "remove the bucket policy's statements that let everyone in",
  "BR-03": "set object ownership to BucketOwnerEnforced, which turns access lists off",
  "BR-04": "enable versioning: links and deletions name a version",
  "BR-05": "set default encryption to AES256 or aws:kms",
  "BR-06": "deny every request without TLS by a policy on aws:SecureTransport",
  "BR-07": "add a lifecycle rule that aborts incomplete uploads after 1 to 7 days",
  "BR-08": "add a lifecycle rule that removes noncurrent versions after 1 to 30 days",
  "BR-09": "remove lifecycle rules that expire objects before ARTIFACT_DAYS: the database decides when",
  "BR-10": "name the origins of CORS rules, without *",
  "BR-11": "use a bucket name of 3 to 63 of a-z, 0-9 and -, without a reserved beginning or end",
};

/** With these wrong, strangers can read, or what is promised cannot be kept. */
const FATAL: ReadonlySet<BucketRuleId> = new Set(["BR-02", "BR-04", "BR-09"]);

export type BucketFault = {
  rule: BucketRuleId;
  /** What was found, as JSON, or `not set`. */
  observed: string;
  remedy: string;
  /** The service must not start with it. */
  isFatal: boolean;
};

/**
 * Judges the bucket's configuration; empty where there is none to judge.
 *
 * @param limits the longest that an artifact is kept, in days, and the rules that the operator waived.
 * @throws StoreUnavailableError where the configuration cannot be read.
 */
export async function checkBucket(
  bucket: Pick<Bucket, "name" | "readConfig">,
  limits: { longestRetentionDays: number; waivers: readonly BucketRuleId[] },
): Promise<BucketFault[]> {
  const config = await bucket.readConfig();
  if (config === null) return [];
  const { output } = validateBucket({
    bucket: bucket.name,
    longest_retention_days: limits.longestRetentionDays,
    config,
    waivers: [...limits.waivers],
  });
  return output.findings.map(toFault);
}

function toFault({ rule, observed }: BucketFinding): BucketFault {
  const waiver =
    observed === "unsupported" ? `; where the store cannot, add waive=${rule} to OBJECT_STORE_URL` : "";
  return {
    rule,
    observed: observed === null ? "not set" : JSON.stringify(observed),
    remedy: `${REMEDIES[rule]}${waiver}`,
    // A store that cannot tell whether it is public may still be private; one without versions has none.
    isFatal: FATAL.has(rule) && (observed !== "unsupported" || rule === "BR-04"),
  };
}
