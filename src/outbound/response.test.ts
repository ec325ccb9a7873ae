import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { bodyText, KEPT_BODY_BYTES, recordedHeaders } from "./response.ts";

describe("the text of a body", () => {
  it("is at most 1,000 whole code points without NUL, however the bytes were cut", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 5_000 }).map((array) => Buffer.from(array)),
      fc.string({ unit: "binary", maxLength: 3_000 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, fc.nat(5_000), (whole, cut) => {
        const kept = whole.subarray(0, KEPT_BODY_BYTES);
        const text = bodyText([kept.subarray(0, cut), kept.subarray(cut)]);
        const all = Array.from(whole.toString("utf8").replaceAll("\0", "\ufffd"));
        equal(text, all.slice(0, 1_000).join(""));
        ok(text.isWellFormed());
      }),
    );
  });
});

describe("recorded headers", () => {
  it("are names with joined values, at most 8 KiB of them", () => {
    const received = {
      a: "1",
      "set-cookie": ["x", "y"],
      gone: undefined,
      big: "b".repeat(8_150),
      late: "l".repeat(99),
    };
    deepEqual(Object.keys(recordedHeaders(received)), ["a", "set-cookie", "big"]);
    equal(recordedHeaders(received)["set-cookie"], "x, y");
    deepEqual(recordedHeaders({ big: "b".repeat(9_000) }), {});
  });

  it("keep a header named __proto__ as a header", () => {
    const recorded = recordedHeaders(JSON.parse('{"__proto__":"a\\u0000"}'));
    deepEqual(Object.entries(recorded), [["__proto__", "a\ufffd"]]);
  });
});
