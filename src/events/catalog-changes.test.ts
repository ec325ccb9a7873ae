import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { breaks, compareCatalogs } from "./catalog-changes.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

function entry(type: string, members: Partial<CatalogEntry> = {}): CatalogEntry {
  const text = { title: "T", description: "", group: "G", payloadShape: {} };
  return { type, version: 1, preview: false, deprecated: false, ...text, ...members };
}

/** What a change of one schema does, each effect in one text. */
function effects(before: CatalogEntry["schema"], after: CatalogEntry["schema"]): string[] {
  const [change, ...others] = compareCatalogs(
    [entry("a", { schema: before })],
    [entry("a", { schema: after })],
  );
  assert.deepEqual(others, []);
  assert.ok(change?.kind === "changed");
  assert.equal(
    breaks(change),
    change.effects.some(({ verdict }) => verdict === "breaks"),
  );
  return change.effects.map(({ path, text, verdict }) => `${verdict} ${path} ${text}`);
}

const typed = (type: unknown) => ({ properties: { a: { type } } });

describe("comparing two catalogs", () => {
  it("compares versions by their numbers, and resolves a type without one", () => {
    const was = { schema: { required: ["a"] } };
    const before = [entry("a", was), entry("b"), entry("b", { version: 2 }), entry("c")];
    const renewed = [
      entry("a", was),
      entry("a", { version: 2, schema: { required: ["b"] } }),
      entry("b", { version: 2 }),
      entry("c"),
      entry("c", { version: 2, preview: true }),
    ];
    const changes = compareCatalogs(before, renewed);
    assert.deepEqual(
      changes.map((change) => [change.kind, change.type, breaks(change)]),
      [
        ["added", "a@2", false],
        ["added", "c@2", false],
        ["removed", "b@1", true],
        ["newest", "a@2", true],
      ],
    );
    const [, , , newest] = changes;
    assert.deepEqual(newest?.kind === "newest" && newest.effects.map(({ path }) => path), ["data.a"]);
  });

  it("names types that were added, removed and deprecated, and only a removed one breaks receivers", () => {
    const changes = compareCatalogs(
      [entry("same"), entry("gone"), entry("old"), entry("back", { deprecated: true })],
      [entry("new"), entry("old", { deprecated: true, title: "Other" }), entry("same"), entry("back")],
    );
    assert.deepEqual(
      changes.map((change) => [change.kind, change.type, breaks(change)]),
      [
        ["added", "new", false],
        ["deprecated", "old", false],
        ["undeprecated", "back", false],
        ["removed", "gone", true],
      ],
    );
  });

  const base = {
    type: "object",
    required: ["id", "lines"],
    properties: {
      id: { type: "string" },
      note: { type: "string" },
      lines: { type: "array", items: { type: "object", properties: { count: { type: "integer" } } } },
    },
  };
  const properties = base.properties;
  const items = (count: object) => ({
    ...properties,
    lines: { type: "array", items: { type: "object", properties: { count } } },
  });
  const { id: _id, ...withoutId } = properties;
  const { note: _note, ...withoutNote } = properties;
  const changes: [string, CatalogEntry["schema"], string[]][] = [
    [
      "a required member that is gone",
      { ...base, required: ["lines"], properties: withoutId },
      ["breaks data.id was always there, and is gone"],
    ],
    [
      "a required member that became optional",
      { ...base, required: ["lines"] },
      ["breaks data.id was always there, and is optional"],
    ],
    [
      "a required member without a type",
      { ...base, properties: withoutId },
      ["breaks data.id was string, and may be anything"],
    ],
    [
      "another type, deep within",
      { ...base, properties: items({ type: ["number", "null"] }) },
      ["breaks data.lines[].count was integer, and may be number or null"],
    ],
    [
      "no schema any more",
      undefined,
      [
        "breaks data was object, and may be anything",
        "breaks data.id was always there, and is gone",
        "breaks data.lines was always there, and is gone",
      ],
    ],
    [
      "a keyword that is not followed",
      { ...base, anyOf: [{ required: ["note"] }] },
      ["unclear data differs in anyOf, which is not compared: look yourself"],
    ],
    ["one more member", { ...base, properties: { ...properties, more: { type: "string" } } }, []],
    ["an optional member that is gone", { ...base, properties: withoutNote }, []],
    ["an optional member that became required", { ...base, required: ["id", "lines", "note"] }, []],
    ["a bound", { ...base, properties: items({ type: "integer", minimum: 1 }) }, []],
  ];
  for (const [name, after, expected] of changes) {
    it(`judges ${name}`, () => assert.deepEqual(effects(base, after), expected));
  }

  it("takes an integer for a number, and nothing else", () => {
    assert.deepEqual(effects(typed("number"), typed("integer")), []);
    assert.deepEqual(effects(typed(["string", "null"]), typed("string")), []);
    assert.deepEqual(effects(typed("integer"), typed("number")), [
      "breaks data.a was integer, and may be number",
    ]);
    assert.deepEqual(effects(undefined, typed("string")), []);
  });
});
