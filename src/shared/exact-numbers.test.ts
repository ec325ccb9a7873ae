import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isSameNumber, jsonNumber } from "../../test/support/json-numbers.ts";
import { brokenNumberRule, mayAlterNumbers, parseWithDigits } from "./exact-numbers.ts";

const digits = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });

const ruleOf = (text: string) => brokenNumberRule(JSON.rawJSON(text));

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

  it("is asked for wherever a double is another number", () => {
    fc.assert(
      fc.property(jsonNumber, (number) => {
        const isFinite = Number.isFinite(Number(number));
        if (isFinite && !isSameNumber(number, String(Number(number))))
          assert.ok(mayAlterNumbers(`[${number}]`), number);
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps the text of every number that a double alters, and of no short one beside", () => {
    const altered = [
      "0.12345678901234567",
      "9007199254740993",
      "-12345678901234567.5",
      "9007199254740993e0",
      "0.9007199254740993e16",
      "90071992547409930E-1",
      "9.007199254740993E15",
      "1.234e-322",
      "4e-324",
      "1e-400",
      "1234567890123456789e-5000000",
      `0.${"12".repeat(300)}`,
    ];
    for (const text of altered) {
      assert.equal(JSON.stringify(parseWithDigits(`[${text}]`)), `[${text}]`);
      assert.equal(mayAlterNumbers(`{"a":"b","c": ${text}\n}`), true, text);
    }
    const long = ["0.00000000000000000000125", "100000000000000000000e-20", "1.0000000000000000"];
    for (const text of long) assert.equal(JSON.stringify(parseWithDigits(text)), text);
    const same = ["1.5e300", "9007199254740e2", "1.0", "5e-324", "-0.0", "0e-999", `0.${"0".repeat(500)}e7`];
    for (const text of same) assert.equal(parseWithDigits(text), JSON.parse(text));
  });

  it("is not asked for by what only looks like a small exponent", () => {
    for (const text of ['{"id":"018f3a2e-4123-7e-412-8123"}', '{"a":"1e-999"}', '{"a":1e-99,"b":[2e-10]}'])
      assert.equal(mayAlterNumbers(text), false, text);
  });

  it("knows a number that is too long for a database, and one that is none to a double", () => {
    assert.equal(ruleOf("1".repeat(400)), null);
    assert.equal(ruleOf("1".repeat(401)), "number_too_long");
    assert.equal(ruleOf("1e-400"), "number_out_of_range");
    assert.equal(ruleOf("4e-324"), null);
  });

  it("gives up on a text that is nested too deep", () => {
    assert.equal(parseWithDigits(`${"[".repeat(400_000)}1${"]".repeat(400_000)}`), null);
  });
});
