import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { loadCatalog } from "./catalog.ts";
import type { PublishInput } from "./publish-input.ts";
import { judgeVersions } from "./publish-versions.ts";

const shown = { title: "T", description: "D", group: "G", payloadShape: {} };
const withLines = { properties: { lines: { type: "integer" } } };

const file = temporaryPath("versions.json");
await writeFile(
  file,
  JSON.stringify([
    { type: "order.paid", version: 1, schema: withLines, ...shown },
    { type: "order.paid", version: 2, ...shown },
    { type: "order.paid", version: 3, preview: true, ...shown },
    { type: "order.sent", schema: withLines, ...shown },
  ]),
);
const catalog = await loadCatalog(file);

const judge = (input: Omit<PublishInput, "type">, type = "order.paid") =>
  judgeVersions({ type, ...input }, catalog);
const required = (version: string) => ({
  path: ["versions", version],
  message: "is required",
  code: "required",
});
const noData = { path: ["data"], message: "must be an object", code: "required" };

const digits = (text: string) => ({ lines: JSON.rawJSON(text) });

describe("the versions of an event", () => {
  it("are the newest that is no preview, which data is, and the others", () => {
    assert.deepEqual(judge({ data: { a: 2 }, versions: { "1": { a: 1 } } }), {
      issues: [],
      newest: 2,
      versions: new Map([
        [1, { a: 1 }],
        [2, { a: 2 }],
      ]),
    });
    assert.deepEqual(judge({ data: { a: 1 } }, "order.sent"), {
      issues: [],
      newest: 1,
      versions: new Map([[1, { a: 1 }]]),
    });
  });

  it("may have the newest among them in place of data, and previews", () => {
    const versions = { "1": { a: 1 }, "2": { a: 2 }, "3": { a: 3 } };
    const judged = judge({ versions });
    assert.deepEqual([judged.issues, judged.newest], [[], 2]);
    assert.deepEqual(
      [...judged.versions],
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
        [3, { a: 3 }],
      ],
    );
  });

  it("are all needed but for previews", () => {
    assert.deepEqual(judge({ data: {} }).issues, [required("1")]);
    assert.deepEqual(judge({ versions: { "1": {} } }).issues, [noData]);
    assert.deepEqual(judge({}).issues, [noData, required("1")]);
    assert.deepEqual(judge({ versions: { "3": {} } }).issues, [noData, required("1")]);
    assert.deepEqual(judge({}, "order.sent").issues, [noData]);
  });

  it("have the newest only once", () => {
    assert.deepEqual(judge({ data: {}, versions: { "1": {}, "2": {} } }).issues, [
      { path: ["versions", "2"], message: "version 2 is what data is", code: "given_twice" },
    ]);
  });

  it("are those of the catalog", () => {
    const unknown = { path: ["versions", "4"], message: "unknown_version", code: "unknown_version" };
    assert.deepEqual(judge({ data: {}, versions: { "1": {}, "4": {} } }).issues, [unknown]);
    assert.deepEqual(judge({ data: {}, versions: { "2": {} } }, "order.none"), {
      issues: [{ path: ["type"], message: "unknown_event_type", code: "unknown_event_type" }],
      newest: 1,
      versions: new Map(),
    });
  });

  it("keep each to its own schema and to the rules of all data", () => {
    assert.deepEqual(judge({ data: { lines: "many" }, versions: { "1": { lines: "many" } } }).issues, [
      { path: ["versions", "1", "lines"], message: "must be integer", code: "schema" },
    ]);
    assert.deepEqual(judge({ data: { lines: "many" } }, "order.sent").issues, [
      { path: ["data", "lines"], message: "must be integer", code: "schema" },
    ]);
    const nul = { lines: "\u0000" };
    assert.deepEqual(judge({ data: nul, versions: { "1": nul } }).issues, [
      { path: ["versions", "1"], message: "nul_character", code: "nul_character" },
      { path: ["data"], message: "nul_character", code: "nul_character" },
    ]);
  });

  it("are written with every digit, and judged so, where a double does not hold a number", () => {
    const exact = { data: digits("9007199254740993"), versions: { "1": digits("9007199254740995") } };
    const input = { data: { lines: 9007199254740992 }, versions: { "1": { lines: 9007199254740996 } } };
    assert.deepEqual(judge({ ...input, exact }), {
      issues: [],
      newest: 2,
      versions: new Map([
        [1, exact.versions["1"]],
        [2, exact.data],
      ]),
    });
    assert.deepEqual(judge({ ...input, exact: {} }).versions, judge(input).versions);
    const long = digits(`1${"0".repeat(200)}.${"1".repeat(200)}`);
    assert.deepEqual(judge({ ...input, exact: { data: long, versions: { "1": long } } }).issues, [
      { path: ["versions", "1"], message: "number_too_long", code: "number_too_long" },
      { path: ["data"], message: "number_too_long", code: "number_too_long" },
    ]);
  });
});
