/** Exports in a real object store, whose own links are followed. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ndjsonRows, seedMany, storageOf, unpack } from "./support/exports.ts";
import { startOnObjectStore, type OnObjectStore } from "./support/object-store.ts";
import { prepareVersitygw } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();

describe("an export to an object store", { skip: unavailable ?? false }, () => {
  let running: OnObjectStore;
  before(async () => {
    running = await startOnObjectStore();
  });
  after(() => running?.stop());

  it("is tried by the store's own links, and downloaded by one", async () => {
    const { service, store } = running;
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
