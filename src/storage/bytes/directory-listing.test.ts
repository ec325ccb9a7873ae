import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { compareBytes } from "../rules/values.ts";
import { beginWalk, walkKeys } from "./directory-listing.ts";

// "." and "-" are less than "/", which is less than "0" and every letter.
const KEYS = ["a-b", "a.txt", "a/b", "a/b.c/d", "a/b.c/é", "a/b/c", "a0", "b/1", "b/10", "b/2", "ü/x", "z"];

describe("a walk of keys", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "postern-walk-"));
    for (const key of KEYS.filter((key) => key !== "a/b")) {
      await mkdir(dirname(join(root, key)), { recursive: true });
      await writeFile(join(root, key), "");
    }
    await mkdir(join(root, "empty", "folder"), { recursive: true });
  });
  after(() => rm(root, { recursive: true, force: true }));

  const expected = KEYS.filter((key) => key !== "a/b").toSorted(compareBytes);

  for (const namesAtOnce of [1, 2, 1000]) {
    it(`gives keys in the order of their bytes, ${namesAtOnce} names at once`, async () => {
      assert.deepEqual(
        await Array.fromAsync(walkKeys(root, { after: null, prefix: "" }, namesAtOnce)),
        expected,
      );
    });
  }

  it("continues after any key, whether it exists or not", async () => {
    for (const key of [...expected, "a", "a/", "a/b.c", "a/b.c/", "a/b.d", "b/1/", "y", "zz"]) {
      const rest = expected.filter((one) => compareBytes(one, key) > 0);
      assert.deepEqual(await Array.fromAsync(walkKeys(root, { after: key, prefix: "" }, 2)), rest, key);
    }
  });

  it("waits between keys, reports its position, and looks ahead without advancing", async () => {
    const walk = beginWalk(root, { after: "a-b", prefix: "" });
    const given: (string | null)[] = [walk.after];
    while (await walk.hasMore()) {
      assert.ok(await walk.hasMore());
      assert.equal(walk.after, given.at(-1));
      given.push(await walk.next());
      assert.equal(walk.after, given.at(-1));
    }
    assert.deepEqual(given, expected);
    assert.deepEqual([await walk.next(), walk.after], [null, expected.at(-1)]);
  });

  it("finds nothing where there is no folder", async () => {
    assert.deepEqual(await Array.fromAsync(walkKeys(join(root, "absent"), { after: null, prefix: "" })), []);
  });
});
