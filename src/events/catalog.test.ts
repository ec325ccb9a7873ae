import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { loadCatalog } from "./catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "postern-catalog-"));
after(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  const file = join(folder, "catalog.yaml");
  writeFileSync(file, text);
  return file;
}

async function faultOf(text: string): Promise<string> {
  const file = write(text);
  try {
    await loadCatalog(file);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.replaceAll(file, "FILE");
  }
  return assert.fail("the catalog was accepted");
}

const ENTRY = `- type: order.placed
  title: Placed
  description: An order came in.
  group: Orders
  payloadShape: {id: o1}
`;

describe("a catalog with a misspelled member", () => {
  it("is refused, because a misspelled schema would let any data through", async () => {
    const text = `${ENTRY.replace("group", "grop")}  x-type: team\n  Schema: { type: object, required: [id] }\n  depricated: true\n`;
    assert.deepEqual((await faultOf(text)).split("\n"), [
      "FILE:4: did you mean group by grop?",
      "FILE:7: did you mean schema by Schema?",
      "FILE:8: did you mean deprecated by depricated?",
      "FILE:1: 0.group is missing",
    ]);
    assert.equal(
      await faultOf(`${ENTRY}  depricated: true\n`),
      "FILE:6: did you mean deprecated by depricated?",
    );
  });
});

it("a catalog with an entry that is no object is refused, and told where", async () => {
  assert.deepEqual((await faultOf("- null\n- text\n")).split("\n"), [
    "FILE:1: 0 Invalid input: expected object, received null",
    "FILE:2: 1 Invalid input: expected object, received string",
  ]);
});

describe("the built-in catalog", () => {
  it("has ten types at least, and examples that keep to their own schemas", async () => {
    const catalog = await loadCatalog(undefined);
    assert.ok(catalog.entries.length >= 10);
    for (const { type, payloadShape } of catalog.entries) {
      assert.deepEqual(catalog.faultsOf({ type, version: 1 }, payloadShape), []);
      assert.equal(catalog.find(type)?.type, type);
    }
  });
});

describe("a catalog file", () => {
  it("may be YAML or JSON, and always has the service's own events", async () => {
    const json = [
      { type: "order.placed", title: "Placed", description: "", group: "Orders", payloadShape: {} },
    ];
    for (const text of [ENTRY, JSON.stringify(json), "[]"]) {
      const catalog = await loadCatalog(write(text));
      assert.equal(catalog.find("order.placed") !== undefined, text !== "[]");
      for (const own of ["endpoint.disabled", "storage.export.ready", "storage.object.missing"]) {
        assert.ok(catalog.find(own) !== undefined, own);
      }
      assert.equal(catalog.find("invoice.paid"), undefined);
    }
  });

  it("may describe an event of the service's in its own words", async () => {
    const catalog = await loadCatalog(write(ENTRY.replace("order.placed", "endpoint.disabled")));
    assert.deepEqual(catalog.find("endpoint.disabled")?.group, "Orders");
  });

  it("knows the patterns that match one of its types", async () => {
    const catalog = await loadCatalog(write(ENTRY));
    for (const pattern of ["*", "order.*", "order.placed", "endpoint.*"])
      assert.ok(catalog.knowsPattern(pattern));
    for (const pattern of ["order", "order.placed.*", "invoice.*", "toString"])
      assert.ok(!catalog.knowsPattern(pattern));
  });

  it("checks data against a type's schema, and names where it fails", async () => {
    const schema = "  schema: {type: object, properties: {lines: {type: array, items: {type: integer}}}}\n";
    const catalog = await loadCatalog(write(ENTRY + schema));
    assert.deepEqual(catalog.faultsOf({ type: "order.placed", version: 1 }, { lines: [1] }), []);
    assert.deepEqual(catalog.faultsOf({ type: "order.placed", version: 1 }, { lines: [1, "2"] }), [
      { path: ["lines", "1"], message: "must be integer" },
    ]);
    const other = ENTRY.replace("order.placed", "order.sent");
    const mixed = await loadCatalog(write(other + ENTRY + schema));
    assert.deepEqual(mixed.faultsOf({ type: "order.sent", version: 1 }, { lines: "2" }), []);
    assert.equal(mixed.faultsOf({ type: "order.placed", version: 1 }, { lines: "2" }).length, 1);
  });

  it("finds the newest version that is no preview by the type, and each by its number", async () => {
    const catalog = await loadCatalog(write(`${V2}${ENTRY}${V2.replace("2", "3")}  preview: true\n`));
    const found = ["order.placed", "order.placed@1", "order.placed@2", "order.placed@3"];
    assert.deepEqual(
      found.map((name) => catalog.find(name)?.version),
      [2, 1, 2, 3],
    );
    for (const name of ["order.placed@4", "order@1", "order.placed@", "order.placed@01", "toString"])
      assert.equal(catalog.find(name), undefined, name);
    for (const pattern of ["order.placed@1", "order.placed@3", "endpoint.disabled@1"])
      assert.ok(catalog.knowsPattern(pattern), pattern);
    assert.ok(!catalog.knowsPattern("order.placed@4"));
  });

  const V2 = `${ENTRY}  version: 2\n`;
  const faults: [string, string, RegExp][] = [
    ["text that is no YAML", `${ENTRY}- type: [`, /^FILE:6: /],
    [
      "a type that is no name",
      `${ENTRY}${ENTRY.replace("order.placed", "order placed")}`,
      /^FILE:6: 1\.type must be dotted/,
    ],
    ["a missing member", ENTRY.replace("  group: Orders\n", ""), /^FILE:1: 0\.group /],
    ["an example that is no object", ENTRY.replace("{id: o1}", "[1]"), /^FILE:5: 0\.payloadShape /],
    ["no array", "type: order.placed", /^FILE:1: /],
    ["a type that is listed twice", ENTRY + ENTRY, /^FILE:6: .*order\.placed.*twice/],
    ["a schema that is none", `${ENTRY}  schema: {type: 7}\n`, /^FILE:6: .*order\.placed/],
    ["a version that is listed twice", `${V2}${V2}${ENTRY}`, /^FILE:7: order\.placed@2 is listed twice$/],
    ["a version that is none", V2.replace("2", "1000"), /^FILE:6: 0\.version /],
    [
      "a type without a version that is no preview",
      `${V2}  preview: true\n`,
      /^FILE:1: every version of order\.placed is a preview$/,
    ],
    [
      "a time since when of what is not deprecated",
      `${ENTRY}  deprecated_since: 2031-01-01T00:00:00Z\n`,
      /^FILE:1: 0 .* deprecated$/,
    ],
    [
      "a sunset without the day of the deprecation",
      `${ENTRY}  deprecated: true\n  sunset: 2031-01-01T00:00:00Z\n`,
      /^FILE:1: 0 a sunset needs deprecated_since$/,
    ],
    ["an empty file", "", /^FILE:1: /],
  ];
  for (const [name, text, expected] of faults) {
    it(`stops the start with the line of ${name}`, async () => {
      assert.match(await faultOf(text), expected);
    });
  }

  it("names a file that cannot be read", async () => {
    await assert.rejects(loadCatalog(join(folder, "none.json")), {
      name: "ConfigError",
      message: /^EVENT_CATALOG: cannot read .*none\.json/,
    });
  });
});
