/** What reading a folder's files leaves behind, also where it fails. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { beforeEach, describe, it, type TestContext } from "node:test";
import { newKey } from "../../../test/support/bucket-contract.ts";
import { openFilesBelow } from "../../../test/support/open-files.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { makeDirectoryBucket } from "./directory-bucket.ts";
import { makeLinkSigner } from "./file-links.ts";
import { StoredFiles } from "./stored-files.ts";

const LINUX = { skip: process.platform !== "linux" && "only Linux tells which files are open" };
const KEY = newKey();
const BYTES = Buffer.from("some bytes");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

/** Of all open files, behind so many that go well, until it is undone. */
async function fail(test: TestContext, root: string, method: "read" | "stat", behind = 0) {
  const opened = await open(root);
  const handles = Object.getPrototypeOf(opened);
  await opened.close();
  const own: unknown = Reflect.get(handles, method);
  assert.ok(typeof own === "function");
  let count = 0;
  const failing = test.mock.method(
    handles,
    method,
    async function failing(this: unknown, ...given: unknown[]) {
      if (count++ >= behind) throw new Error("EIO");
      return Reflect.apply(own, this, given);
    },
  );
  return () => failing.mock.restore();
}

describe("a stored file", LINUX, () => {
  let root: string;
  let files: StoredFiles;
  beforeEach(async () => {
    const folder = temporaryPath("stored-files");
    await mkdir(folder);
    root = await realpath(folder);
    files = new StoredFiles(root);
    const upload = { key: KEY, size: BYTES.length, sha256: SHA256, open: () => Readable.from([BYTES]) };
    assert.equal((await files.putFile(upload)).code, "stored");
  });

  it("is closed once its facts are known, from its note and from its bytes", async () => {
    assert.equal((await files.factsOf(KEY))?.sha256, SHA256);
    await rm(join(root, "digests"), { recursive: true });
    assert.equal((await files.factsOf(KEY))?.sha256, SHA256);
    assert.deepEqual(await openFilesBelow(root), []);
  });

  it("that can't be read is closed, and is read again by whoever opens it next", async (test) => {
    const undo = await fail(test, root, "read");
    await assert.rejects(files.openVersion(KEY, SHA256), /EIO/);
    assert.deepEqual(await openFilesBelow(root), []);
    undo();
    const file = await files.openVersion(KEY, SHA256);
    assert.ok(file !== null);
    await file.close();
  });

  it("of which nothing can be told is closed, at whatever step", async (test) => {
    const bucket = makeDirectoryBucket({
      root,
      signer: makeLinkSigner([randomBytes(32)]),
      endpoint: () => assert.fail("no link is made"),
    });
    for (const behind of [0, 1, 2]) {
      const undo = await fail(test, root, "stat", behind);
      await assert.rejects(bucket.get({ key: KEY, versionId: SHA256 }));
      undo();
      assert.deepEqual(await openFilesBelow(root), [], `${behind}`);
    }
    const found = await bucket.get({ key: KEY, versionId: SHA256 });
    assert.ok(found.found);
    assert.deepEqual(await buffer(found.body), BYTES);
  });
});
