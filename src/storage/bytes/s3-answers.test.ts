/** The adapter before a store whose answers are told to it: single objects. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { newKey, sha256, signRequest } from "../../../test/support/bucket-contract.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { refusal, startToldStore, type ToldStore } from "../../../test/support/told-store.ts";
import { NOT_UPLOADED, StoreUnavailableError, type Bucket } from "./bucket.ts";
import { makeS3Bucket } from "./s3-bucket.ts";

const MODIFIED = "Sun, 01 Mar 2026 12:34:56 GMT";
const BYTES = Buffer.from("0123456789");
const DIGEST = sha256(BYTES);

let store: ToldStore;
let bucket: Bucket;

before(async () => {
  store = await startToldStore();
  ({ bucket } = store);
});
after(() => store.close());
beforeEach(() => store.reset());

function headOf(key: string, versionId: string | null = "v1") {
  return bucket.head({ bucket: "artifacts", key, version_id: versionId });
}

describe("the facts of an object", () => {
  it("are as the store has them: its version, its digest in hex, its etag without quotes", async () => {
    const key = newKey();
    const headers = {
      "content-length": "10",
      "content-type": "application/json",
      etag: '"e-1"',
      "last-modified": MODIFIED,
      "x-amz-version-id": "v1",
      "x-amz-checksum-sha256": Buffer.from(DIGEST, "hex").toString("base64"),
    };
    store.answers = [{ headers }];
    assert.deepEqual(await headOf(key), {
      found: true,
      size: 10,
      etag: "e-1",
      version_id: "v1",
      sha256: DIGEST,
      content_type: "application/json",
      last_modified: "2026-03-01T12:34:56.000Z",
    });
    assert.deepEqual(store.lines("versionId"), [`HEAD /artifacts/${key} versionId=v1`]);
    assert.equal(store.asked[0]?.headers["x-amz-checksum-mode"], "ENABLED");
  });

  it("have no version where the store keeps none, and no digest where it is one of digests", async () => {
    for (const checksum of ["YWJj-2", `${"A".repeat(44)}=`, `${"-".repeat(43)}=`]) {
      const headers = { "last-modified": MODIFIED, "x-amz-checksum-sha256": checksum };
      store.answers = [{ headers: { ...headers, "x-amz-version-id": "null" } }];
      const head = await headOf(newKey(), null);
      assert.ok(head.found);
      assert.deepEqual([head.version_id, head.sha256, head.etag], [null, null, ""]);
    }
    assert.deepEqual(new Set(store.asked.map(({ line }) => line.includes("versionId"))), new Set([false]));
  });

  it("are not known where the store gives no time", async () => {
    store.answers = [{ headers: { "x-amz-version-id": "v1" } }];
    await assert.rejects(headOf(newKey()), StoreUnavailableError);
  });

  it("are none where the version marks a deletion, or was never uploaded, which nobody is asked", async () => {
    store.answers = [{ status: 405 }];
    assert.deepEqual(await headOf(newKey()), { found: false });
    assert.deepEqual(await headOf(newKey(), NOT_UPLOADED), { found: false });
    assert.equal(store.asked.filter(({ line }) => line.includes("/artifacts/v1/")).length, 1);
  });

  it("are none only where the bucket itself is there", async () => {
    store.answers = [{ status: 404 }, {}];
    assert.deepEqual(await headOf(newKey()), { found: false });
    assert.deepEqual(store.lines().slice(1), ["HEAD /artifacts/"]);
    store.answers = [{ status: 404 }, { status: 404 }];
    await assert.rejects(headOf(newKey()), /reach the bucket artifacts/);
  });

  it("are not known where the credential may not look", async () => {
    store.answers = [{ status: 403 }];
    await assert.rejects(headOf(newKey()), /answer for an object \(s3:GetObjectVersion\)/);
  });

  it("are asked for in this bucket alone, and under a key of the grammar", async () => {
    const of = { key: newKey(), version_id: null };
    await assert.rejects(bucket.head({ ...of, bucket: "another" }), StoreUnavailableError);
    await assert.rejects(bucket.head({ ...of, bucket: "artifacts", key: "x" }), RangeError);
    await assert.rejects(
      bucket.signGet(signRequest({ name: "another" }, of.key, "v1")),
      StoreUnavailableError,
    );
    await assert.rejects(bucket.signGet(signRequest(bucket, "x", "v1")), RangeError);
    await assert.rejects(bucket.get({ key: "x", versionId: "v1" }), RangeError);
    await assert.rejects(bucket.deleteVersion({ key: "x", versionId: "v1" }), RangeError);
    assert.deepEqual(store.asked, []);
  });
});

describe("the bytes of an object", () => {
  const key = newKey();

  it("are those of one version, with its size", async () => {
    store.answers = [{ body: String(BYTES), headers: { "content-length": "10" } }];
    const opened = await bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    assert.deepEqual([opened.size, await buffer(opened.body)], [10, BYTES]);
    assert.deepEqual(store.lines("versionId"), [`GET /artifacts/${key} versionId=v1`]);
    assert.equal(store.asked[0]?.headers.range, undefined);
  });

  it("are a part of them, with the size of the whole", async () => {
    const headers = { "content-length": "3", "content-range": "bytes 2-4/10" };
    store.answers = [{ status: 206, body: "234", headers }];
    const opened = await bucket.get({ key, versionId: "v1", range: { start: 2, end: 4 } });
    assert.ok(opened.found);
    assert.deepEqual([opened.size, await text(opened.body)], [10, "234"]);
    assert.equal(store.asked[0]?.headers.range, "bytes=2-4");
  });

  it("have as long as they need once they come; the answer itself has a quarter of a minute", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    store.answers = [{ body: String(BYTES), headers: { "content-length": "10" }, until }];
    const opened = await bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    test.mock.timers.tick(60_000);
    goOn();
    assert.deepEqual(await buffer(opened.body), BYTES);

    store.answers = [{ silent: true }];
    const silent = bucket.get({ key, versionId: "v1" });
    await once(store.server, "request");
    test.mock.timers.tick(15_000);
    await assert.rejects(silent, /the object store cannot give an object/);
  });

  it("that end too early are the store's fault", async () => {
    store.answers = [{ body: "0123", headers: { "content-length": "10" }, breaks: true }];
    const opened = await bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    await assert.rejects(buffer(opened.body), /the object store cannot give all of an object/);
  });

  it("give their connection back where nobody reads them", { timeout: 10_000 }, async (test) => {
    const fresh = await startToldStore();
    test.after(() => fresh.close());
    const { promise: until, resolve: end } = Promise.withResolvers<void>();
    test.after(() => end());
    fresh.answers = [{ body: String(BYTES), headers: { "content-length": "10" }, until }];
    const opened = await fresh.bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    opened.body.destroy();
    const count = promisify(fresh.server.getConnections.bind(fresh.server));
    await eventually(async () => (await count()) === 0);
  });

  it("are not there where the store says so, and not known where it is another reason", async () => {
    store.answers = [refusal("NoSuchVersion", 404), {}];
    assert.deepEqual(await bucket.get({ key, versionId: "v1" }), { found: false });
    assert.deepEqual(store.lines().slice(1), ["HEAD /artifacts/"]);
    store.answers = [refusal("NoSuchBucket", 404), {}];
    await assert.rejects(bucket.get({ key, versionId: "v1" }), /give an object .*NoSuchBucket/);
    store.answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.get({ key, versionId: "v1" }), /give an object .*AccessDenied/);
  });
});

/** Of an object of ten bytes under this version. */
const there = (version: string, more = {}) => ({
  headers: {
    "content-length": "10",
    "last-modified": MODIFIED,
    "x-amz-version-id": version,
    "x-amz-checksum-sha256": Buffer.from(DIGEST, "hex").toString("base64"),
    ...more,
  },
});

describe("an upload", () => {
  const key = newKey();
  const upload = (open = () => Readable.from([BYTES])) => ({ key, size: 10, sha256: DIGEST, open });

  it("says what comes, that nothing may be there, and gives the store's version and etag", async () => {
    store.answers = [{ headers: { etag: '"e-1"', "x-amz-version-id": "v1" } }];
    assert.deepEqual(await bucket.put(upload()), { code: "stored", versionId: "v1", etag: "e-1" });
    const [{ line, headers, body } = { line: "", headers: {}, body: "" }] = store.asked;
    assert.match(line, /^PUT /);
    assert.equal(body, String(BYTES));
    assert.deepEqual(
      [headers["if-none-match"], headers["content-length"], headers["content-type"]],
      ["*", "10", "application/json"],
    );
    assert.equal(headers["x-amz-checksum-sha256"], Buffer.from(DIGEST, "hex").toString("base64"));
  });

  it("finds the key taken, and reads no further from its source", async () => {
    store.answers = [refusal("PreconditionFailed", 412), there("v1")];
    // All that was promised, and not its end.
    const source = new Readable({ read() {} });
    source.push(BYTES);
    assert.deepEqual(await bucket.put(upload(() => source)), { code: "exists" });
    assert.ok(source.destroyed);
  });

  it("is done again where the same bytes are there without a version, and leaves others alone", async () => {
    store.answers = [
      refusal("PreconditionFailed", 412),
      there("null"),
      { status: 204 },
      { headers: { etag: '"e-1"', "x-amz-version-id": "v1" } },
    ];
    assert.deepEqual(await bucket.put(upload()), { code: "stored", versionId: "v1", etag: "e-1" });
    assert.deepEqual(store.lines("versionId"), [
      `PUT /artifacts/${key}`,
      `HEAD /artifacts/${key}`,
      `DELETE /artifacts/${key} versionId=null`,
      `PUT /artifacts/${key}`,
    ]);
    for (const more of [{ "content-length": "11" }, { "x-amz-checksum-sha256": "YWJj" }]) {
      store.answers = [refusal("PreconditionFailed", 412), there("null", more)];
      assert.deepEqual(await bucket.put(upload()), { code: "exists" });
    }
  });

  it("is refused by a store that keeps no versions, or may not be written to", async () => {
    store.answers = [{ headers: { etag: '"e-1"' } }];
    await assert.rejects(bucket.put(upload()), {
      name: "StoreUnavailableError",
      message: "bucket artifacts keeps no versions: enable them",
    });
    store.answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.put(upload()), /take an object \(s3:PutObject\)/);
  });
});

describe("a deletion", () => {
  it("names the version, and is done where that is gone already", async () => {
    const key = newKey();
    for (const [code, status] of [
      ["NoSuchKey", 404],
      ["NoSuchVersion", 404],
      ["InvalidArgument", 400],
    ] as const) {
      store.answers = [refusal(code, status)];
      await bucket.deleteVersion({ key, versionId: "v1" });
    }
    const line = `DELETE /artifacts/${key} versionId=v1`;
    assert.deepEqual(store.lines("versionId"), [line, line, line]);
  });

  it("is not done where the store refuses", async () => {
    for (const [code, status] of [
      ["AccessDenied", 403],
      ["NoSuchBucket", 404],
    ] as const) {
      store.answers = [refusal(code, status)];
      const deleted = bucket.deleteVersion({ key: newKey(), versionId: "v1" });
      await assert.rejects(deleted, /delete an object \(s3:DeleteObjectVersion\)/);
    }
  });
});

describe("a link", () => {
  it("is for one version, with its date, its seconds and the headers of the answer", async () => {
    const request = signRequest(bucket, newKey(), "v1");
    const { url } = await bucket.signGet({ ...request, issued_at: "2026-03-01T12:34:56.000Z" });
    const { origin, pathname, searchParams } = new URL(url);
    const { scheme, host, path_prefix } = bucket.endpoint();
    assert.deepEqual([origin, path_prefix], [`${scheme}://${host}`, ""]);
    assert.equal(pathname, `/artifacts/${request.key}`);
    const names = ["versionId", "X-Amz-Date", "X-Amz-Expires", "response-content-type"];
    assert.deepEqual(
      [...names, "response-content-disposition"].map((name) => searchParams.get(name)),
      ["v1", "20260301T123456Z", "300", "application/json", request.response_content_disposition],
    );
    assert.equal(await bucket.credentialExpiresAt(), null);
    const tooLong = bucket.signGet({ ...request, expires_in: 604_801 });
    await assert.rejects(
      tooLong,
      /^StoreUnavailableError: the object store cannot be signed for: .*one week/,
    );
  });

  it("leads to AWS where no other store is named, and to that of China there", async () => {
    const hosts = await Promise.all(
      ["eu-central-1", "cn-north-1"].map(async (region) => {
        const aws = await makeS3Bucket({ bucket: "artifacts", region, endpoint: null });
        aws.close();
        return aws.endpoint();
      }),
    );
    assert.deepEqual(hosts, [
      { scheme: "https", host: "s3.eu-central-1.amazonaws.com", path_prefix: "" },
      { scheme: "https", host: "s3.cn-north-1.amazonaws.com.cn", path_prefix: "" },
    ]);
  });
});
