/** Texts of JSON numbers, many of which a double does not hold, and what they are exactly. */
import assert from "node:assert/strict";
import * as fc from "fast-check";

const zeros = fc.nat({ max: 30 }).map((count) => "0".repeat(count));
const sign = fc.constantFrom("", "-");
const whole = fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9][0-9]{0,25}$/));
const fraction = fc.oneof(
  fc.constant(""),
  fc.tuple(zeros, fc.stringMatching(/^[0-9]{1,25}$/)).map(([before, digits]) => `.${before}${digits}`),
);
const exponentSize = fc.oneof(fc.nat({ max: 30 }), fc.integer({ min: 280, max: 345 }), fc.nat({ max: 9999 }));
const exponent = fc.oneof(
  fc.constant(""),
  fc
    .tuple(
      fc.constantFrom("e", "E"),
      fc.constantFrom("", "+", "-"),
      fc.constantFrom("", "0", "000"),
      exponentSize,
    )
    .map(([letter, direction, before, size]) => `${letter}${direction}${before}${size}`),
);
/** Those beside the numbers that a double has, as others write them. */
const nearDouble = fc
  .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom("", "0", "1", "e0", "e-310"))
  .map(([double, end]) => {
    const text = String(double);
    return text.includes("e") ? text : `${text}${text.includes(".") || end.startsWith("e") ? end : ""}`;
  });
const nearLimit = fc.constantFrom(
  "9007199254740993",
  "9007199254740993e0",
  "2.2250738585072011e-308",
  "2.2250738585072014e-308",
  "1.7976931348623158e308",
  "1e400",
  "1e-400",
  "0e-400",
  "4e-324",
  "5e-324",
  "2e-324",
  `1${"0".repeat(308)}`,
  `1${"0".repeat(400)}`,
  `0.${"3".repeat(398)}`,
  `0.${"3".repeat(399)}`,
  `1e-${"0".repeat(400)}1`,
);

export const jsonNumber: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(sign, whole, fraction, exponent).map((parts) => parts.join("")) },
  { weight: 2, arbitrary: nearDouble },
  { weight: 1, arbitrary: fc.tuple(sign, nearLimit).map((parts) => parts.join("")) },
);

/** Whether two texts are the same number, by whole numbers of any size alone. */
export function isSameNumber(left: string, right: string): boolean {
  const [one, other] = [exactly(left), exactly(right)];
  const least = one.exponent < other.exponent ? one.exponent : other.exponent;
  return one.whole * 10n ** (one.exponent - least) === other.whole * 10n ** (other.exponent - least);
}

function exactly(text: string): { whole: bigint; exponent: bigint } {
  const found = /^(-?[0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?$/.exec(text);
  assert.ok(found !== null, text);
  const [, whole = "", fraction = "", direction = "", size = "0"] = found;
  const exponent = BigInt(`${direction === "-" ? "-" : ""}${size}`) - BigInt(fraction.length);
  return { whole: BigInt(whole + fraction), exponent };
}
