import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  CreateBucketCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutPublicAccessBlockCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { prepareMoto, startMoto } from "../../../test/support/moto.ts";
import type { ObjectStoreProcess } from "../../../test/support/versitygw.ts";
import { checkBucket } from "./bucket-check.ts";
import type { Bucket } from "./bucket.ts";
import { makeS3Bucket } from "./s3-bucket.ts";
import { lifecycleDays, refusesPlainHttp } from "./s3-config.ts";
import type { LifecycleRule } from "./s3-sdk.ts";

const REGION = "us-east-1";
const LIMITS = { longestRetentionDays: 30, waivers: [] };
const missing = prepareMoto();

describe("the check of a bucket's configuration", { skip: missing ?? false }, () => {
  let store: ObjectStoreProcess;
  let client: S3Client;
  const opened: Bucket[] = [];
  before(async () => {
    store = await startMoto();
    client = new S3Client({ region: REGION, endpoint: store.endpoint, forcePathStyle: true });
  });
  after(async () => {
    client.destroy();
    for (const bucket of opened) bucket.close();
    await store.stop();
  });

  it("finds what a new bucket lacks, and that it must not be used without versions", async () => {
    const faults = await checkBucket(await create("plain"), LIMITS);
    const rules = new Set(faults.map(({ rule }) => rule));
    for (const rule of ["BR-01", "BR-03", "BR-04", "BR-06", "BR-07", "BR-08"] as const) {
      assert.ok(rules.has(rule), rule);
    }
    assert.deepEqual(
      faults.filter(({ isFatal }) => isFatal).map(({ rule }) => rule),
      ["BR-04"],
    );
    assert.ok(faults.every(({ remedy }) => remedy.length > 10));
  });

  it("finds nothing in a bucket that is set up as docs/storage.md says", async () => {
    const bucket = await create("good");
    await setUp("good");
    assert.deepEqual(await checkBucket(bucket, LIMITS), []);
  });

  it("finds a bucket that is open to everyone, to every site, and deletes too soon", async () => {
    const bucket = await create("bad");
    await setUp("bad");
    const Bucket = "bad";
    const open = { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::bad/*" };
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy: policyOf([open]) }));
    const CORSRules = [{ AllowedMethods: ["GET"], AllowedOrigins: ["https://*.example.com"] }];
    await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
    const Rules = [
      { ID: "soon", Status: "Enabled" as const, Filter: { Prefix: "" }, Expiration: { Days: 30 } },
    ];
    await client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }),
    );
    const faults = await checkBucket(bucket, LIMITS);
    assert.deepEqual(
      faults.map(({ rule, isFatal }) => [rule, isFatal]),
      [
        ["BR-02", true],
        ["BR-06", false],
        ["BR-07", false],
        ["BR-08", false],
        ["BR-09", true],
        ["BR-10", false],
      ],
    );
  });

  async function create(name: string): Promise<Bucket> {
    await client.send(new CreateBucketCommand({ Bucket: name }));
    const bucket = await makeS3Bucket({ bucket: name, region: REGION, endpoint: store.endpoint });
    opened.push(bucket);
    return bucket;
  }

  async function setUp(Bucket: string): Promise<void> {
    const PublicAccessBlockConfiguration = {
      BlockPublicAcls: true,
      IgnorePublicAcls: true,
      BlockPublicPolicy: true,
      RestrictPublicBuckets: true,
    };
    await client.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
    const OwnershipControls = { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" as const }] };
    await client.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }));
    const VersioningConfiguration = { Status: "Enabled" as const };
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    const ServerSideEncryptionConfiguration = {
      Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" as const } }],
    };
    await client.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration }));
    const LifecycleConfiguration = {
      Rules: [
        {
          ID: "tidy",
          Status: "Enabled" as const,
          Filter: { Prefix: "" },
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          NoncurrentVersionExpiration: { NoncurrentDays: 7 },
        },
      ],
    };
    await client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy: policyOf([DENY_PLAIN_HTTP]) }));
  }
});

const DENY_PLAIN_HTTP = {
  Effect: "Deny",
  Principal: "*",
  Action: "s3:*",
  Resource: "*",
  Condition: { Bool: { "aws:SecureTransport": "false" } },
};

function policyOf(Statement: unknown): string {
  return JSON.stringify({ Version: "2012-10-17", Statement });
}

function refuses(statement: unknown): boolean {
  return refusesPlainHttp(policyOf(statement), "mine");
}

describe("refusesPlainHttp", () => {
  it("wants everyone to be denied everything without TLS", () => {
    assert.ok(refuses(DENY_PLAIN_HTTP));
    assert.ok(refuses([{ Effect: "Allow" }, DENY_PLAIN_HTTP]));
    assert.ok(refuses({ ...DENY_PLAIN_HTTP, Principal: { AWS: "*" }, Action: ["s3:*"] }));
    // As MinIO gives it back.
    const Condition = { Bool: { "aws:SecureTransport": ["false"] } };
    assert.ok(refuses({ ...DENY_PLAIN_HTTP, Principal: { AWS: ["*"] }, Action: ["s3:*"], Condition }));
    assert.ok(refuses({ ...DENY_PLAIN_HTTP, Resource: ["arn:aws:s3:::mine", "arn:aws:s3:::mine/*"] }));
    assert.ok(refuses({ ...DENY_PLAIN_HTTP, Condition: { Bool: { "aws:SecureTransport": false } } }));
    assert.ok(refuses({ ...DENY_PLAIN_HTTP, Action: ["s3:GetObject", "*"] }));
  });

  it("is not content with less", () => {
    const less = [
      { Effect: "Allow" },
      { Principal: { AWS: "arn:aws:iam::123456789012:root" } },
      { Principal: { AWS: ["arn:aws:iam::123456789012:root"] } },
      { Action: "s3:GetObject" },
      { Resource: "arn:aws:s3:::other/*" },
      { Condition: { Bool: { "aws:SecureTransport": "true" } } },
      { Condition: { ...DENY_PLAIN_HTTP.Condition, StringEquals: { "aws:PrincipalOrgID": "o-1" } } },
      { Condition: undefined },
      { Action: undefined },
      { Resource: undefined },
      { Principal: undefined },
      { Resource: "arn:aws:s3:::mine" },
      { Condition: { Bool: { "aws:SecureTransport": "false", "aws:MultiFactorAuthPresent": "false" } } },
    ];
    for (const change of less) assert.ok(!refuses({ ...DENY_PLAIN_HTTP, ...change }));
    assert.ok(!refusesPlainHttp("no JSON", "mine"));
  });
});

describe("lifecycleDays", () => {
  const enabled = { Status: "Enabled" } as const;

  it("counts for the whole bucket only rules that cover all of it", () => {
    const days = lifecycleDays([
      { ...enabled, Filter: { Prefix: "v1/" }, NoncurrentVersionExpiration: { NoncurrentDays: 3 } },
      { Status: "Disabled", Prefix: "", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      { ...enabled, Prefix: "", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 5 } },
    ]);
    assert.deepEqual(days, { abort_multipart_days: 5, noncurrent_days: null, current_expiration_days: null });
    const NoncurrentVersionExpiration = { NoncurrentDays: 3 };
    const noncurrent = (rule: LifecycleRule) =>
      lifecycleDays([{ ...rule, NoncurrentVersionExpiration }]).noncurrent_days;
    const some: Partial<LifecycleRule>[] = [
      { Prefix: "v1/" },
      { Filter: { Prefix: "v1/" } },
      { Filter: { And: {} } },
      { Filter: { Tag: { Key: "a", Value: "b" } } },
      { Filter: { ObjectSizeGreaterThan: 1 } },
      { Filter: { ObjectSizeLessThan: 1 } },
    ];
    assert.deepEqual(
      some.map((part) => noncurrent({ ...enabled, ...part })),
      some.map(() => null),
    );
    const all: Partial<LifecycleRule>[] = [{}, { Prefix: "" }, { Filter: {} }, { Filter: { Prefix: "" } }];
    assert.deepEqual(
      all.map((part) => noncurrent({ ...enabled, ...part })),
      all.map(() => 3),
    );
  });

  it("counts the soonest of several", () => {
    const rules = [5, 2, 7].map((DaysAfterInitiation) => ({
      Status: "Enabled" as const,
      AbortIncompleteMultipartUpload: { DaysAfterInitiation },
    }));
    assert.equal(lifecycleDays(rules).abort_multipart_days, 2);
  });

  it("counts every rule that deletes objects, and a fixed date as at once", () => {
    const filtered = { ...enabled, Filter: { Prefix: "v1/" }, Expiration: { Days: 90 } };
    assert.equal(lifecycleDays([filtered]).current_expiration_days, 90);
    const dated = { ...enabled, Prefix: "", Expiration: { Date: new Date(0) } };
    assert.equal(lifecycleDays([filtered, dated]).current_expiration_days, 0);
  });

  it("passes on that nothing is set, or that the store does not know", () => {
    for (const value of [null, "unsupported"] as const) {
      assert.deepEqual(Object.values(lifecycleDays(value)), [value, value, value]);
    }
  });
});
