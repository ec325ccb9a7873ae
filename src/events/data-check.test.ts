import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeDataCheckCompiler } from "./data-check.ts";

describe("a check of data by a schema", () => {
  it("finds every fault, each with its place", () => {
    const check = makeDataCheckCompiler()({
      type: "object",
      required: ["id"],
      properties: { lines: { type: "array", items: { properties: { count: { type: "integer" } } } } },
    });
    assert.deepEqual(check({ id: 1, lines: [{ count: 1 }] }), []);
    assert.deepEqual(check({ lines: [{ count: 1 }, { count: "2" }, { count: "3" }] }), [
      { path: [], message: "must have required property 'id'" },
      { path: ["lines", "1", "count"], message: "must be integer" },
      { path: ["lines", "2", "count"], message: "must be integer" },
    ]);
  });

  it("says which member is one too many, and which values there are", () => {
    const check = makeDataCheckCompiler()({
      additionalProperties: false,
      properties: {
        state: { enum: ["open", 2, null] },
        kind: { const: "paid" },
        many: { enum: Array.from({ length: 100 }, (_, place) => `value ${place}`) },
        tags: { propertyNames: { maxLength: 2 } },
        rest: { unevaluatedProperties: false, properties: { a: true } },
        "a/b~c": { type: "integer" },
      },
    });
    const faults = check({ stat: 1, state: "shut", kind: 1, tags: { abc: 1 }, rest: { b: 1 }, "a/b~c": "1" });
    assert.deepEqual(faults, [
      { path: [], message: "must NOT have additional properties: stat" },
      { path: ["state"], message: 'must be equal to one of the allowed values: "open", 2, null' },
      { path: ["kind"], message: 'must be equal to constant: "paid"' },
      { path: ["tags"], message: "must NOT have more than 2 characters" },
      { path: ["tags"], message: "property name must be valid: abc" },
      { path: ["rest"], message: "must NOT have unevaluated properties: b" },
      { path: ["a/b~c"], message: "must be integer" },
    ]);
    assert.match(check({ many: 1 })[0]?.message ?? "", /^must be .*: "value 0", .*…$/);
  });

  it("is made of any schema that JSON Schema allows: unknown keywords and formats are notes", (test) => {
    const warn = test.mock.method(console, "warn", () => undefined);
    const check = makeDataCheckCompiler()({
      "x-owner": "billing",
      properties: { at: { type: "string", format: "date-time" }, of: { format: "our-own" } },
      items: { minLength: 1 },
    });
    assert.deepEqual(check({ at: "yesterday", of: 1 }), []);
    assert.equal(warn.mock.callCount(), 0);
  });

  it("follows the rules of 2020-12", () => {
    const check = makeDataCheckCompiler()({
      prefixItems: [{ type: "string" }],
      items: false,
      dependentRequired: { a: ["b"] },
    });
    assert.equal(check(["a"]).length, 0);
    assert.equal(check(["a", "b"]).length, 1);
    assert.equal(check({ a: 1 }).length, 1);
  });

  it("is not made of what is no schema, or has another's name", () => {
    const compile = makeDataCheckCompiler();
    assert.throws(() => compile({ type: 7 }));
    assert.throws(() => compile({ $ref: "#/$defs/none" }));
    compile({ $id: "https://example.com/a" });
    assert.throws(() => compile({ $id: "https://example.com/a" }));
  });
});
