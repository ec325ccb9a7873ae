import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { parseCsv } from "../../../test/support/exports.ts";
import { csvRecord } from "./csv.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("=", "+", "-", "@", "'", '"', ",", "\r", "\n", "\t", "\0", "a", "😀", "\ud800"),
  }),
);

describe("csvRecord", () => {
  it("gives every text back to a reader of RFC 4180 who takes the apostrophe off", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.option(text), { minLength: 2 }), { minLength: 1 }), (records) => {
        const read = parseCsv(records.map(csvRecord).join(""));
        assert.deepEqual(read, records);
      }),
    );
  });

  it("begins no cell like a formula", () => {
    fc.assert(
      fc.property(text, (value) => {
        const cell = csvRecord([value]).slice(1);
        assert.doesNotMatch(cell, /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/);
      }),
    );
    assert.equal(csvRecord(["=1+1", "'a", "a=b", "", null, 7]), `"'=1+1","''a","a=b","",,7\r\n`);
  });
});
