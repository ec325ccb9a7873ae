import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { makeSecretBox, SecretBoxError, type SecretOwner } from "./secret-box.ts";

const KEY = randomBytes(32);
const OWNER: SecretOwner = ["signing-secret", "acme", "e1"];
const keyName = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 8);
const owners = fc.tuple(fc.string(), fc.string(), fc.string());
const texts = fc.string({ unit: "binary" });

describe("a secret box", () => {
  const box = makeSecretBox([KEY]);

  it("opens to what was sealed, for every text and owner", () => {
    fc.assert(
      fc.property(texts, owners, (text, owner) => {
        assert.equal(box.open(box.seal(text, owner), owner), text);
      }),
    );
  });

  it("opens for no other owner, not even one that joins to the same text", () => {
    fc.assert(
      fc.property(texts, owners, owners, (text, owner, other) => {
        fc.pre(JSON.stringify(owner) !== JSON.stringify(other));
        assert.throws(() => box.open(box.seal(text, owner), other), SecretBoxError);
      }),
    );
    const sealed = box.seal("x", ["p", "a", "b,c"]);
    for (const other of [["a,b", "c"], ["a", "b", "c"], ["a,b,c"], ["a", "b,1:c"], ["ab", ",c"]]) {
      assert.throws(() => box.open(sealed, ["p", ...other]), SecretBoxError);
    }
  });

  it("does not open when any one bit is changed, and the fault does not tell the content", () => {
    const sealed = box.seal("the content", OWNER);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(
        () => box.open(altered, OWNER),
        (error) => error instanceof SecretBoxError && !error.message.includes("the content"),
      );
    }
  });

  it("does not open when it is cut short or longer", () => {
    const sealed = box.seal("content", OWNER);
    for (let length = 0; length < sealed.length; length++) {
      assert.throws(() => box.open(sealed.subarray(0, length), OWNER), SecretBoxError);
    }
    assert.throws(() => box.open(Buffer.concat([sealed, Buffer.of(0)]), OWNER), SecretBoxError);
  });

  it("seals the same text anew each time, and has none of it in the clear", () => {
    const boxes = Array.from({ length: 200 }, () => box.seal("whsec_in_the_clear", OWNER));
    assert.equal(new Set(boxes.map((sealed) => sealed.toString("hex"))).size, 200);
    assert.equal(new Set(boxes.map((sealed) => sealed.subarray(5, 17).toString("hex"))).size, 200);
    assert.ok(boxes.every((sealed) => !sealed.includes("whsec_")));
  });

  it("still opens in the form in which boxes are stored", () => {
    const sealed = Buffer.from(
      "AUuwb44WsJFHOQoQ8zZ7ml7CjIG1MJesVUjJfzMSmt1skY0f06IWpfH7JGf71dATxQ==",
      "base64",
    );
    assert.equal(makeSecretBox([Buffer.alloc(32, 7)]).open(sealed, OWNER), "whsec_süß 🍰");
  });

  it("names the version and the key in its first bytes", () => {
    const sealed = box.seal("x", OWNER);
    assert.equal(sealed[0], 1);
    assert.equal(sealed.subarray(1, 5).toString("hex"), keyName(KEY));
    assert.equal(sealed.length, 1 + 4 + 12 + 1 + 16);
  });
});

describe("a key ring", () => {
  const old = randomBytes(32);

  it("opens with any of its keys and seals with the first", () => {
    const sealedOld = makeSecretBox([old]).seal("x", OWNER);
    const ring = makeSecretBox([KEY, old]);
    assert.equal(ring.open(sealedOld, OWNER), "x");
    assert.equal(makeSecretBox([KEY]).open(ring.seal("y", OWNER), OWNER), "y");
  });

  it("names the key and the owner that it cannot open", () => {
    const sealed = makeSecretBox([old]).seal("x", OWNER);
    assert.throws(() => makeSecretBox([KEY]).open(sealed, OWNER), {
      name: "SecretBoxError",
      message: `signing-secret/acme/e1: encrypted with key ${keyName(old)}, which INTEGRATION_ENCRYPTION_KEY does not hold: add it behind a comma`,
    });
  });

  it("reports the reason for each box that it cannot open", () => {
    const told: string[] = [];
    const ring = makeSecretBox([KEY], (reason) => void told.push(reason));
    const [good, foreign] = [ring.seal("x", OWNER), makeSecretBox([old]).seal("x", OWNER)];
    assert.throws(() => ring.open(Buffer.of(1), OWNER), /e1: not an encrypted secret of a known form/);
    assert.throws(() => ring.open(foreign, OWNER), /which INTEGRATION_ENCRYPTION_KEY does not hold/);
    assert.throws(() => ring.open(good, ["other"]), /other: the stored secret was altered or belongs to/);
    assert.deepEqual(told, ["form", "key", "altered"]);
  });

  it("names its keys in their order, and holds no other", () => {
    const ring = makeSecretBox([KEY, old]);
    assert.deepEqual(ring.keyIds, [keyName(KEY), keyName(old)]);
    assert.deepEqual(
      [KEY, old, randomBytes(32)].map((key) => ring.holds(keyName(key))),
      [true, true, false],
    );
  });

  it("has at least one key", () => {
    assert.throws(() => makeSecretBox([]), /at least one key/);
  });
});
