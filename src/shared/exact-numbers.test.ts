import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { mayAlterNumbers, parseWithDigits } from "./exact-numbers.ts";

const digits = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });

describe("parseWithDigits", () => {
  it("writes out every integer as it was", () => {
    fc.assert(
      fc.property(fc.array(digits), (numbers) => {
        const text = `{"a":[${numbers.join(",")}],"b":{"c":${numbers[0] ?? 0}}}`;
        assert.equal(JSON.stringify(parseWithDigits(text)), text);
        const isLong = numbers.some((number) => !Number.isSafeInteger(Number(number)));
        if (isLong) assert.ok(mayAlterNumbers(text));
      }),
    );
  });

  it("is JSON.parse for everything that a double holds", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        if (!mayAlterNumbers(text)) assert.deepEqual(parseWithDigits(text), JSON.parse(text));
      }),
    );
  });

  it("is needed for each number that a double does not hold, and for no other", () => {
    const kept = [
      "7".repeat(15),
      "7".repeat(16),
      "1795438000123.4568",
      "0.1234567890123456",
      "12.34/567890123456789",
    ];
    const altered = ["7".repeat(17), "0.12345678901234567", "1.0000000000000000", "1".repeat(40)];
    const before = fc.stringMatching(/^[a-z{-]{0,40}$/);
    const earlier = fc.constantFrom("", ...kept);
    fc.assert(
      fc.property(before, earlier, fc.constantFrom(...kept, ...altered), (text, other, number) => {
        const isAltered = altered.includes(number);
        assert.equal(mayAlterNumbers(`${text}${other},${number}}`), isAltered);
        assert.equal(mayAlterNumbers(`${other},${text}${number}`), isAltered);
      }),
    );
  });

  it("is asked for wherever it would alter a number of sixteen digits or more", () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.stringMatching(/^-?[1-9][0-9]{0,25}(\.[0-9]{15,25})?([eE][+-]?[0-9]{1,3})?$/),
      digits.map(String),
    );
    fc.assert(
      fc.property(number, (text) => {
        const isAltered = JSON.stringify(parseWithDigits(text)) !== JSON.stringify(JSON.parse(text));
        if (isAltered && !text.startsWith("-")) assert.ok(mayAlterNumbers(text), text);
        if (isAltered && text.length > 16) assert.ok(mayAlterNumbers(text), text);
      }),
      { numRuns: 1000 },
    );
  });

  it("keeps long decimals, and rounds those with exponents or beyond 400 characters as ever", () => {
    for (const text of ["0.12345678901234567", "-12345678901234567.5"])
      assert.equal(JSON.stringify(parseWithDigits(text)), text);
    for (const text of ["1234567890123456789e-5000000", `0.${"12".repeat(300)}`, "1.5e300"])
      assert.equal(parseWithDigits(text), JSON.parse(text));
  });

  it("gives up on a text that is nested too deep", () => {
    assert.equal(parseWithDigits(`${"[".repeat(400_000)}1${"]".repeat(400_000)}`), null);
  });
});
