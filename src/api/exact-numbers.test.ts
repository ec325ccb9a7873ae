import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { mayHoldLongNumbers, parseWithDigits } from "./exact-numbers.ts";

const digits = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });

describe("parseWithDigits", () => {
  it("writes out every integer as it was", () => {
    fc.assert(
      fc.property(fc.array(digits), (numbers) => {
        const text = `{"a":[${numbers.join(",")}],"b":{"c":${numbers[0] ?? 0}}}`;
        assert.equal(JSON.stringify(parseWithDigits(text)), text);
        const isLong = numbers.some((number) => !Number.isSafeInteger(Number(number)));
        if (isLong) assert.ok(mayHoldLongNumbers(text));
      }),
    );
  });

  it("is JSON.parse for everything that a double holds", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        if (!mayHoldLongNumbers(text)) assert.deepEqual(parseWithDigits(text), JSON.parse(text));
      }),
    );
  });

  it("is asked for wherever a run of sixteen stands, and not for fifteen", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z{]{0,40}$/), fc.constantFrom(15, 16, 17, 40), (before, count) => {
        assert.equal(mayHoldLongNumbers(`${before}${"7".repeat(count)}}`), count > 15);
        assert.equal(mayHoldLongNumbers(before + "7".repeat(count)), count > 15);
      }),
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
