import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contentTypeOf, isOwnKey, ownerGeneration, ownerKey, parseTrashKey, trashKey } from "./own-keys.ts";

const KEY =
  "v1/t/0a1b2c3d-0000-4000-8000-00000000000a/d/0a1b2c3d-0000-7000-8000-00000000000d/a/1/response_body.txt";
const AT = "2026-03-01T12:34:56.789Z";

describe("the key of an owner mark", () => {
  it("sorts by its generation, and gives it back", () => {
    assert.equal(ownerKey(7), "postern/owner/000000000007.json");
    assert.ok(ownerKey(9) < ownerKey(10));
    assert.equal(ownerGeneration(ownerKey(120)), 120);
  });

  for (const other of [
    "postern/owner/7.json",
    "postern/owner/0000000000007.json",
    "postern/owner/000000000007.txt",
    "postern/owner/000000000007.json.json",
    "postern/owner/000000000007xjson",
    "a/postern/owner/000000000007.json",
    "postern/owner/00000000000a.json",
    KEY,
  ]) {
    it(`is not ${other}`, () => assert.equal(ownerGeneration(other), null));
  }
});

describe("a key in the trash", () => {
  it("gives back the key that the object had, and when it went there", () => {
    assert.equal(trashKey(KEY, AT), `postern/trash/${KEY}/20260301T123456.789Z`);
    assert.deepEqual(parseTrashKey(trashKey(KEY, AT)), { key: KEY, at: AT });
  });

  for (const other of [
    KEY,
    `postern/trash/${KEY}`,
    `postern/trash/${KEY}/20260301T123456.789Z/more`,
    `postern/trash/${KEY}/2026-03-01T12:34:56.789`,
    `postern/trash/${KEY}/20260231T123456.789Z`,
    `postern/trash/${KEY}/20260301T123456Z`,
    `postern/trash/${KEY}/x20260301T123456.789Z`,
    `postern/trash/${KEY}/20260301T123456.789Zx`,
    "postern/trash/v1/other/20260301T123456.789Z",
    `a/postern/trash/${KEY}/20260301T123456.789Z`,
    `postern/trash/a/${KEY}/20260301T123456.789Z`,
  ]) {
    it(`is not ${other.replaceAll(KEY, "…")}`, () => assert.equal(parseTrashKey(other), null));
  }
});

it("of the installation's own are marks and trash alone", () => {
  const keys = [ownerKey(1), trashKey(KEY, AT), KEY, "postern/other"];
  assert.deepEqual(keys.map(isOwnKey), [true, true, false, false]);
});

describe("an object's content type", () => {
  it("is that of its artifact, in the trash too, and JSON for a mark", () => {
    const types = [ownerKey(1), KEY, trashKey(KEY, AT)].map(contentTypeOf);
    assert.deepEqual(types, ["application/json", "text/plain", "text/plain"]);
  });

  it("is nobody's to ask for where the key is of no grammar", () => {
    assert.throws(() => contentTypeOf("postern/other"), RangeError);
  });
});
