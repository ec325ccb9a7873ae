/** Shards with an object store: a bucket for each. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { addBucket, startVersionedBucket, type VersionedBucket } from "./support/object-store.ts";
import { runProgram } from "./support/program.ts";
import { requireOwnBuckets } from "./support/shard-exports.ts";
import { prepareShardTests, type ShardTests } from "./support/shard-programs.ts";
import { CREDENTIALS, prepareVersitygw } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();

describe("an object store of two shards", { skip: unavailable ?? false }, () => {
  let t: ShardTests;
  let versioned: VersionedBucket;
  before(async () => {
    t = await prepareShardTests();
    versioned = await startVersionedBucket();
  });
  afterEach(() => t?.end());
  after(async () => {
    await versioned?.stop();
    await t?.close();
  });

  const onStore = () => ({ ...CREDENTIALS, OBJECT_STORE_URL: versioned.url });

  it("has a bucket for each, which no other compares with its rows", async () => {
    const { client, bucket } = versioned;
    await addBucket(client, `${bucket}-eu2`);
    await t.prepare();
    const program = await t.start("up", (env) => ({ ...env, ...onStore() }));
    await requireOwnBuckets(t, program, { eu1: bucket, eu2: `${bucket}-eu2` });
  });

  it("is told of by doctor, with the bucket that a shard lacks", async () => {
    await t.prepare({ names: ["eu1", "us1"] });
    const { output } = await runProgram(["doctor"], { ...t.settings(), ...onStore() });
    assert.match(output, new RegExp(`^ok +object store: bucket ${versioned.bucket} answers`, "m"));
    assert.match(output, new RegExp(`^FAIL +object store: .*${versioned.bucket}-us1`, "mi"));
  });
});
