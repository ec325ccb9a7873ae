import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GOOD_BUCKET } from "../../../test/support/good-bucket.ts";
import type { BucketConfig } from "../rules/validate-bucket.ts";
import { checkBucket } from "./bucket-check.ts";

const UNKNOWN = { encryption: "unsupported", tls_only: "unsupported" } as const;

async function faultsOf(config: Partial<BucketConfig>) {
  const bucket = { name: "artifacts", readConfig: async () => ({ ...GOOD_BUCKET, ...config }) };
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

  it("says what to do about each rule, in its own words", async () => {
    const bucket = {
      name: "Artifacts",
      readConfig: async () => ({
        ...GOOD_BUCKET,
        public_access_block: null,
        policy_status: { is_public: true },
        ownership: null,
        versioning: null,
        encryption: null,
        tls_only: null,
        abort_multipart_days: null,
        noncurrent_days: null,
        current_expiration_days: 1,
        cors_origins: ["*"],
      }),
    };
    const faults = await checkBucket(bucket, { longestRetentionDays: 30, waivers: [] });
    const words = [
      /block public access/,
      /statements that let everyone in/,
      /BucketOwnerEnforced/,
      /enable versioning/,
      /default encryption/,
      /aws:SecureTransport/,
      /aborts incomplete uploads/,
      /noncurrent versions/,
      /before ARTIFACT_DAYS/,
      /origins of CORS rules/,
      /bucket name of 3 to 63/,
    ];
    assert.equal(faults.length, words.length);
    for (const [index, { remedy }] of faults.entries()) {
      assert.match(remedy, words[index] ?? /^$/);
      assert.doesNotMatch(remedy, /waive/);
    }
  });

  it("says of what a store cannot tell how it is waived, and leaves out what was", async () => {
    const bucket = { name: "artifacts", readConfig: async () => ({ ...GOOD_BUCKET, ...UNKNOWN }) };
    const faults = await checkBucket(bucket, { longestRetentionDays: 30, waivers: ["BR-05"] });
    assert.deepEqual(faults, [
      {
        rule: "BR-06",
        observed: '"unsupported"',
        remedy:
          "deny every request without TLS by a policy on aws:SecureTransport; where the store cannot, add waive=BR-06 to OBJECT_STORE_URL",
        isFatal: false,
      },
    ]);
  });
});
