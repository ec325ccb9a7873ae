import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRange } from "./range.ts";

describe("readRange", () => {
  const cases: [header: string | undefined, meaning: ReturnType<typeof readRange>][] = [
    [undefined, null],
    ["bytes=0-0", { start: 0, end: 0 }],
    ["bytes=2-", { start: 2, end: 9 }],
    ["bytes=2-99", { start: 2, end: 9 }],
    ["bytes=-3", { start: 7, end: 9 }],
    ["bytes=-99", { start: 0, end: 9 }],
    ["bytes=10-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    // What is no single range is ignored.
    ["bytes=5-2", null],
    ["bytes=-", null],
    ["bytes=0-1,4-5", null],
    ["lines=0-1", null],
    ["kilobytes=0-1", null],
    ["bytes=0-1 ", null],
    ["bytes=1234567890123456-", null],
    ["bytes=a-b", null],
  ];
  for (const [header, meaning] of cases) {
    it(`reads ${header ?? "no header"} of 10 bytes`, () => {
      assert.deepEqual(readRange(header, 10), meaning);
    });
  }

  it("finds no range in an empty file", () => {
    assert.equal(readRange("bytes=0-", 0), "unsatisfiable");
  });
});
