/** Shards without an object store: a folder of artifacts for each. */
import { after, afterEach, before, describe, it } from "node:test";
import { requireOwnBuckets } from "./support/shard-exports.ts";
import { prepareShardTests, type ShardTests } from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

describe("exports of tenants in two shards", () => {
  it("are in the folders of their shards, which no other compares with its rows", async () => {
    await requireOwnBuckets(t, await t.begin(), { eu1: "artifacts", eu2: "artifacts-eu2" });
  });
});
