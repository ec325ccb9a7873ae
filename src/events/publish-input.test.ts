import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { namedJsonSchema } from "../api/json-schema.ts";
import { publishManySchema, publishOneSchema, withExactData } from "./publish-input.ts";

const OPENAPI = join(import.meta.dirname, "../../docs/openapi.json");
const TYPE = "invoice.paid";

/** What is refused, as callers are told: where, why, and by which kind of rule. */
function faultsOf(
  event: unknown,
  schema: typeof publishOneSchema | typeof publishManySchema = publishOneSchema,
) {
  const { error } = schema.safeParse(event);
  return (error?.issues ?? []).map(({ path, message, code }) => [path.join("."), message, code]);
}

describe("an event to publish", () => {
  it("is taken as it is, with every member or with its type alone", () => {
    const accepted = [
      { type: TYPE },
      { type: TYPE, data: {} },
      {
        type: TYPE,
        data: { a: [1, { b: null }] },
        versions: { "1": {}, "999": { a: 1 } },
        tenant_id: "acme-1_A",
        id: "k",
      },
    ];
    for (const event of accepted) assert.deepEqual(publishOneSchema.parse(event), event);
  });

  it("keeps a member of its data that is named as a prototype", () => {
    const event: unknown = JSON.parse(`{"type":"${TYPE}","data":{"__proto__":{"a":1}}}`);
    const { data } = publishOneSchema.parse(event);
    assert.deepEqual(Object.keys(data ?? {}), ["__proto__"]);
  });

  for (const data of [null, [], [{}], "{}", 1, true]) {
    it(`has no ${JSON.stringify(data)} as data, in any version`, () => {
      assert.deepEqual(faultsOf({ type: TYPE, data, versions: { "1": data } }), [
        ["data", "must be an object", "custom"],
        ["versions.1", "must be an object", "custom"],
      ]);
    });
  }

  for (const version of ["0", "01", "1000", "1.0", "-1", "", " 1", "1 ", "a", "1a"]) {
    it(`has no version ${JSON.stringify(version)}`, () => {
      assert.deepEqual(
        faultsOf({ type: TYPE, versions: { [version]: {} } }).map(([path]) => path),
        [`versions.${version}`],
      );
    });
  }

  it("names a tenant as a session may", () => {
    assert.deepEqual(faultsOf({ type: TYPE, tenant_id: "a".repeat(64) }), []);
    for (const tenant_id of ["", "a b", "a".repeat(65), "ä"])
      assert.deepEqual(faultsOf({ type: TYPE, tenant_id }), [
        ["tenant_id", "must be 1 to 64 of A-Z, a-z, 0-9, _ and -", "custom"],
      ]);
  });

  it("has a key of 1 to 128 characters, however many bytes these have", () => {
    for (const id of ["k", "k".repeat(128), "🍰".repeat(128), `${"ü".repeat(127)}🍰`])
      assert.deepEqual(faultsOf({ type: TYPE, id }), []);
    const tooLong = ["id", "must have at most 128 characters", "custom"];
    for (const id of ["k".repeat(129), "🍰".repeat(129), "k".repeat(1000), `${"k".repeat(128)}🍰`])
      assert.deepEqual(faultsOf({ type: TYPE, id }), [tooLong]);
    assert.deepEqual(
      faultsOf({ type: TYPE, id: "" }).map(([path]) => path),
      ["id"],
    );
    for (const id of ["a\u0000", "\uD800"])
      assert.deepEqual(faultsOf({ type: TYPE, id }), [
        ["id", "must be well-formed text without NUL", "custom"],
      ]);
  });

  it("has no member but these", () => {
    assert.deepEqual(faultsOf({ type: TYPE, tenant: "acme" }), [
      ["", 'Unrecognized key: "tenant"', "unrecognized_keys"],
    ]);
  });
});

it("a request has from one to 1,000 events", () => {
  const events = Array.from({ length: 1001 }, () => ({ type: TYPE }));
  for (const count of [1, 1000]) assert.deepEqual(faultsOf(events.slice(0, count), publishManySchema), []);
  for (const count of [0, 1001]) assert.equal(faultsOf(events.slice(0, count), publishManySchema).length, 1);
});

it("an event to publish is what the API document says", async () => {
  const { components } = Object(JSON.parse(await readFile(OPENAPI, "utf8")));
  assert.deepEqual(namedJsonSchema("NewEvent", publishOneSchema, "input"), components.schemas.NewEvent);
});

describe("data with every digit", () => {
  const digits = { n: JSON.rawJSON("9007199254740993") };

  it("is what is written of one event", () => {
    const event = { type: TYPE, data: { n: 9007199254740992 } };
    const written = { type: TYPE, data: digits };
    assert.deepEqual(withExactData(event, written), { ...event, exact: { data: digits } });
  });

  it("is what is written of each of several events, in their order", () => {
    const events = [
      { type: TYPE, data: {} },
      { type: TYPE, versions: { "1": { n: 9007199254740992 } } },
    ];
    const written = [
      { type: TYPE, data: {} },
      { type: TYPE, versions: { "1": digits } },
    ];
    assert.deepEqual(withExactData(structuredClone(events), written), [
      { ...events[0], exact: { data: {} } },
      { ...events[1], exact: { versions: { "1": digits } } },
    ]);
    assert.deepEqual(withExactData([{ type: TYPE }], [{ type: TYPE }]), [{ type: TYPE, exact: {} }]);
  });
});
