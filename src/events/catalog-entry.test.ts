import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { namedJsonSchema } from "../api/json-schema.ts";
import { catalogEntryObject } from "../api/schemas.ts";
import { catalogEntrySchema } from "./catalog-entry.ts";

const OPENAPI = join(import.meta.dirname, "../../docs/openapi.json");
const ENTRY = { type: "order.paid", title: "T", description: "D", group: "G", payloadShape: { id: 1 } };
const SINCE = "2031-01-01T00:00:00Z";

/** Where it is refused, and why. */
function faultsOf(members: Record<string, unknown>): [path: string, message: string][] {
  const { error } = catalogEntrySchema.safeParse({ ...ENTRY, ...members });
  return (error?.issues ?? []).map(({ path, message }) => [path.join("."), message]);
}

const pathsOf = (members: Record<string, unknown>) => faultsOf(members).map(([path]) => path);

describe("an entry of the catalog", () => {
  it("is the first version of its type, no preview and not deprecated, unless it says so", () => {
    assert.deepEqual(catalogEntrySchema.parse(ENTRY), {
      ...ENTRY,
      version: 1,
      preview: false,
      deprecated: false,
    });
    const whole = {
      ...ENTRY,
      version: 999,
      preview: true,
      schema: { type: "object" },
      deprecated: true,
      deprecated_since: "2031-01-01T00:00:00+02:00",
      sunset: SINCE,
    };
    assert.deepEqual(catalogEntrySchema.parse(whole), whole);
  });

  it("has texts of a bounded length", () => {
    for (const [member, most] of [
      ["title", 200],
      ["description", 2000],
      ["group", 100],
      ["type", 255],
    ] as const) {
      assert.deepEqual(pathsOf({ [member]: "t".repeat(most) }), []);
      assert.deepEqual(pathsOf({ [member]: "t".repeat(most + 1) }), [member]);
    }
  });

  it("has a type of segments, and a version from 1 to 999", () => {
    assert.deepEqual(faultsOf({ type: "order paid" }), [
      ["type", "must be dotted segments of letters, digits and underscores"],
    ]);
    for (const version of [0, 1000, 1.5, "1"]) assert.deepEqual(pathsOf({ version }), ["version"]);
  });

  it("has an example and a schema that are members by name", () => {
    for (const given of [null, [], "{}"])
      assert.deepEqual(pathsOf({ payloadShape: given, schema: given }), ["payloadShape", "schema"]);
  });

  it("says since when it is deprecated, and when it ends, only if it is", () => {
    const forDeprecated = ["", "deprecated_since and sunset are for what is deprecated"];
    assert.deepEqual(faultsOf({ deprecated: true }), []);
    assert.deepEqual(faultsOf({ deprecated: true, deprecated_since: SINCE }), []);
    assert.deepEqual(faultsOf({ deprecated_since: SINCE }), [forDeprecated]);
    assert.deepEqual(faultsOf({ deprecated_since: SINCE, sunset: SINCE }), [forDeprecated]);
    assert.deepEqual(faultsOf({ sunset: SINCE }), [forDeprecated, ["", "a sunset needs deprecated_since"]]);
    assert.deepEqual(faultsOf({ deprecated: true, sunset: SINCE }), [
      ["", "a sunset needs deprecated_since"],
    ]);
    for (const member of ["deprecated_since", "sunset"])
      for (const given of ["2031-01-01", "2031-01-01T00:00:00", 7])
        assert.ok(pathsOf({ deprecated: true, deprecated_since: SINCE, [member]: given }).includes(member));
  });
});

it("an entry that callers see is what the API document says", async () => {
  const { components } = Object(JSON.parse(await readFile(OPENAPI, "utf8")));
  assert.deepEqual(namedJsonSchema("EventType", catalogEntryObject, "output"), components.schemas.EventType);
});
