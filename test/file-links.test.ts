/** Links to stored files, on the whole program. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { makeLinkSigner } from "../src/storage/bytes/file-links.ts";
import { openBucket, servedEndpoint } from "../src/storage/bytes/open-bucket.ts";
import { newKey, sha256, signRequest } from "./support/bucket-contract.ts";
import { startTestService, type TestService } from "./support/service.ts";

for (const role of ["api", "worker"] as const) {
  describe(`a file's signed link at a process with the role ${role}`, () => {
    let dataDir: string;
    let service: TestService;
    let link: string;
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "postern-files-"));
      const encryptionKey = randomBytes(32);
      service = await startTestService({
        roles: [role],
        env: {
          DATA_DIR: dataDir,
          BASE_PATH: "/base",
          INTEGRATION_ENCRYPTION_KEY: encryptionKey.toString("hex"),
        },
      });
      const { port } = new URL(service.url);
      const address = { publicUrl: undefined, host: "127.0.0.1", port: Number(port), basePath: "/base" };
      const bucket = await openBucket({
        objectStore: { kind: "directory" },
        dataDir,
        signer: makeLinkSigner([encryptionKey]),
        endpoint: () => servedEndpoint(address),
      });
      const [key, bytes] = [newKey(), Buffer.from("stored")];
      const stored = await bucket.put({
        key,
        size: bytes.length,
        sha256: sha256(bytes),
        open: () => Readable.from([bytes]),
      });
      assert.equal(stored.code, "stored");
      ({ url: link } = await bucket.signGet(signRequest(bucket, key, stored.versionId)));
    });
    after(async () => {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    it("needs no session, and is kept by no cache and guessed at by no browser", async () => {
      const response = await fetch(link);
      assert.equal(await response.text(), "stored");
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    });

    it("is refused in JSON, whatever is wrong with it and whatever session stands beside it", async () => {
      const headers = { authorization: `Bearer ${await service.token({ type: "user", tid: "acme" })}` };
      const bad = [
        `${link}0`,
        link.replace("X-Amz-Expires=300", "X-Amz-Expires=400"),
        link.split("?")[0] ?? "",
      ];
      for (const url of [...bad, `${service.url}/api/storage/files/%`]) {
        const response = await fetch(url, { headers });
        assert.equal(response.status, 403, url);
        assert.deepEqual(await response.json(), { error: "Forbidden" });
      }
      const other = await fetch(link, { method: "DELETE" });
      assert.deepEqual([other.status, await other.json()], [403, { error: "Forbidden" }]);
    });

    it("gives a part of the bytes that the client has begun, and all where it has begun others", async () => {
      const etag = (await fetch(link)).headers.get("etag") ?? "";
      for (const [condition, status, text] of [
        [etag, 206, "ored"],
        ['"others"', 200, "stored"],
        // Of bytes that are much alike, and need not be the same.
        [`W/${etag}`, 200, "stored"],
        ["Thu, 26 Nov 2026 12:00:00 GMT", 200, "stored"],
      ] as const) {
        const response = await fetch(link, { headers: { range: "bytes=2-", "if-range": condition } });
        assert.deepEqual([response.status, await response.text()], [status, text], condition);
      }
    });

    it("is counted in the metrics of storage", async () => {
      const { text } = await service.call("GET", "/metrics", { as: null });
      assert.match(text, /storage_operation_duration_seconds_count\{operation="get",outcome="ok"\} [1-9]/);
    });
  });
}
