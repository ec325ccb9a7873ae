import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { loadCatalog } from "./catalog.ts";
import { dataIssues, isObject } from "./data-issues.ts";

const file = temporaryPath("data-issues.json");
await writeFile(
  file,
  JSON.stringify([
    {
      type: "order.paid",
      title: "T",
      description: "D",
      group: "G",
      payloadShape: {},
      schema: { required: ["id"], properties: { lines: { items: { type: "integer" } } } },
    },
  ]),
);
const catalog = await loadCatalog(file);
const issuesOf = (data: unknown, more: { exact?: unknown } = {}) =>
  dataIssues({ type: "order.paid", version: 1 }, data, { catalog, at: [2, "data"].map(String), ...more });

describe("the issues of an event's data", () => {
  it("are all faults against the schema, each at its place", () => {
    assert.deepEqual(issuesOf({ id: 1, lines: [1] }), []);
    assert.deepEqual(issuesOf({ lines: ["a", 1, "b"] }), [
      { path: ["2", "data"], message: "must have required property 'id'", code: "schema" },
      { path: ["2", "data", "lines", "0"], message: "must be integer", code: "schema" },
      { path: ["2", "data", "lines", "2"], message: "must be integer", code: "schema" },
    ]);
  });

  it("are a broken rule alone, where one is broken", () => {
    const issue = { path: ["2", "data"], message: "nul_character", code: "nul_character" };
    assert.deepEqual(issuesOf({ lines: ["\u0000"] }), [issue]);
  });

  it("are judged by rule of what is sent, and by schema of the data", () => {
    const exact = { id: JSON.rawJSON(`1.${"1".repeat(400)}`) };
    const issue = { path: ["2", "data"], message: "number_too_long", code: "number_too_long" };
    assert.deepEqual(issuesOf({ id: 1 }, { exact }), [issue]);
    assert.deepEqual(issuesOf({ id: 1 }, { exact: {} }), []);
  });
});

it("data is members by name", () => {
  for (const value of [{}, { a: 1 }]) assert.ok(isObject(value));
  for (const value of [null, undefined, [], [{}], "a", 1, true]) assert.ok(!isObject(value));
});
