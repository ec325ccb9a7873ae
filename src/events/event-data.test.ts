import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isSameNumber, jsonNumber } from "../../test/support/json-numbers.ts";
import { mayAlterNumbers, parseWithDigits } from "../shared/exact-numbers.ts";
import { brokenDataRule, brokenTextRule, MAX_DATA_DEPTH, type DataRule } from "./event-data.ts";

/** The text that is sent of a number in an event's data, or the rule that refuses it. */
function sent(number: string): { rule: DataRule } | { text: string } {
  const text = `{"n":${number}}`;
  const data: unknown = mayAlterNumbers(text) ? parseWithDigits(text) : JSON.parse(text);
  const rule = brokenDataRule(data);
  return rule === null ? { text: JSON.stringify(data).slice(`{"n":`.length, -1) } : { rule };
}

describe("a number in an event's data", () => {
  it("is sent with exactly its value, or refused", () => {
    fc.assert(
      fc.property(jsonNumber, (number) => {
        const result = sent(number);
        if ("text" in result) assert.ok(isSameNumber(result.text, number), `${number}: ${result.text}`);
      }),
      { numRuns: 5000 },
    );
  });

  it("is refused only beyond a double's range, or with more than 400 characters", () => {
    fc.assert(
      fc.property(jsonNumber, (number) => {
        const double = Number(number);
        const isBeyond = !Number.isFinite(double) || (double === 0 && !isSameNumber(number, "0"));
        const result = sent(number);
        if (isBeyond && number.length <= 400) assert.deepEqual(result, { rule: "number_out_of_range" });
        else if (number.length <= 400) assert.ok("text" in result, number);
        else if ("rule" in result) assert.match(result.rule, /^number_(?:too_long|out_of_range)$/);
      }),
      { numRuns: 5000, examples: [[`0.${"7".repeat(398)}`]] },
    );
  });
});

/** Lists within lists, so many of them. */
function nested(depth: number, inmost: unknown = 1): unknown {
  let data = inmost;
  for (let n = 0; n < depth; n++) data = [data];
  return data;
}

describe("an event's data", () => {
  const cases: [string, unknown, DataRule | null][] = [
    ["nothing", null, null],
    ["of each kind", { a: [1, -0.5, "ü🍰", true, null, {}], b: { c: "" } }, null],
    ["NUL", { a: [{ b: "x\u0000" }] }, "nul_character"],
    ["NUL in a name", { a: [{ "b\u0000": 1 }] }, "nul_character"],
    ["half a character", ["x\uD800"], "lone_surrogate"],
    ["half a character in a name", { "\uDC00": 1 }, "lone_surrogate"],
    ["NUL beside half a character", "\uD800\u0000", "nul_character"],
    ["a number beyond a double's range", { a: [Infinity] }, "number_out_of_range"],
    ["no number", [NaN], "number_out_of_range"],
    ["64 levels", nested(MAX_DATA_DEPTH), null],
    ["64 levels around true", nested(MAX_DATA_DEPTH, true), null],
    ["65 levels", nested(MAX_DATA_DEPTH + 1), "too_deep"],
    ["two faults, of which the first counts", ["\u0000", Infinity], "nul_character"],
    ["a fault behind much else", { a: 1, b: [2, { c: 3 }], d: "\u0000" }, "nul_character"],
  ];
  for (const [name, data, rule] of cases) {
    it(`of ${name} ${rule === null ? "is sent" : `breaks the rule ${rule}`}`, () => {
      assert.equal(brokenDataRule(data), rule);
    });
  }
});

it("a text may be any without NUL that is well-formed", () => {
  for (const text of ["", "a", "🍰", "\u0001\uFFFF"]) assert.equal(brokenTextRule(text), null);
  assert.equal(brokenTextRule("\u0000"), "nul_character");
  assert.equal(brokenTextRule("\uD83C"), "lone_surrogate");
});
