import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BucketConfig } from "../rules/validate-bucket.ts";
import { checkBucket } from "./bucket-check.ts";

const ALL = { block_public_acls: true, ignore_public_acls: true, block_public_policy: true };
const GOOD: BucketConfig = {
  public_access_block: { ...ALL, restrict_public_buckets: true },
  policy_status: { is_public: false },
  ownership: "BucketOwnerEnforced",
  versioning: "Enabled",
  encryption: { algorithm: "AES256" },
  tls_only: true,
  abort_multipart_days: 7,
  noncurrent_days: 30,
  current_expiration_days: null,
  cors_origins: null,
};

async function faultsOf(config: Partial<BucketConfig>) {
  const bucket = { name: "artifacts", readConfig: async () => ({ ...GOOD, ...config }) };
  const faults = await checkBucket(bucket, { longestRetentionDays: 30, waivers: [] });
  return faults.map(({ rule, observed, isFatal }) => [rule, observed, isFatal]);
}

describe("what a bucket's configuration means for a start", () => {
  it("is nothing where it is as it should be, or where there is none", async () => {
    assert.deepEqual(await faultsOf({}), []);
    const bucket = { name: "artifacts", readConfig: async () => null };
    assert.deepEqual(await checkBucket(bucket, { longestRetentionDays: 30, waivers: [] }), []);
  });

  it("keeps from it where strangers can read, versions are off, or objects go too soon", async () => {
    assert.deepEqual(await faultsOf({ policy_status: { is_public: true } }), [["BR-02", "true", true]]);
    assert.deepEqual(await faultsOf({ versioning: "Suspended" }), [["BR-04", '"Suspended"', true]]);
    assert.deepEqual(await faultsOf({ current_expiration_days: 30 }), [["BR-09", "30", true]]);
    assert.deepEqual(await faultsOf({ tls_only: null }), [["BR-06", "not set", false]]);
  });

  it("keeps from it of what a store does not know only where that is versions", async () => {
    const unknown = "unsupported";
    const config = { policy_status: unknown, versioning: unknown, current_expiration_days: unknown } as const;
    assert.deepEqual(await faultsOf(config), [
      ["BR-02", '"unsupported"', false],
      ["BR-04", '"unsupported"', true],
      ["BR-09", '"unsupported"', false],
    ]);
  });
});
