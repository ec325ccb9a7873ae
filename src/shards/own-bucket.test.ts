import assert from "node:assert/strict";
import { it } from "node:test";
import { ownBucket, withOwnBucket } from "./own-bucket.ts";

it("a shard behind the first has a folder and a bucket of its own, and all else of its settings", () => {
  const place = { dataDir: "/data", port: 7 };
  assert.deepEqual(withOwnBucket({ ...place, objectStore: { kind: "directory" } }, "eu2"), {
    port: 7,
    dataDir: "/data/shards/eu2",
    objectStore: { kind: "directory", shard: "eu2" },
  });
  assert.equal(ownBucket("events", "eu2"), "events-eu2");
});
