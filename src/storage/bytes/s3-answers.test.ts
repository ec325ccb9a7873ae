/** The adapter before a store whose answers are told to it: those too that no store at hand gives. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { newKey, sha256, signRequest } from "../../../test/support/bucket-contract.ts";
import { NOT_UPLOADED, StoreUnavailableError, type Bucket } from "./bucket.ts";
import { ownerKey } from "./own-keys.ts";
import { makeS3Bucket } from "./s3-bucket.ts";

type Told = { status?: number; headers?: Record<string, string>; body?: string; breaks?: boolean };

const MODIFIED = "Sun, 01 Mar 2026 12:34:56 GMT";
const BYTES = Buffer.from("0123456789");
const DIGEST = sha256(BYTES);

let server: Server;
let bucket: Bucket;
let answers: Told[] = [];
let asked: { line: string; headers: IncomingMessage["headers"]; body: string }[] = [];

before(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test-access", AWS_SECRET_ACCESS_KEY: "test-secret" });
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const endpoint = `http://127.0.0.1:${address.port}`;
  bucket = await makeS3Bucket({ bucket: "artifacts", region: "us-east-1", endpoint });
});
after(() => {
  bucket.close();
  server.close();
});
beforeEach(() => {
  answers = [];
  asked = [];
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
  const { status = 200, headers = {}, body: told = "", breaks = false } = answers.shift() ?? {};
  response.writeHead(status, { "content-type": "application/xml", ...headers });
  if (breaks) response.write(told, () => response.destroy());
  else response.end(told);
}

/** An answer that is tried once: the adapter tries again only what a store may do better. */
function refusal(code: string, status: number): Told {
  return { status, body: `<Error><Code>${code}</Code><Message>the reason</Message></Error>` };
}

/** Method and path of what was asked, with the parameters that are named. */
function lines(...names: string[]): string[] {
  return asked.map(({ line }) => {
    const [method = "", url = ""] = line.split(" ");
    const { pathname, searchParams } = new URL(url, "http://store");
    const found = names.filter((name) => searchParams.has(name));
    return [`${method} ${pathname}`, ...found.map((name) => `${name}=${searchParams.get(name)}`)].join(" ");
  });
}

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
    answers = [{ headers }];
    assert.deepEqual(await headOf(key), {
      found: true,
      size: 10,
      etag: "e-1",
      version_id: "v1",
      sha256: DIGEST,
      content_type: "application/json",
      last_modified: "2026-03-01T12:34:56.000Z",
    });
    assert.deepEqual(lines("versionId"), [`HEAD /artifacts/${key} versionId=v1`]);
    assert.equal(asked[0]?.headers["x-amz-checksum-mode"], "ENABLED");
  });

  it("have no version where the store keeps none, and no digest where it is one of digests", async () => {
    for (const checksum of ["YWJj-2", `${"A".repeat(44)}=`, `${"-".repeat(43)}=`]) {
      const headers = { "last-modified": MODIFIED, "x-amz-checksum-sha256": checksum };
      answers = [{ headers: { ...headers, "x-amz-version-id": "null" } }];
      const head = await headOf(newKey(), null);
      assert.ok(head.found);
      assert.deepEqual([head.version_id, head.sha256, head.etag], [null, null, ""]);
    }
    assert.deepEqual(new Set(asked.map(({ line }) => line.includes("versionId"))), new Set([false]));
  });

  it("are not known where the store gives no time", async () => {
    answers = [{ headers: { "x-amz-version-id": "v1" } }];
    await assert.rejects(headOf(newKey()), StoreUnavailableError);
  });

  it("are none where the version marks a deletion, or was never uploaded, which nobody is asked", async () => {
    answers = [{ status: 405 }];
    assert.deepEqual(await headOf(newKey()), { found: false });
    assert.deepEqual(await headOf(newKey(), NOT_UPLOADED), { found: false });
    assert.equal(asked.filter(({ line }) => line.includes("/artifacts/v1/")).length, 1);
  });

  it("are none only where the bucket itself is there", async () => {
    answers = [{ status: 404 }, {}];
    assert.deepEqual(await headOf(newKey()), { found: false });
    assert.deepEqual(lines().slice(1), ["HEAD /artifacts/"]);
    answers = [{ status: 404 }, { status: 404 }];
    await assert.rejects(headOf(newKey()), /reach the bucket artifacts/);
  });

  it("are not known where the credential may not look", async () => {
    answers = [{ status: 403 }];
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
    assert.deepEqual(asked, []);
  });
});

describe("the bytes of an object", () => {
  const key = newKey();

  it("are those of one version, with its size", async () => {
    answers = [{ body: String(BYTES), headers: { "content-length": "10" } }];
    const opened = await bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    assert.deepEqual([opened.size, await buffer(opened.body)], [10, BYTES]);
    assert.deepEqual(lines("versionId"), [`GET /artifacts/${key} versionId=v1`]);
    assert.equal(asked[0]?.headers.range, undefined);
  });

  it("are a part of them, with the size of the whole", async () => {
    const headers = { "content-length": "3", "content-range": "bytes 2-4/10" };
    answers = [{ status: 206, body: "234", headers }];
    const opened = await bucket.get({ key, versionId: "v1", range: { start: 2, end: 4 } });
    assert.ok(opened.found);
    assert.deepEqual([opened.size, await text(opened.body)], [10, "234"]);
    assert.equal(asked[0]?.headers.range, "bytes=2-4");
  });

  it("that end too early are the store's fault", async () => {
    answers = [{ body: "0123", headers: { "content-length": "10" }, breaks: true }];
    const opened = await bucket.get({ key, versionId: "v1" });
    assert.ok(opened.found);
    await assert.rejects(buffer(opened.body), /the object store cannot give all of an object/);
  });

  it("are not there where the store says so, and not known where it is another reason", async () => {
    answers = [refusal("NoSuchVersion", 404), {}];
    assert.deepEqual(await bucket.get({ key, versionId: "v1" }), { found: false });
    assert.deepEqual(lines().slice(1), ["HEAD /artifacts/"]);
    answers = [refusal("NoSuchBucket", 404), {}];
    await assert.rejects(bucket.get({ key, versionId: "v1" }), /give an object .*NoSuchBucket/);
    answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.get({ key, versionId: "v1" }), /give an object .*AccessDenied/);
  });
});

describe("an upload", () => {
  const key = newKey();
  const upload = (open = () => Readable.from([BYTES])) => ({ key, size: 10, sha256: DIGEST, open });

  it("says what comes, that nothing may be there, and gives the store's version and etag", async () => {
    answers = [{ headers: { etag: '"e-1"', "x-amz-version-id": "v1" } }];
    assert.deepEqual(await bucket.put(upload()), { code: "stored", versionId: "v1", etag: "e-1" });
    const [{ line, headers, body } = { line: "", headers: {}, body: "" }] = asked;
    assert.match(line, /^PUT /);
    assert.equal(body, String(BYTES));
    assert.deepEqual(
      [headers["if-none-match"], headers["content-length"], headers["content-type"]],
      ["*", "10", "application/json"],
    );
    assert.equal(headers["x-amz-checksum-sha256"], Buffer.from(DIGEST, "hex").toString("base64"));
  });

  it("finds the key taken, and reads no further from its source", async () => {
    answers = [refusal("PreconditionFailed", 412)];
    const source = Readable.from([BYTES]);
    assert.deepEqual(await bucket.put(upload(() => source)), { code: "exists" });
    assert.ok(source.destroyed);
  });

  it("is refused by a store that keeps no versions, or may not be written to", async () => {
    answers = [{ headers: { etag: '"e-1"' } }];
    await assert.rejects(bucket.put(upload()), {
      name: "StoreUnavailableError",
      message: "bucket artifacts keeps no versions: enable them",
    });
    answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.put(upload()), /take an object \(s3:PutObject\)/);
  });
});

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
    answers = [page(object(planted).replace("%20", "+"), true)];
    const listed = await bucket.list({ after: "a", limit: 7 });
    assert.deepEqual(listed, { objects: [{ key: planted, ...facts }], isTruncated: true });
    assert.deepEqual(lines("start-after", "max-keys", "encoding-type", "prefix"), [
      "GET /artifacts/ start-after=a max-keys=7 encoding-type=url",
    ]);
  });

  it("has none of the installation's own, and goes on behind them where a page has no others", async () => {
    answers = [page(object(ownerKey(1)) + object(ownerKey(2)), true), page(object("v1/x"), false)];
    const listed = await bucket.list({ after: null, limit: 2 });
    assert.deepEqual(listed, { objects: [{ key: "v1/x", ...facts }], isTruncated: false });
    assert.deepEqual(lines("start-after"), ["GET /artifacts/", "GET /artifacts/ start-after=postern0"]);

    answers = [page(object(ownerKey(1)) + object("v1/x"), true)];
    assert.deepEqual(
      (await bucket.list({ after: null, limit: 2 })).objects.map(({ key }) => key),
      ["v1/x"],
    );
    answers = [page(object(ownerKey(1)), false)];
    assert.deepEqual(await bucket.list({ after: null, limit: 2 }), { objects: [], isTruncated: false });
  });

  it("has them where their prefix is asked for", async () => {
    answers = [page(object(ownerKey(1)), false)];
    const { objects } = await bucket.list({ after: null, limit: 2, prefix: "postern/owner/" });
    assert.deepEqual(
      objects.map(({ key }) => key),
      [ownerKey(1)],
    );
    assert.deepEqual(lines("prefix"), ["GET /artifacts/ prefix=postern/owner/"]);
  });

  it("tells of no size beyond the largest, and is no list where the store refuses", async () => {
    answers = [page(object("v1/x", 6e9), false)];
    assert.equal((await bucket.list({ after: null, limit: 2 })).objects[0]?.size, 5_368_709_120);
    answers = [refusal("AccessDenied", 403)];
    await assert.rejects(bucket.list({ after: null, limit: 2 }), /list its objects \(s3:ListBucket\)/);
  });
});

describe("the versions of objects", () => {
  it("are all of a prefix, page by page, marks of deletions among them, and artifacts alone", async () => {
    const [first, second] = [newKey(), newKey()];
    const next = `<NextKeyMarker>${encodeURIComponent(first)}</NextKeyMarker><NextVersionIdMarker>a-1</NextVersionIdMarker>`;
    answers = [
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
    assert.deepEqual(lines("prefix", "key-marker", "version-id-marker"), [
      "GET /artifacts/ prefix=v1/t/",
      `GET /artifacts/ prefix=v1/t/ key-marker=${first} version-id-marker=a-1`,
    ]);
  });

  it("are not known where the store refuses", async () => {
    answers = [refusal("AccessDenied", 403)];
    await assert.rejects(
      Array.fromAsync(bucket.versions("v1/")),
      /list its versions \(s3:ListBucketVersions\)/,
    );
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
      answers = [refusal(code, status)];
      await bucket.deleteVersion({ key, versionId: "v1" });
    }
    const line = `DELETE /artifacts/${key} versionId=v1`;
    assert.deepEqual(lines("versionId"), [line, line, line]);
  });

  it("is not done where the store refuses", async () => {
    for (const [code, status] of [
      ["AccessDenied", 403],
      ["NoSuchBucket", 404],
    ] as const) {
      answers = [refusal(code, status)];
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
