import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  isEventTypeName,
  isPattern,
  parseVersionedType,
  patternsMatching,
  typesWithTwoVersions,
  versionFor,
} from "./subscription.ts";

const isSubscribed = (subscription: string[], type: string): boolean =>
  versionFor(subscription, { type, newest: 1, versions: [1] }) === 1;

const segments = fc.array(fc.stringMatching(/^[a-zA-Z0-9_]{1,4}$/), { minLength: 1, maxLength: 5 });

describe("a subscription", () => {
  const cases: [string[], string, boolean][] = [
    [["*"], "a", true],
    [["*"], "a.b.c", true],
    [["a"], "a", true],
    [["a"], "a.b", false],
    [["a.*"], "a", false],
    [["a.*"], "a.b", true],
    [["a.*"], "a.b.c", true],
    [["a.*"], "ab.c", false],
    [["a.b.*"], "a.b", false],
    [["a.b.*"], "a.bc.d", false],
    [["A.*"], "a.b", false],
    [["x", "a.b"], "a.b", true],
    [[], "a", false],
  ];
  for (const [subscription, type, expected] of cases) {
    it(`${expected ? "covers" : "does not cover"} ${type} with [${subscription.join(", ")}]`, () => {
      assert.equal(isSubscribed(subscription, type), expected);
    });
  }

  it("matches a type by exactly its prefixes, itself and *", () => {
    fc.assert(
      fc.property(segments, segments, (one, two) => {
        const [type, prefix] = [one.join("."), two.join(".")];
        const isProperPrefix =
          two.length < one.length && two.every((segment, index) => segment === one[index]);
        assert.equal(isSubscribed([`${prefix}.*`], type), isProperPrefix);
        assert.equal(isSubscribed([prefix], type), prefix === type);
        assert.equal(patternsMatching(type).length, one.length + 2);
        assert.ok(patternsMatching(type).every(isPattern));
      }),
    );
  });
});

describe("a subscription to a type with the versions 1, 2 and 3, of which 2 is the newest", () => {
  const cases: [string[], number | null][] = [
    [["*"], 2],
    [["a.*"], 2],
    [["a.b"], 2],
    [["a.b@1"], 1],
    [["a.b@2"], 2],
    [["a.b@3"], 3],
    [["a.b@4"], null],
    [["a.b@4", "a.*"], 2],
    [["*", "a.b@1"], 1],
    [["a.b@1", "a.b"], 1],
    [["a.b@1", "a.b@3"], 3],
    [["a.c@1"], null],
  ];
  for (const [subscription, expected] of cases) {
    it(`gets ${expected === null ? "none" : `version ${expected}`} with [${subscription.join(", ")}]`, () => {
      assert.equal(versionFor(subscription, { type: "a.b", newest: 2, versions: [2, 1, 3] }), expected);
    });
  }

  it("takes a version from 1 to 999 behind a whole type", () => {
    for (const text of ["a@1", "a.b@999"]) assert.ok(isPattern(text) && !isEventTypeName(text), text);
    for (const text of ["a@0", "a@01", "a@1000", "a@", "@1", "a.*@1", "*@1", "a@1.b", "a@1@1", "a@-1"])
      assert.ok(!isPattern(text), text);
  });
});

describe("an event type name", () => {
  it("is dotted segments of letters, digits and underscores", () => {
    for (const type of ["a", "invoice.paid", "A_1.b.c"]) assert.ok(isEventTypeName(type) && isPattern(type));
    for (const text of ["", ".", "a.", ".a", "a..b", "a b", "a-b", "ä", "a.b\n", "*.a", "a*"]) {
      assert.ok(!isEventTypeName(text) && !isPattern(text), text);
    }
    for (const pattern of ["*", "a.*", "a.b.*"]) assert.ok(!isEventTypeName(pattern) && isPattern(pattern));
    for (const text of ["**", "*.*", ".*", "a.*.b", "a.**"]) assert.ok(!isPattern(text), text);
  });
});

it("a type's patterns are its prefixes, itself, and itself at each of its versions", () => {
  assert.deepEqual(patternsMatching("a.b.c", [1, 3]), ["*", "a.*", "a.b.*", "a.b.c", "a.b.c@1", "a.b.c@3"]);
  assert.deepEqual(patternsMatching("a"), ["*", "a", "a@1"]);
  assert.deepEqual(patternsMatching("a.b", []), ["*", "a.*", "a.b"]);
});

it("a name has a type, and a version where it names one", () => {
  assert.deepEqual(parseVersionedType("a.b"), { type: "a.b", version: null });
  assert.deepEqual(parseVersionedType("a.b@12"), { type: "a.b", version: 12 });
  for (const text of ["", "*", "a.*", "a@0", "a@1000", "a@", "@1", "a@1@2", " a", "a@1 "])
    assert.equal(parseVersionedType(text), null, text);
});

describe("the types of which a subscription names two versions", () => {
  const cases: [string[], string[]][] = [
    [[], []],
    [["a@1", "b@1", "a", "a.*", "*"], []],
    [["a", "a"], []],
    [["a@1", "a@1"], []],
    [["a@1", "a@2"], ["a"]],
    [
      ["b.c@2", "a@1", "a@2", "a@3", "b.c@1"],
      ["a", "b.c"],
    ],
  ];
  for (const [subscription, expected] of cases) {
    it(`are ${expected.join(" and ") || "none"} of [${subscription.join(", ")}]`, () => {
      assert.deepEqual(typesWithTwoVersions(subscription), expected);
    });
  }
});
