import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bundleSchema, resolveReference } from "./schema-references.ts";

const ref = (to: string) => ({ $ref: to });
/** A chain of so many references, the last one to a text. */
const chain = (length: number) =>
  Object.fromEntries(
    Array.from({ length: length + 1 }, (_, n) => [
      `s${n}`,
      n === length ? { end: true } : ref(`#/s${n + 1}`),
    ]),
  );

describe("a reference", () => {
  it("leads to a part of the document, over others too", () => {
    const document = { a: ref("#/b/c"), b: { c: ref("#/d") }, d: { type: "string" } };
    assert.deepEqual(resolveReference(document, document.a), { type: "string" });
    assert.equal(resolveReference(document, ref("#/d/type")), "string");
  });

  it("is none where a node has no text as $ref", () => {
    for (const node of [{ a: 1 }, { $ref: 7 }, [ref("#/a")], "#/a", null, undefined])
      assert.equal(resolveReference({}, node), node);
  });

  it("is a JSON Pointer, with each of its escapes", () => {
    const document = { "a/b": { "~c": { "ä ": 1 }, "~1": 2 }, list: [{ x: 3 }] };
    assert.equal(resolveReference(document, ref("#/a~1b/~0c/%C3%A4%20")), 1);
    assert.equal(resolveReference(document, ref("#/a~1b/~01")), 2);
    assert.equal(resolveReference(document, ref("#/list/0/x")), 3);
  });

  it("that leads out of the document, or nowhere, is a fault", () => {
    const document = { a: { b: null, text: "abc" } };
    for (const to of ["other.yaml#/a", "#a", "#", "https://example.com/#/a", ""])
      assert.throws(() => resolveReference(document, ref(to)), {
        message: `${to} is outside of the document`,
      });
    for (const to of ["#/b", "#/a/b/c", "#/a/toString", "#/a/text/0", "#/a/b/", "#/"])
      assert.throws(() => resolveReference(document, ref(to)), { message: `${to} leads nowhere` });
    assert.equal(resolveReference(document, ref("#/a/b")), null);
  });

  it("may lead over 19 others, and never around in a circle", () => {
    assert.deepEqual(resolveReference(chain(18), ref("#/s0")), { end: true });
    const message = "its references go around in a circle";
    assert.throws(() => resolveReference(chain(19), ref("#/s0")), { message });
    assert.throws(() => resolveReference({ a: ref("#/b"), b: ref("#/a") }, ref("#/a")), { message });
  });
});

describe("a bundled schema", () => {
  it("is the schema itself where it refers to nothing", () => {
    const schema = {
      type: "object",
      properties: { a: { items: [{ type: "string" }, true] } },
      required: ["a"],
    };
    assert.deepEqual(bundleSchema({}, schema), schema);
  });

  it("brings along what it refers to, each once, in its own definitions", () => {
    const document = {
      schemas: {
        Order: {
          properties: {
            lines: { type: "array", items: ref("#/schemas/Line") },
            first: ref("#/schemas/Line"),
          },
        },
        Line: { properties: { price: ref("#/schemas/Price") } },
        Price: { type: "integer" },
        Unused: { type: "null" },
      },
    };
    assert.deepEqual(bundleSchema(document, ref("#/schemas/Order")), {
      properties: { lines: { type: "array", items: ref("#/$defs/Line") }, first: ref("#/$defs/Line") },
      $defs: { Line: { properties: { price: ref("#/$defs/Price") } }, Price: { type: "integer" } },
    });
  });

  it("stays a reference where it says more than that, as one on the way does", () => {
    const document = {
      schemas: {
        Order: { properties: { id: { type: "string" } } },
        Paid: { ...ref("#/schemas/Order"), required: ["id"] },
      },
    };
    const { Order, Paid } = document.schemas;
    const $defs = { Order };
    const paid = { ...ref("#/$defs/Order"), required: ["id"] };
    assert.deepEqual(bundleSchema(document, Paid), { ...paid, $defs });
    assert.deepEqual(bundleSchema(document, ref("#/schemas/Paid")), { ...paid, $defs });
  });

  it("may refer to itself", () => {
    const document = { schemas: { Tree: { properties: { child: ref("#/schemas/Tree") } } } };
    const child = { properties: { child: ref("#/$defs/Tree") } };
    assert.deepEqual(bundleSchema(document, ref("#/schemas/Tree")), { ...child, $defs: { Tree: child } });
  });

  it("gives schemas of one name different ones, without characters that a pointer escapes", () => {
    const document = {
      a: { "x~y z": { type: "null" } },
      b: { n: { type: "string" } },
      c: { n: { type: "array" } },
      d: { n: { type: "object" } },
    };
    const references = ["#/a/x~0y%20z", "#/b/n", "#/c/n", "#/b/n", "#/d/n"];
    assert.deepEqual(bundleSchema(document, { anyOf: references.map(ref) }), {
      anyOf: ["x_0y_20z", "n", "n_2", "n", "n_3"].map((name) => ref(`#/$defs/${name}`)),
      $defs: {
        x_0y_20z: { type: "null" },
        n: { type: "string" },
        n_2: { type: "array" },
        n_3: { type: "object" },
      },
    });
  });

  it("keeps two of the same name apart, also where one refers to the other", () => {
    const document = {
      a: { Line: { properties: { of: ref("#/b/Line") } } },
      b: { Line: { type: "integer" } },
    };
    assert.deepEqual(bundleSchema(document, { items: ref("#/a/Line") }), {
      items: ref("#/$defs/Line"),
      $defs: { Line: { properties: { of: ref("#/$defs/Line_2") } }, Line_2: { type: "integer" } },
    });
  });

  it("keeps what looks like a reference and is data, and members that are named as keywords", () => {
    const data = {
      const: ref("#/a"),
      default: ref("#/a"),
      enum: [ref("#/a")],
      example: ref("#/a"),
      examples: [ref("#/a")],
    };
    assert.deepEqual(bundleSchema({}, data), data);
    const document = { a: { type: "null" } };
    for (const keyword of ["properties", "patternProperties", "dependentSchemas"]) {
      const { $defs, ...rest } = bundleSchema(document, {
        [keyword]: { enum: ref("#/a"), default: { not: ref("#/a") } },
      });
      assert.deepEqual(rest, { [keyword]: { enum: ref("#/$defs/a"), default: { not: ref("#/$defs/a") } } });
      assert.deepEqual($defs, { a: { type: "null" } });
    }
    // Where a keyword has no members, there is nothing by name.
    assert.deepEqual(bundleSchema({}, { properties: true }), { properties: true });
    assert.deepEqual(bundleSchema({}, { $ref: 7 }), { $ref: 7 });
  });

  it("has the definitions of the document in place of its own", () => {
    const own = { $defs: { a: { type: "null" } }, not: ref("#/schema/$defs/a") };
    assert.deepEqual(bundleSchema({ schema: own }, own), {
      not: ref("#/$defs/a"),
      $defs: { a: { type: "null" } },
    });
    const inner = (to: string) => ({ not: { $defs: { enum: ref(to) } } });
    assert.deepEqual(bundleSchema({ x: true }, inner("#/x")), { ...inner("#/$defs/x"), $defs: { x: true } });
    const kept = { definitions: { enum: ref("#/x") } };
    assert.deepEqual(bundleSchema({ x: true }, kept), {
      definitions: { enum: ref("#/$defs/x") },
      $defs: { x: true },
    });
  });

  it("is an object", () => {
    assert.throws(() => bundleSchema({ a: true }, ref("#/a")), { message: "its schema is no object" });
    assert.throws(() => bundleSchema({ a: [] }, ref("#/a")), { message: "its schema is no object" });
  });
});
