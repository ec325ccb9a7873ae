/** One spelling of each value: what is refused at the edge is never compared inside. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type * as z from "zod";
import { archiveEntry } from "./archive-entry.ts";
import { caller } from "./authorize-download.ts";
import { signedUrlEndpoint } from "./signed-url.ts";
import { storedObject } from "./stored-object.ts";
import { bucketConfig, validateBucketInput } from "./validate-bucket.ts";
import {
  areUnique,
  attempt,
  bucketName,
  compareBytes,
  contentType,
  etag,
  instant,
  integer,
  listedKey,
  revision,
  sha256,
  sizeBytes,
  text,
  uuid,
  versionId,
} from "./values.ts";

const UUID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
const HEX = "0123456789abcdef".repeat(4);

const SPELLINGS: [name: string, schema: z.ZodType, good: unknown[], bad: unknown[]][] = [
  [
    "a UUID",
    uuid,
    [UUID, UUID.replace("-4a", "-1a"), UUID.replace("-4a", "-8a"), UUID.replace("-8c", "-bc")],
    [
      UUID.toUpperCase(),
      UUID.replace("-4a", "-9a"),
      UUID.replace("-4a", "-0a"),
      UUID.replace("-8c", "-7c"),
      UUID.replace("-8c", "-cc"),
      `${UUID}0`,
      `0${UUID}`,
      UUID.slice(1),
      UUID.slice(0, -1),
      UUID.replaceAll("-", ""),
      "00000000-0000-0000-0000-000000000000",
    ],
  ],
  [
    "an instant",
    instant,
    [
      "2026-03-01T12:34:56.789Z",
      "2000-01-01T00:00:00.000Z",
      "2099-12-31T23:59:59.999Z",
      "2024-02-29T00:00:00.000Z",
    ],
    [
      "2026-02-29T00:00:00.000Z",
      "2026-02-30T00:00:00.000Z",
      "2026-13-01T00:00:00.000Z",
      "2026-03-01T24:00:00.000Z",
      "2026-03-01T12:60:00.000Z",
      "2026-03-01T12:34:56Z",
      "2026-03-01T12:34:56.78Z",
      "2026-03-01T12:34:56.7890Z",
      "2026-03-01T12:34:56.789+00:00",
      "1999-12-31T23:59:59.999Z",
      "2100-01-01T00:00:00.000Z",
      "+002026-03-01T12:34:56.789Z",
      " 2026-03-01T12:34:56.789Z",
      "2026-03-01T12:34:56.789Z ",
      "2026-03-01 12:34:56.789Z",
    ],
  ],
  ["a SHA-256", sha256, [HEX], [HEX.toUpperCase(), `${HEX}0`, `0${HEX}`, HEX.slice(1), `g${HEX.slice(1)}`]],
  ["an etag", etag, ["e", "a".repeat(128), "A-z_0.9"], ["", "a".repeat(129), '"e"', "e ", " e", "e/f", "é"]],
  [
    "a version",
    versionId,
    ["v", "a".repeat(128), "A-z_0.9"],
    ["", "a".repeat(129), "v ", " v", "v/w", "v&w=1"],
  ],
  [
    "a content type",
    contentType,
    ["text/plain", "application/vnd.x+json", `${"a".repeat(63)}/${"b".repeat(63)}`],
    [
      "text",
      "text/",
      "/plain",
      "Text/plain",
      "text/Plain",
      "text/plain; charset=utf-8",
      "text/plain/x",
      ` text/plain`,
      `${"a".repeat(64)}/b`,
      `a/${"b".repeat(64)}`,
    ],
  ],
  [
    "the name of a bucket",
    bucketName,
    ["abc", "a-b.c", "0a9", `a${"b".repeat(61)}c`],
    ["ab", "-abc", "abc-", ".abc", "abc.", "Abc", "aBc", "abC", "a_c", `a${"b".repeat(62)}c`, "abc ", " abc"],
  ],
  ["a size", sizeBytes, [0, 5_368_709_120], [-1, 5_368_709_121, 0.5, true, "1"]],
  ["an attempt", attempt, [1, 999], [0, 1000, 1.5, "1"]],
  ["a revision", revision, [1, Number.MAX_SAFE_INTEGER], [0, Number.MAX_SAFE_INTEGER + 1, "1"]],
  ["an integer of a range", integer(3, 5), [3, 4, 5], [2, 6, 3.5, true]],
  ["a key that is listed", listedKey, ["a", "x".repeat(1024), "a b/é"], ["", "x".repeat(1025)]],
  [
    "text of 2 to 3 characters",
    text(2, 3),
    ["ab", "abc", "éé", "😀😀", "😀😀😀"],
    ["", "a", "abcd", "😀", "😀😀😀😀", "a\ud83d", "\ude00a", 12],
  ],
];

for (const [name, schema, good, bad] of SPELLINGS) {
  describe(name, () => {
    it("is taken in its one spelling", () => {
      assert.deepEqual(
        good.filter((value) => !schema.safeParse(value).success),
        [],
      );
    });

    it("is refused in every other", () => {
      assert.deepEqual(
        bad.filter((value) => schema.safeParse(value).success),
        [],
      );
    });
  });
}

it("says what it wants of a text and of an instant", () => {
  const [ofText] = text(2, 3).safeParse("a").error?.issues ?? [];
  assert.equal(ofText?.message, "must be 2 to 3 characters of well-formed text");
  const [ofInstant] = instant.safeParse("2026-02-30T00:00:00.000Z").error?.issues ?? [];
  assert.equal(ofInstant?.message, "must be a date and time that exists");
});

it("orders texts by their bytes, and not by their code units", () => {
  // U+FFFD is less than U+1F600 by bytes, and more by code units.
  const [replacement, smile] = ["\ufffd", "\u{1f600}"];
  assert.ok(compareBytes(replacement, smile) < 0 && compareBytes(smile, replacement) > 0);
  assert.ok(smile < replacement);
  assert.deepEqual([compareBytes("a", "a"), compareBytes("a", "ab")], [0, -1]);
});

it("knows whether any two are equal", () => {
  assert.deepEqual([areUnique([]), areUnique(["a", "b"]), areUnique(["a", "b", "a"])], [true, true, false]);
});

/** Of the member of an object's schema alone. */
function member(schema: z.ZodObject, name: string): z.ZodType {
  const found: unknown = schema.shape[name];
  assert.ok(typeof found === "object" && found !== null && "safeParse" in found);
  return Object(found);
}

const MEMBERS: [name: string, schema: z.ZodType, good: unknown[], bad: unknown[]][] = [
  [
    "the CRC of an entry",
    member(archiveEntry, "crc32"),
    ["0123abcd"],
    ["0123ABCD", "0123abcd0", "x123abcd", "123abcd", "00123abcd"],
  ],
  ["the method of an entry", member(archiveEntry, "method"), [0, 8, 99], [-1, 100]],
  ["the length of an entry", member(archiveEntry, "local_length"), [30], [29]],
  ["the path of an entry", member(archiveEntry, "path"), ["", "x".repeat(1024)], ["x".repeat(1025)]],
  [
    "the permissions of a caller",
    member(caller, "permissions"),
    [
      [],
      ["settings:read"],
      ["a", "b_c-d:e0"],
      [`a${"b".repeat(63)}`],
      Array.from({ length: 16 }, (_, n) => `p${n}`),
    ],
    [
      ["A"],
      ["aB"],
      ["0a"],
      [""],
      ["a b"],
      ["a a"],
      [" a"],
      ["a", "a"],
      [`a${"b".repeat(64)}`],
      Array.from({ length: 17 }, (_, n) => `p${n}`),
    ],
  ],
  [
    "the host of a link",
    member(signedUrlEndpoint, "host"),
    [
      "a",
      "store.example",
      "store.example:9000",
      "127.0.0.1:1",
      "[::1]",
      "[::1]:65535",
      "a-b.c",
      `a${"b".repeat(251)}c`,
    ],
    [
      "",
      "Store.example",
      "-a",
      "a-",
      ".a",
      "a.",
      "a:",
      "a:123456",
      "a:b",
      "[::2]",
      "x[::1]",
      "a/b",
      "a b",
      "a@b",
      " a",
      "a ",
      `a${"b".repeat(252)}c`,
    ],
  ],
  [
    "the path before a link's bucket",
    member(signedUrlEndpoint, "path_prefix"),
    ["", "/a", "/a/b", "/A9._~-", "/a".repeat(8), `/a${"b".repeat(63)}`],
    [
      "/",
      "a",
      "/a/",
      "//a",
      "/.a",
      "/-a",
      "/a".repeat(9),
      "/a?b",
      "/a b",
      "x/a",
      "/a%20",
      `/a${"b".repeat(64)}`,
    ],
  ],
  ["the scheme of a link", member(signedUrlEndpoint, "scheme"), ["http", "https"], ["ftp", "HTTPS", ""]],
  [
    "a row's key",
    member(storedObject, "key"),
    ["!", "~", "x".repeat(1024), "planted/key"],
    ["", " ", "a b", "é", "x".repeat(1025), "a\n"],
  ],
  [
    "a bucket to be judged",
    member(validateBucketInput, "bucket"),
    ["a", "A_b.c-0", "x".repeat(255)],
    ["", "a b", "a/b", " a", "a ", "x".repeat(256)],
  ],
  ["the days of a bucket", member(validateBucketInput, "longest_retention_days"), [1, 3650], [0, 3651]],
  [
    "waivers",
    member(validateBucketInput, "waivers"),
    [[], ["BR-01", "BR-11"]],
    [["BR-01", "BR-01"], ["BR-12"], ["BR-00"]],
  ],
  [
    "a bucket's word for how it is set up",
    member(bucketConfig, "ownership"),
    [null, "unsupported", "A", "aws:kms", "a_b.c-d0", "x".repeat(64)],
    ["", "a b", " a", "a ", "é", "x".repeat(65), 1],
  ],
  [
    "a bucket's days",
    member(bucketConfig, "noncurrent_days"),
    [null, "unsupported", 0, 36_500],
    [-1, 36_501, "7"],
  ],
  [
    "a bucket's origins",
    member(bucketConfig, "cors_origins"),
    [null, "unsupported", [], ["*"], ["x".repeat(255)], Array.from({ length: 64 }, () => "*")],
    [[""], ["x".repeat(256)], Array.from({ length: 65 }, () => "*")],
  ],
];

for (const [name, schema, good, bad] of MEMBERS) {
  it(`takes ${name} in its one form, and refuses every other`, () => {
    assert.deepEqual(
      good.filter((value) => !schema.safeParse(value).success),
      [],
    );
    assert.deepEqual(
      bad.filter((value) => schema.safeParse(value).success),
      [],
    );
  });
}
