import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { makeDirectoryBucket } from "../bytes/directory-bucket.ts";
import { makeLinkSigner } from "../bytes/file-links.ts";
import { ownerKey } from "../bytes/own-keys.ts";
import { readBucket } from "./owner-store.ts";
import {
  checkOwner,
  forgetEarlierBegins,
  judgeOwner,
  markAsNewer,
  readLastBegin,
  renewOwner,
  takeOver,
} from "./ownership.ts";

let database: TestDatabase;
let root: string;
let bucket: Bucket;
let services: { db: TestDatabase["pool"]; bucket: Bucket };

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "postern-test-"));
  await mkdir(join(root, "objects"));
  bucket = makeDirectoryBucket({
    root,
    name: `folder-${randomUUID()}`,
    signer: makeLinkSigner([randomBytes(32)]),
    endpoint: () => ({ scheme: "https", host: "postern.example", path_prefix: "" }),
  });
  services = { db: database.pool, bucket };
});
afterEach(() => rm(root, { recursive: true, force: true }));

function known() {
  return readBucket(database.pool, bucket.name);
}

function folder(): string {
  return join(root, "postern", "owner");
}

function marks(): Promise<string[]> {
  return readdir(folder());
}

async function putMark(generation: number, content: object): Promise<void> {
  await mkdir(folder(), { recursive: true });
  await writeFile(join(root, ownerKey(generation)), JSON.stringify(content));
}

describe("the owner mark of an empty bucket", () => {
  it("is written at the first look, and found at the next", async () => {
    assert.equal(await judgeOwner(services), null);
    assert.equal(await known(), null);
    assert.equal(await checkOwner(services), null);
    const { installationId, ...rest } = (await known()) ?? { installationId: "" };
    assert.deepEqual(rest, { generation: 1, isMarked: true, trouble: null });
    const content: unknown = JSON.parse(await readFile(join(root, ownerKey(1)), "utf8"));
    assert.deepEqual(content, { installation: installationId, generation: 1 });
    assert.equal(await checkOwner(services), null);
    assert.equal(await judgeOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json"]);
  });

  it("is raised by each pass; the oldest stays until one comes to its end, and says when it began", async () => {
    assert.equal(await readLastBegin(services), null);
    assert.equal(await checkOwner(services), null);
    await utimes(join(root, ownerKey(1)), 1, 1);
    for (let pass = 0; pass < 3; pass++) assert.equal(await renewOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json", "000000000004.json"]);
    assert.equal((await known())?.generation, 4);
    assert.equal(await readLastBegin(services), "1970-01-01T00:00:01.000Z");
    await forgetEarlierBegins(services);
    assert.deepEqual(await marks(), ["000000000004.json"]);
    assert.notEqual(await readLastBegin(services), "1970-01-01T00:00:01.000Z");
  });

  it("is written again where it is gone and nothing is known to be there", async () => {
    assert.equal(await checkOwner(services), null);
    await rm(join(root, ownerKey(1)));
    assert.equal(await judgeOwner(services), null);
    assert.equal(await checkOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json"]);
  });
});

describe("a bucket whose mark", () => {
  it("is another installation's is not ours, until it is taken over", async () => {
    const installation = randomUUID();
    await putMark(7, { installation, generation: 7 });
    const trouble = `The bucket ${bucket.name} carries the owner mark of another installation, ${installation}. Comparing, expiry and emptying the trash have stopped. If the bucket is to be this installation's, run \`postern storage own --take-over\``;
    assert.equal(await judgeOwner(services), trouble);
    assert.equal(await checkOwner(services), trouble);
    const marked = await known();
    assert.deepEqual([marked?.isMarked, marked?.trouble], [false, trouble]);
    assert.equal(await judgeOwner(services), trouble);
    assert.equal(await renewOwner(services), trouble);
    assert.deepEqual(await marks(), ["000000000007.json"]);

    assert.equal(await takeOver(services), installation);
    assert.deepEqual(await marks(), ["000000000008.json"]);
    const taken = await known();
    assert.deepEqual([taken?.generation, taken?.isMarked, taken?.trouble], [8, true, null]);
    assert.equal(await checkOwner(services), null);
  });

  it("is ahead of the database shows an older one; one that is not ahead shows nothing", async () => {
    await checkOwner(services);
    const installation = (await known())?.installationId;
    await putMark(2, { installation, generation: 2 });
    const trouble = await checkOwner(services);
    assert.match(
      trouble ?? "",
      new RegExp(
        `^The bucket ${bucket.name} was compared 2 times, .*knows of 1: it was restored from an older`,
      ),
    );
    await database.pool.query("UPDATE postern.storage_buckets SET generation = 2 WHERE bucket = $1", [
      bucket.name,
    ]);
    assert.equal(await checkOwner(services), null);
    assert.equal((await known())?.trouble, null);
  });

  it("was put ahead for an object says which, and what to do", async () => {
    await checkOwner(services);
    const told = await markAsNewer(services, "v1/the/object");
    assert.match(
      told,
      /^The bucket \S+ has the object v1\/the\/object, which was stored since the last pass/,
    );
    assert.match(told, /postern storage adopt/);
    assert.equal(await checkOwner(services), told);
    assert.equal(await judgeOwner(services), told);
    assert.deepEqual(await marks(), ["000000000001.json", "000000000002.json"]);
    // By an object that is found while the mark is ahead already.
    assert.equal(await markAsNewer(services, "v1/another"), told);
  });

  it("is none that Postern writes is not judged at all", async () => {
    const installation = randomUUID();
    for (const content of [
      { installation, generation: 4 },
      { installation: "someone", generation: 3 },
      { installation, generation: 3, more: 1 },
      "text",
    ]) {
      await putMark(3, Object(content));
      await assert.rejects(checkOwner(services), {
        name: "StoreUnavailableError",
        message: `the bucket's owner mark ${ownerKey(3)} is not one that Postern writes`,
      });
    }
    assert.equal((await known())?.trouble, null);
  });
});

describe("a bucket that was never taken over", () => {
  it("is taken over from nobody, and counts on from what the database knows", async () => {
    assert.equal(await takeOver(services), null);
    assert.deepEqual([await marks(), (await known())?.generation], [["000000000002.json"], 2]);
    assert.equal(await takeOver(services), (await known())?.installationId);
    assert.deepEqual([await marks(), (await known())?.generation], [["000000000003.json"], 3]);
  });
});
