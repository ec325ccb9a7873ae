/** Event types from an OpenAPI document; the command is in test/catalog-command.test.ts. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { importWebhooks } from "./catalog-import.ts";

/** Places are named by their path. */
const placeOf = (path: readonly PropertyKey[]) => `FILE:${path.join("/")}`;

type Media = Record<string, unknown>;
type Operation = Record<string, unknown>;

const bodyOf = (media: Media) => ({ content: { "application/json": media } });
const webhook = (media: Media, more: Operation = {}) => ({ post: { requestBody: bodyOf(media), ...more } });

function imported(webhooks: Record<string, unknown>, more: object = {}) {
  return importWebhooks({ value: { webhooks, ...more }, placeOf });
}

function entryOf(media: Media, more: Operation = {}, name = "order.paid") {
  const { entries, notes } = imported({ [name]: webhook(media, more) });
  assert.equal(entries.length, 1);
  return { entry: entries[0], notes };
}

/** What is refused, a line for each webhook. */
function faultsOf(webhooks: unknown, more: object = {}): string[] {
  try {
    importWebhooks({ value: { webhooks, ...more }, placeOf });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split("\n");
  }
  return assert.fail("it was imported");
}

const PLAIN = { type: "order.paid", title: "order.paid", description: "", group: "Events", payloadShape: {} };
const EXAMPLE = { id: "o1" };

describe("a webhook of an OpenAPI document", () => {
  it("is a type by its name alone, and is told to lack an example", () => {
    assert.deepEqual(entryOf({}), {
      entry: PLAIN,
      notes: ["FILE:webhooks/order.paid: order.paid has no example: write its payloadShape"],
    });
  });

  it("says its title, its description, its first tag and whether it is deprecated", () => {
    const more = { summary: "Paid", description: "It was paid.", tags: ["Orders", "More"], deprecated: true };
    assert.deepEqual(entryOf({ example: EXAMPLE }, more), {
      entry: {
        ...PLAIN,
        title: "Paid",
        description: "It was paid.",
        group: "Orders",
        payloadShape: EXAMPLE,
        deprecated: true,
      },
      notes: [],
    });
    assert.deepEqual(entryOf({ example: EXAMPLE }, { tags: [], deprecated: false }).entry, {
      ...PLAIN,
      payloadShape: EXAMPLE,
    });
  });

  it("has the version of its name, which is not said of the first", () => {
    assert.deepEqual(entryOf({}, {}, "order.paid@2").entry, { ...PLAIN, title: "order.paid@2", version: 2 });
    assert.deepEqual(entryOf({}, {}, "order.paid@1").entry, { ...PLAIN, title: "order.paid@1" });
  });

  it("has the schema of its body, with what that refers to", () => {
    const schema = { type: "object", properties: { a: { $ref: "#/components/schemas/A" } } };
    const components = { schemas: { A: { type: "string" } } };
    const { entries } = imported({ "order.paid": webhook({ schema }) }, { components });
    assert.deepEqual(entries, [
      {
        ...PLAIN,
        schema: {
          type: "object",
          properties: { a: { $ref: "#/$defs/A" } },
          $defs: { A: { type: "string" } },
        },
      },
    ]);
  });

  it("may be elsewhere, and so may its body and its examples", () => {
    const { entries } = imported(
      { "order.paid": { $ref: "#/components/pathItems/Paid" } },
      {
        components: {
          pathItems: { Paid: { post: { requestBody: { $ref: "#/components/requestBodies/Paid" } } } },
          requestBodies: { Paid: bodyOf({ examples: { one: { $ref: "#/components/examples/One" } } }) },
          examples: { One: { value: EXAMPLE } },
        },
      },
    );
    assert.deepEqual(entries, [{ ...PLAIN, payloadShape: EXAMPLE }]);
  });
});

const shapeOf = (media: Media) => {
  const { entry, notes } = entryOf(media);
  return notes.length === 0 ? entry?.payloadShape : undefined;
};

const of = (name: string) => ({ name });

describe("the example of a webhook", () => {
  const schema = { example: of("schema's"), examples: ["no object", of("first"), of("second")] };
  const examples = { a: { value: "no object" }, b: { value: of("named") }, c: { value: of("next") } };

  it("is its own, else its first named one that is an object, else its schema's", () => {
    assert.deepEqual(shapeOf({ example: of("own"), examples, schema }), of("own"));
    assert.deepEqual(shapeOf({ examples, schema }), of("named"));
    assert.deepEqual(shapeOf({ examples: { a: "none" }, schema }), of("schema's"));
    assert.deepEqual(shapeOf({ schema }), of("schema's"));
    assert.deepEqual(shapeOf({ schema: { examples: schema.examples } }), of("first"));
  });

  it("is that of the schema to which its schema refers, where that says more", () => {
    const A = { example: of("referred") };
    const exampleOf = (more: object) => {
      const schema = { $ref: "#/components/schemas/A", required: ["name"], ...more };
      const { entries } = imported({ "order.paid": webhook({ schema }) }, { components: { schemas: { A } } });
      return entries[0]?.payloadShape;
    };
    assert.deepEqual(exampleOf({}), of("referred"));
    assert.deepEqual(exampleOf({ example: of("own") }), of("own"));
  });

  it("is missing where none of them is an object", () => {
    assert.equal(shapeOf({ schema: { examples: ["a", 1, null, []] } }), undefined);
    assert.equal(shapeOf({ schema: { example: "a" } }), undefined);
    assert.equal(shapeOf({ examples: { a: { value: [] }, b: {} } }), undefined);
  });
});

describe("an OpenAPI document that is refused", () => {
  it("has no webhooks", () => {
    for (const value of [{}, null, [], { webhooks: [] }, { webhooks: null }]) {
      assert.throws(() => importWebhooks({ value, placeOf }), {
        name: "ConfigError",
        message: "FILE:: the document has no webhooks",
      });
    }
    assert.deepEqual(imported({}), { entries: [], notes: [] });
  });

  it("is told every fault with its place, and nothing of it is imported", () => {
    const faults = faultsOf({
      "order paid": webhook({}),
      fine: webhook({}),
      a: { get: {} },
      b: { post: { summary: 1, requestBody: {} } },
      c: webhook({ schema: { type: 7 } }),
      d: webhook({ schema: { $ref: "#/none" } }),
    });
    const starts = [
      "order paid: order paid: type",
      "a: a: post ",
      "b: b: summary ",
      "c: c: schema is invalid",
      "d: d: #/none leads",
    ];
    assert.equal(faults.length, starts.length);
    for (const [index, start] of starts.entries())
      assert.ok(faults[index]?.startsWith(`FILE:webhooks/${start}`), faults[index]);
    assert.equal(
      faults[0],
      "FILE:webhooks/order paid: order paid: type must be dotted segments of letters, digits and underscores",
    );
  });

  it("has two webhooks that are the same version of a type", () => {
    const names = ["a.b", "a.b@2", "a.b@1", "c@1", "c"];
    assert.deepEqual(faultsOf(Object.fromEntries(names.map((name) => [name, webhook({})]))), [
      "FILE:webhooks/a.b@1: a.b@1 is version 1 of a.b, as is a.b: remove one, or give it another version",
      "FILE:webhooks/c: c is version 1 of c, as is c@1: remove one, or give it another version",
    ]);
  });

  it("tells all that is wrong with one webhook in one line", () => {
    const [fault, ...others] = faultsOf({ b: { post: { summary: 1, description: 2, requestBody: {} } } });
    assert.deepEqual(others, []);
    assert.match(fault ?? "", /^FILE:webhooks\/b: b: summary Invalid [^;]+; description Invalid [^;]+$/);
  });
});
