import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isSameNumber, jsonNumber } from "../../test/support/json-numbers.ts";
import { mayAlterNumbers, parseWithDigits } from "../shared/exact-numbers.ts";
import { brokenDataRule, type DataRule } from "./event-data.ts";

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
      { numRuns: 5000 },
    );
  });
});
