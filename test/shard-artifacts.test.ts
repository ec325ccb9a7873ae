/** Shards without an object store: a folder of artifacts for each. */
import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { runProgram } from "./support/program.ts";
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

describe("postern storage adopt of a shard", () => {
  it("leaves alone what the command of another shard has under way in the same DATA_DIR", async () => {
    await t.begin();
    const { SHARDS: _, ...settings } = t.settings();
    const folder = join(String(settings["DATA_DIR"]), "adopting");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "archive.zip"), "");
    const env = { ...settings, DATABASE_URL: t.shards().database("eu2").url };
    const { code, output } = await runProgram(["storage", "adopt"], env);
    assert.equal(code, 0, output);
    assert.deepEqual(await readdir(folder), ["archive.zip"]);
  });
});
