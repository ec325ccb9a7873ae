/** The adapter before a store whose answers are told to it: lists of objects and of versions, and how it is set up. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { newKey } from "../../../test/support/bucket-contract.ts";
import { refusal, startToldStore, type Told, type ToldStore } from "../../../test/support/told-store.ts";
import { StoreUnavailableError, type Bucket } from "./bucket.ts";
import { ownerKey } from "./own-keys.ts";

let store: ToldStore;
let bucket: Bucket;

before(async () => {
  store = await startToldStore();
  ({ bucket } = store);
});
after(() => store.close());
beforeEach(() => store.reset());

const object = (key: string, size = 1) =>
  `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${size}</Size><ETag>"e"</ETag><LastModified>2026-03-01T12:34:56.000Z</LastModified></Contents>`;
const page = (contents: string, isTruncated: boolean): Told => ({
  body: `<ListBucketResult>${contents}<IsTruncated>${isTruncated}</IsTruncated></ListBucketResult>`,
});
const version = (kind: string, key: string, id: string) =>
  `<${kind}><Key>${encodeURIComponent(key)}</Key><VersionId>${id}</VersionId></${kind}>`;

describe("a list of objects", () => {
  const facts = { size: 1, etag: "e", last_modified: "2026-03-01T12:34:56.000Z" };

  it("has what the store has, a planted key with its spaces and signs", async () => {
    const planted = "a b/+&é%.txt";
    store.answers = [page(object(planted).replace("%20", "+"), true)];
    const listed = await bucket.list({ after: "a", limit: 7 });
    assert.deepEqual(listed, { objects: [{ key: planted, ...facts }], isTruncated: true });
    assert.deepEqual(store.lines("start-after", "max-keys", "encoding-type", "prefix"), [
      "GET /artifacts/ start-after=a max-keys=7 encoding-type=url",
    ]);
  });

  it("has none of the installation's own, and goes on behind them where a page has no others", async () => {
    store.answers = [page(object(ownerKey(1)) + object(ownerKey(2)), true), page(object("v1/x"), false)];
    const listed = await bucket.list({ after: null, limit: 2 });
    assert.deepEqual(listed, { objects: [{ key: "v1/x", ...facts }], isTruncated: false });
    assert.deepEqual(store.lines("start-after"), ["GET /artifacts/", "GET /artifacts/ start-after=postern0"]);

    store.answers = [page(object(ownerKey(1)) + object("v1/x"), true)];
    assert.deepEqual(
      (await bucket.list({ after: null, limit: 2 })).objects.map(({ key }) => key),
      ["v1/x"],
    );
    store.answers = [page(object(ownerKey(1)), false)];
    assert.deepEqual(await bucket.list({ after: null, limit: 2 }), { objects: [], isTruncated: false });
  });

  it("has them where their prefix is asked for", async () => {
    store.answers = [page(object(ownerKey(1)), false)];
    const { objects } = await bucket.list({ after: null, limit: 2, prefix: "postern/owner/" });
    assert.deepEqual(
      objects.map(({ key }) => key),
      [ownerKey(1)],
    );
    assert.deepEqual(store.lines("prefix"), ["GET /artifacts/ prefix=postern/owner/"]);
  });

  it("tells of no size beyond the largest, and is no list where the store refuses", async () => {
    store.answers = [page(object("v1/x", 6e9), false)];
    assert.equal((await bucket.list({ after: null, limit: 2 })).objects[0]?.size, 5_368_709_120);
    store.answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.list({ after: null, limit: 2 }), /list its objects \(s3:ListBucket\)/);
  });
});

describe("the versions of objects", () => {
  it("are all of a prefix, page by page, marks of deletions among them, and artifacts alone", async () => {
    const [first, second] = [newKey(), newKey()];
    const next = `<NextKeyMarker>${encodeURIComponent(first)}</NextKeyMarker><NextVersionIdMarker>a-1</NextVersionIdMarker>`;
    store.answers = [
      {
        body: `<ListVersionsResult>${version("Version", first, "a-1")}${version("Version", "v1/planted", "p")}${version("DeleteMarker", second, "d-1")}<IsTruncated>true</IsTruncated>${next}</ListVersionsResult>`,
      },
      {
        body: `<ListVersionsResult><Version><Key>${encodeURIComponent(second)}</Key></Version><IsTruncated>false</IsTruncated></ListVersionsResult>`,
      },
    ];
    assert.deepEqual(await Array.fromAsync(bucket.versions("v1/t/")), [
      { key: first, versionId: "a-1" },
      { key: second, versionId: "d-1" },
      // As a store without versions names the only one.
      { key: second, versionId: "null" },
    ]);
    assert.deepEqual(store.lines("prefix", "key-marker", "version-id-marker"), [
      "GET /artifacts/ prefix=v1/t/",
      `GET /artifacts/ prefix=v1/t/ key-marker=${first} version-id-marker=a-1`,
    ]);
  });

  it("are not known where the store refuses", async () => {
    store.answers = [refusal("AccessDenied", 403)];
    await assert.rejects(
      Array.fromAsync(bucket.versions("v1/")),
      /list its versions \(s3:ListBucketVersions\)/,
    );
  });
});

const none = (code: string) => refusal(code, 404);

describe("how a bucket is set up", () => {
  /** In the order in which it is asked for. */
  const GOOD = {
    block:
      "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>",
    status: "<PolicyStatus><IsPublic>false</IsPublic></PolicyStatus>",
    ownership:
      "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>",
    versioning: "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
    encryption:
      "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>",
    policy: "{}",
    lifecycle:
      "<LifecycleConfiguration><Rule><Status>Enabled</Status><Prefix></Prefix><NoncurrentVersionExpiration><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration></Rule></LifecycleConfiguration>",
    cors: "<CORSConfiguration><CORSRule><AllowedOrigin>https://a.example</AllowedOrigin><AllowedOrigin>https://b.example</AllowedOrigin></CORSRule></CORSConfiguration>",
  };
  type Part = keyof typeof GOOD;

  function told(other: Partial<Record<Part, Told>>): void {
    store.answers = Object.entries(GOOD).map(([part, body]) => Object(other)[part] ?? { body });
  }

  const CONFIG = {
    public_access_block: {
      block_public_acls: true,
      ignore_public_acls: true,
      block_public_policy: true,
      restrict_public_buckets: true,
    },
    policy_status: { is_public: false },
    ownership: "BucketOwnerEnforced",
    versioning: "Enabled",
    encryption: { algorithm: "AES256" },
    tls_only: false,
    abort_multipart_days: null,
    noncurrent_days: 9,
    current_expiration_days: null,
    cors_origins: ["https://a.example", "https://b.example"],
  };

  it("is read from its eight places", async () => {
    told({});
    assert.deepEqual(await bucket.readConfig(), CONFIG);
    assert.equal(store.asked.length, 8);
  });

  it("has each of the four settings against strangers by itself", async () => {
    const names = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"];
    for (const [index, name] of names.entries()) {
      told({ block: { body: GOOD.block.replace(`<${name}>true`, `<${name}>false`) } });
      const flags = Object.values((await bucket.readConfig())?.public_access_block ?? {});
      assert.deepEqual(
        flags,
        names.map((_, place) => place !== index),
      );
    }
    told({ status: { body: GOOD.status.replace("false", "true") } });
    assert.deepEqual((await bucket.readConfig())?.policy_status, { is_public: true });
  });

  it("has nothing where nothing is set, in the store's words or by an empty answer", async () => {
    told({
      block: none("NoSuchPublicAccessBlockConfiguration"),
      status: none("NoSuchBucketPolicy"),
      ownership: none("OwnershipControlsNotFoundError"),
      versioning: { body: "<VersioningConfiguration></VersioningConfiguration>" },
      encryption: none("ServerSideEncryptionConfigurationNotFoundError"),
      policy: none("NoSuchBucketPolicy"),
      lifecycle: none("NoSuchLifecycleConfiguration"),
      cors: none("NoSuchCORSConfiguration"),
    });
    const config = await bucket.readConfig();
    assert.deepEqual(
      Object.values(config ?? {}),
      Array.from(Object.keys(CONFIG), () => null),
    );
    told({
      ownership: { body: "<OwnershipControls></OwnershipControls>" },
      encryption: { body: "<ServerSideEncryptionConfiguration></ServerSideEncryptionConfiguration>" },
      cors: { body: "<CORSConfiguration></CORSConfiguration>" },
    });
    const { ownership, encryption, cors_origins } = (await bucket.readConfig()) ?? {};
    assert.deepEqual([ownership, encryption, cors_origins], [null, null, []]);
  });

  it("is not known where the credential may not look, and says at what", async () => {
    const rights = {
      block: "s3:GetBucketPublicAccessBlock",
      status: "s3:GetBucketPolicyStatus",
      ownership: "s3:GetBucketOwnershipControls",
      versioning: "s3:GetBucketVersioning",
      encryption: "s3:GetEncryptionConfiguration",
      policy: "s3:GetBucketPolicy",
      lifecycle: "s3:GetLifecycleConfiguration",
      cors: "s3:GetBucketCORS",
    };
    for (const [part, right] of Object.entries(rights)) {
      told({ [part]: refusal("AccessDenied", 403) });
      await assert.rejects(bucket.readConfig(), (error: unknown) => {
        assert.ok(error instanceof StoreUnavailableError);
        assert.match(
          error.message,
          new RegExp(`tell how the bucket is set up \\(${right}\\): 403 AccessDenied`),
        );
        return true;
      });
      store.reset();
    }
  });
});
