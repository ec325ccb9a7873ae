/** What every bucket must do, whatever is behind it; run by the tests of each adapter. */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { NOT_UPLOADED, type Bucket, type Upload } from "../../src/storage/bytes/bucket.ts";
import { buildObjectKey, type ArtifactKind } from "../../src/storage/rules/object-key.ts";
import { isTrustedSignedUrl } from "../../src/storage/rules/signed-url.ts";
import { etag, versionId } from "../../src/storage/rules/values.ts";
import type { SignGetRequest } from "../../src/storage/rules/ports.ts";

export type BucketSubject = { bucket: Bucket; close(): Promise<void> };

/** Registers the contract's tests. `open` gives an empty bucket whose links can be followed. */
export function describeBucketContract(name: string, open: () => Promise<BucketSubject>): void {
  describe(name, () => {
    let subject: BucketSubject;
    let bucket: Bucket;
    before(async () => {
      subject = await open();
      ({ bucket } = subject);
    });
    after(() => subject.close());

    it("gives back what was put, by version and as the current one", async () => {
      const bytes = randomBytes(300_000);
      const key = newKey();
      const stored = await put(key, bytes);
      assert.ok(versionId.safeParse(stored.versionId).success && etag.safeParse(stored.etag).success);
      const byVersion = await bucket.head({ bucket: bucket.name, key, version_id: stored.versionId });
      assert.ok(byVersion.found);
      const { last_modified: _, ...facts } = byVersion;
      assert.deepEqual(facts, {
        found: true,
        size: bytes.length,
        etag: stored.etag,
        version_id: stored.versionId,
        sha256: sha256(bytes),
        content_type: "application/json",
      });
      assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: null }), byVersion);
      assert.deepEqual(await read(key, stored.versionId), bytes);
    });

    it("gives a range of the bytes with the size of all of them", async () => {
      const key = newKey("export");
      const { versionId } = await put(key, Buffer.from("0123456789"));
      const opened = await bucket.get({ key, versionId, range: { start: 2, end: 4 } });
      assert.ok(opened.found);
      assert.equal(opened.size, 10);
      assert.equal(String(await buffer(opened.body)), "234");
    });

    it("holds an empty object", async () => {
      const key = newKey("response_body");
      const { versionId } = await put(key, Buffer.alloc(0));
      assert.equal((await read(key, versionId)).length, 0);
    });

    it("keeps the first of two uploads of a key", async () => {
      const key = newKey();
      const { versionId } = await put(key, Buffer.from("first"));
      assert.deepEqual(await bucket.put(upload(key, Buffer.from("second"))), { code: "exists" });
      assert.equal(String(await read(key, versionId)), "first");
    });

    it("lets exactly one of many uploads at once win, and holds that one's bytes", async () => {
      const key = newKey();
      const texts = ["one", "two", "three", "four"];
      const answers = await Promise.allSettled(
        texts.map((text) => bucket.put(upload(key, Buffer.from(text)))),
      );
      const stored = answers.flatMap((answer, index) =>
        answer.status === "fulfilled" && answer.value.code === "stored"
          ? [{ versionId: answer.value.versionId, text: texts[index] }]
          : [],
      );
      assert.equal(stored.length, 1);
      assert.equal(String(await read(key, stored[0]?.versionId ?? "")), stored[0]?.text);
    });

    it("refuses bytes that are not of the digest told, and keeps none of them", async () => {
      const key = newKey();
      await assert.rejects(bucket.put({ ...upload(key, Buffer.from("told")), ...bodyOf("sent") }));
      assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: null }), { found: false });
    });

    it("refuses an upload whose source breaks, and keeps none of it", async () => {
      const key = newKey();
      await assert.rejects(bucket.put({ ...upload(key, Buffer.from("half")), open: breakingSource }));
      assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: null }), { found: false });
    });

    it("finds neither another version nor one that was never uploaded", async () => {
      const key = newKey();
      await put(key, Buffer.from("x"));
      const { versionId: other } = await put(newKey(), Buffer.from("y"));
      for (const version_id of [other, NOT_UPLOADED]) {
        assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id }), { found: false });
      }
      assert.deepEqual(await bucket.get({ key: newKey(), versionId: other }), { found: false });
    });

    it("deletes one version and nothing else, and does not mind doing so again", async () => {
      const [key, neighbour] = [newKey(), newKey()];
      const { versionId } = await put(key, Buffer.from("gone"));
      const { versionId: kept } = await put(neighbour, Buffer.from("kept"));
      await bucket.deleteVersion({ key, versionId: kept });
      assert.equal(String(await read(key, versionId)), "gone");
      await bucket.deleteVersion({ key, versionId });
      await bucket.deleteVersion({ key, versionId });
      assert.deepEqual(await bucket.head({ bucket: bucket.name, key, version_id: null }), { found: false });
      assert.equal(String(await read(neighbour, kept)), "kept");
      await put(key, Buffer.from("again"));
    });

    it("lists in pages by key bytes, each object once, as head sees it", async () => {
      const keys = (await Promise.all([1, 2, 3].map(async () => putKey(newKey())))).concat(
        await putKey(newKey("export")),
      );
      const listed = [];
      let after: string | null = null;
      for (;;) {
        const page = await bucket.list({ after, limit: 2 });
        listed.push(...page.objects);
        assert.ok(page.objects.length <= 2);
        if (!page.isTruncated) break;
        after = page.objects.at(-1)?.key ?? null;
      }
      const order = listed.map(({ key }) => key);
      assert.deepEqual(order, order.toSorted());
      assert.equal(new Set(order).size, order.length);
      assert.deepEqual(
        keys.filter((key) => !order.includes(key)),
        [],
      );
      for (const { key, ...facts } of listed) {
        const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
        assert.ok(head.found);
        const { size, etag, last_modified } = head;
        assert.deepEqual({ size, etag }, { size: facts.size, etag: facts.etag });
        // Stores tell the time of a head in whole seconds.
        assert.equal(last_modified.slice(0, 19), facts.last_modified.slice(0, 19));
      }
    });

    it("refuses a key that is not of the grammar before it touches anything", async () => {
      for (const key of ["v1/t/../../../etc/passwd", "/etc/passwd", "", newKey().toUpperCase(), "a\0b"]) {
        await assert.rejects(bucket.put(upload(key, Buffer.from("x"))), RangeError);
        await assert.rejects(bucket.head({ bucket: bucket.name, key, version_id: null }), RangeError);
        await assert.rejects(bucket.get({ key, versionId: "v" }), RangeError);
        await assert.rejects(bucket.deleteVersion({ key, versionId: "v" }), RangeError);
      }
    });

    it("does not answer for another bucket", async () => {
      const request = { bucket: "another", key: newKey(), version_id: null };
      await assert.rejects(bucket.head(request), { name: "StoreUnavailableError" });
    });

    describe("its signed link", () => {
      const bytes = Buffer.from('{"letters":"abcdefghij"}');
      let key: string;
      let otherKey: string;
      let request: SignGetRequest;
      let url: string;
      before(async () => {
        key = newKey();
        const { versionId } = await put(key, bytes);
        otherKey = newKey();
        await put(otherKey, bytes);
        request = signRequest(bucket, key, versionId);
        ({ url } = await bucket.signGet(request));
      });
      it("is the one that was asked for, by the rule that distrusts it", () => {
        assert.ok(isTrustedSignedUrl(url, bucket.endpoint(), request), url);
      });

      it("is signed by a credential that does not end", async () => {
        assert.equal(await bucket.credentialExpiresAt(), null);
      });

      it("gives the bytes as an attachment", async () => {
        const response = await fetch(url);
        assert.equal(response.status, 200);
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
        assert.equal(response.headers.get("content-type"), "application/json");
        assert.equal(response.headers.get("content-disposition"), request.response_content_disposition);
      });

      it("gives a range", async () => {
        const response = await fetch(url, { headers: { Range: "bytes=2-8" } });
        assert.equal(response.status, 206);
        assert.equal(await response.text(), bytes.toString().slice(2, 9));
        assert.equal(response.headers.get("content-range"), `bytes 2-8/${bytes.length}`);
        assert.equal(await statusOf(url, { headers: { Range: "bytes=999-" } }), 416);
      });

      it("is good for GET alone", async () => {
        for (const method of ["HEAD", "DELETE", "PUT"]) {
          assert.equal(
            await statusOf(url, { method, ...(method === "PUT" ? { body: "x" } : {}) }),
            403,
            method,
          );
        }
        // Some stores have no POST at such a place at all.
        assert.ok([403, 405].includes(await statusOf(url, { method: "POST" })));
      });

      it("is no good for another key, unsigned, tampered with or longer than it was signed for", async () => {
        const changed = {
          "another key": url.replace(key, otherKey),
          unsigned: url.slice(0, url.indexOf("?")),
          "its signature": url.replace(
            /X-Amz-Signature=(.)/,
            (_, digit) => `X-Amz-Signature=${digit === "0" ? "1" : "0"}`,
          ),
          "its life": url.replace("X-Amz-Expires=300", "X-Amz-Expires=301"),
          "its name": url.replace("request_body-", "request_body_"),
        };
        for (const [what, link] of Object.entries(changed)) {
          assert.notEqual(link, url, what);
          assert.equal(await statusOf(link), 403, what);
        }
      });

      it("ends with its time", async () => {
        const issued_at = wholeSecond(Date.now() - 10_000);
        const { url: past } = await bucket.signGet({ ...request, issued_at, expires_in: 9 });
        assert.equal(await statusOf(past), 403);
      });
    });

    async function put(key: string, bytes: Buffer) {
      const answer = await bucket.put(upload(key, bytes));
      assert.equal(answer.code, "stored");
      return answer;
    }

    async function putKey(key: string): Promise<string> {
      await put(key, Buffer.from(key));
      return key;
    }

    async function read(key: string, versionId: string): Promise<Buffer> {
      const opened = await bucket.get({ key, versionId });
      assert.ok(opened.found);
      return buffer(opened.body);
    }
  });
}

function upload(key: string, bytes: Buffer): Upload {
  return { key, size: bytes.length, sha256: sha256(bytes), ...bodyOf(bytes) };
}

async function statusOf(link: string, init?: RequestInit): Promise<number> {
  const response = await fetch(link, init);
  await response.arrayBuffer();
  return response.status;
}

function breakingSource(): Readable {
  return new Readable({
    read() {
      this.push("ha");
      this.destroy(new Error("the source broke"));
    },
  });
}

/** A key of a tenant and delivery that nobody else has. */
export function newKey(kind: ArtifactKind = "request_body"): string {
  return buildObjectKey({ tenant_id: randomUUID(), delivery_id: randomUUID(), attempt: 1, kind });
}

/** What is asked of a signer for a link of five minutes. */
export function signRequest(bucket: Pick<Bucket, "name">, key: string, versionId: string): SignGetRequest {
  return {
    bucket: bucket.name,
    key,
    version_id: versionId,
    issued_at: wholeSecond(Date.now()),
    expires_in: 300,
    response_content_type: "application/json",
    response_content_disposition: 'attachment; filename="request_body-0123456789ab-1.json"',
  };
}

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function bodyOf(bytes: Buffer | string): Pick<Upload, "open"> {
  return { open: () => Readable.from([Buffer.from(bytes)]) };
}

function wholeSecond(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString();
}
