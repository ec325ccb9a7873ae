import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { artifactKind, buildObjectKey, parseObjectKey, type KeyParts } from "./object-key.ts";
import { validateObjectKey } from "./validate-object-key.ts";
import { compareBytes } from "./values.ts";

const hex = (length: number) =>
  fc.array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: length, maxLength: length });
const uuid = hex(24).map((digits) => {
  const text = digits.join("");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(12, 15)}-8${text.slice(15, 18)}-${text.slice(0, 12)}`;
});
const parts: fc.Arbitrary<KeyParts> = fc.record(
  {
    tenant_id: uuid,
    delivery_id: uuid,
    attempt: fc.integer({ min: 1, max: 999 }),
    kind: fc.constantFrom(...artifactKind.options),
  },
  { noNullPrototype: true },
);
/** A key of the grammar with one piece replaced: near enough to be mistaken for one. */
const nearKey = fc
  .tuple(parts, fc.nat(110), fc.nat(3), fc.constantFrom("", "/", ".", "..", "A", "0", "%2e", "\n", "é", "\\"))
  .map(([one, at, length, piece]) => {
    const key = buildObjectKey(one);
    return key.slice(0, at) + piece + key.slice(at + length);
  });

describe("object keys", () => {
  it("give back the parts they were built of, within 104 bytes", () => {
    fc.assert(
      fc.property(parts, (one) => {
        const key = buildObjectKey(one);
        assert.ok(Buffer.byteLength(key) <= 104);
        assert.deepEqual(parseObjectKey(key), { code: "OK", parts: one });
      }),
    );
  });

  it("have one spelling: what parses is what building its parts gives", () => {
    fc.assert(
      fc.property(fc.oneof(nearKey, fc.string({ unit: "binary" })), (key) => {
        const parsed = parseObjectKey(key);
        if (parsed.code === "OK") assert.equal(buildObjectKey(parsed.parts), key);
      }),
    );
  });

  it("are never another's path prefix", () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        assert.ok(!buildObjectKey(left).startsWith(`${buildObjectKey(right)}/`));
      }),
    );
  });

  it("are OK only to the tenant they name", () => {
    fc.assert(
      fc.property(parts, uuid, (one, tenant_id) => {
        const { output } = validateObjectKey({ mode: "parse", tenant_id, keys: [buildObjectKey(one)] });
        assert.ok("results" in output);
        assert.equal(output.results[0]?.code, one.tenant_id === tenant_id ? "OK" : "WRONG_OWNER");
      }),
    );
  });
});

describe("compareBytes", () => {
  it("orders beyond the basic plane as UTF-8 does, unlike the default order of strings", () => {
    const keys = ["\uff5e", "\u{10437}"];
    assert.deepEqual(keys.toSorted(), keys.toReversed());
    assert.deepEqual(keys.toSorted(compareBytes), keys);
  });
});
