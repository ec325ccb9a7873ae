/** Exports and bodies of attempts in a real object store, whose own links are followed. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { ndjsonRows, seedMany, storageOf, unpack } from "./support/exports.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { prepareVersitygw, startVersitygw, type ObjectStoreProcess } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();

describe("an export to an object store", { skip: unavailable ?? false }, () => {
  let dataDir: string;
  let store: ObjectStoreProcess;
  let service: TestService;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "postern-s3-exports-"));
    store = await startVersitygw();
    const bucket = "exports";
    const client = new S3Client({ region: "us-east-1", endpoint: store.endpoint, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    const VersioningConfiguration = { Status: "Enabled" } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
    client.destroy();
    const url = `s3://${bucket}?endpoint=${store.endpoint}&region=us-east-1&waive=BR-01,BR-05,BR-07,BR-08,BR-09`;
    service = await startTestService({ env: { DATA_DIR: dataDir, OBJECT_STORE_URL: url } });
  });
  after(async () => {
    await service?.stop();
    await store?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it("is tried by the store's own links, and downloaded by one", async () => {
    await seedMany(service.database.pool, "acme", 50);
    const storage = storageOf(service);
    const found = await storage.waitFor(await storage.request());
    const { url } = await storage.link({ id: found.object_id ?? "", delivery_id: found.id });
    assert.ok(url.startsWith(store.endpoint));
    assert.equal(ndjsonRows(await unpack(await storage.download(found))).length, 50);
    const forged = url.replace(/(?<=X-Amz-Signature=[0-9a-f]{63})[0-9a-f]/, (digit) =>
      digit === "0" ? "1" : "0",
    );
    for (const [link, init] of [
      [forged, {}],
      [url.replace("/a/1/", "/a/2/"), {}],
      [url.split("?")[0] ?? "", {}],
      [url, { method: "HEAD" }],
    ] as const) {
      assert.equal((await fetch(link, init)).status, 403, link);
    }
    const range = await fetch(url, { headers: { range: "bytes=0-1" } });
    assert.deepEqual([range.status, await range.text()], [206, "PK"]);
  });
});
