/** What stands before every bucket, shown on a folder. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { Histogram } from "@prometheus-io/client";
import { newKey, sha256, signRequest } from "../../../test/support/bucket-contract.ts";
import { openDirectoryBucket, type DirectoryBucket } from "../../../test/support/directory-bucket.ts";
import { confirmingHead, requireBucket, StoreUnavailableError, type Bucket } from "./bucket.ts";
import { measuredBucket } from "./measured-bucket.ts";

let folder: DirectoryBucket;
let bucket: Bucket;
before(async () => {
  folder = await openDirectoryBucket();
  ({ bucket } = folder);
});
after(() => folder.close());

const BYTES = Buffer.from("stored");

function put(key: string, into: Bucket = bucket) {
  const open = () => Readable.from([BYTES]);
  return into.put({ key, size: BYTES.length, sha256: sha256(BYTES), open });
}

function newDuration() {
  const labelNames = ["operation", "outcome"] as const;
  return new Histogram({
    name: "seconds",
    help: "Of an operation.",
    labelNames,
    buckets: [1],
    registers: [],
  });
}

async function seriesOf(
  duration: ReturnType<typeof newDuration>,
  end: "count" | "sum",
): Promise<unknown[][]> {
  const { values } = await duration.get();
  return values
    .filter(({ metricName }) => metricName === `seconds_${end}`)
    .map(({ labels, value }) => Object.values<unknown>(labels).concat(value));
}

describe("a bucket whose operations are measured", () => {
  it("answers as it did, and each operation is counted with its outcome", async () => {
    const duration = newDuration();
    const measured = measuredBucket(bucket, duration);
    const key = newKey();
    const stored = await put(key, measured);
    assert.ok(stored.code === "stored");
    const { versionId } = stored;
    const own = { bucket: measured.name, key, version_id: versionId };
    assert.ok((await measured.head(own)).found);
    assert.deepEqual(
      await measured.list({ after: null, limit: 5 }),
      await bucket.list({ after: null, limit: 5 }),
    );
    const opened = await measured.get({ key, versionId });
    assert.ok(opened.found);
    opened.body.destroy();
    await measured.deleteVersion({ key, versionId });
    assert.deepEqual(await bucket.head(own), { found: false });
    await assert.rejects(measured.head({ ...own, bucket: "another" }), StoreUnavailableError);
    await assert.rejects(measured.head({ ...own, key: "no key" }), RangeError);
    await measured.signGet(signRequest(bucket, key, versionId));

    const counted = await seriesOf(duration, "count");
    assert.deepEqual(counted.map((series) => series.join(" ")).toSorted(), [
      "delete ok 1",
      "get ok 1",
      "head error 1",
      "head ok 1",
      "head unavailable 1",
      "list ok 1",
      "put ok 1",
    ]);
  });

  it("is measured in seconds", async (test) => {
    const duration = newDuration();
    let nowMs = 1000;
    test.mock.method(performance, "now", () => (nowMs += 1500));
    await measuredBucket(bucket, duration).head({ bucket: bucket.name, key: newKey(), version_id: null });
    assert.deepEqual(await seriesOf(duration, "sum"), [["head", "ok", 1.5]]);
  });
});

describe("a head that confirms", () => {
  it("passes on what the store says, and answers that it is unavailable where nothing is known", async () => {
    const key = newKey();
    await put(key);
    const confirming = confirmingHead(bucket);
    const own = { bucket: bucket.name, key, version_id: null };
    assert.deepEqual(await confirming.head(own), await bucket.head(own));
    assert.deepEqual(await confirming.head({ ...own, key: newKey() }), { found: false });
    assert.deepEqual(await confirming.head({ ...own, bucket: "another" }), { error: "unavailable" });
  });

  it("passes on a fault of the caller", async () => {
    const asked = { bucket: bucket.name, key: "no key", version_id: null };
    await assert.rejects(confirmingHead(bucket).head(asked), RangeError);
  });
});

it("a row's object is asked for in the row's bucket alone", () => {
  requireBucket({ name: "artifacts" }, "artifacts");
  assert.throws(() => requireBucket({ name: "artifacts" }, "former"), {
    name: "StoreUnavailableError",
    message: "OBJECT_STORE_URL is artifacts; the object is in former",
  });
});
