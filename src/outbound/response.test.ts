import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { bodyText, isSuccess, KEPT_BODY_BYTES, longBodyOf, recordedHeaders } from "./response.ts";

describe("a status", () => {
  it("is a success from 200 to 299", () => {
    deepEqual([199, 200, 299, 300].map(isSuccess), [false, true, true, false]);
  });
});

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

describe("the text of a body, behind its last whole code point", () => {
  // U+FFFF is the last one of a single unit, U+10000 the first one of two.
  for (const last of ["\uffff", "\u{10000}"]) {
    it(`has none of what comes after U+${last.codePointAt(0)?.toString(16).toUpperCase()}`, () => {
      const kept = "a".repeat(999) + last;
      equal(bodyText([Buffer.from(`${kept}b`)]), kept);
    });
  }
});

describe("a body that is kept whole", () => {
  const wholeBody = Buffer.from("ü and more");

  it("is one that is longer than its stored part", () => {
    equal(longBodyOf({ kind: "answered", body: "ü and", wholeBody }), wholeBody);
    equal(longBodyOf({ kind: "answered", wholeBody: Buffer.from("a") })?.toString(), "a");
  });

  it("is none that is stored as it came, and none that was not asked for", () => {
    equal(longBodyOf({ kind: "answered", body: "ü and more", wholeBody }), null);
    equal(longBodyOf({ kind: "answered", wholeBody: Buffer.alloc(0) }), null);
    equal(longBodyOf({ kind: "answered", body: "" }), null);
  });
});

describe("recorded headers", () => {
  it("are kept where they fill 8 KiB to the byte", () => {
    deepEqual(Object.keys(recordedHeaders({ a: "b".repeat(8191) })), ["a"]);
    deepEqual(recordedHeaders({ a: "b".repeat(8192) }), {});
    // As they are stored: a letter of Latin-1 takes two bytes.
    deepEqual(recordedHeaders({ a: "ä".repeat(4096) }), {});
  });

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
