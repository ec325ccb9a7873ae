import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type * as z from "zod";
import { temporaryPath } from "../../test/support/temporary.ts";
import { jsonSchema } from "../api/json-schema.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { endpointInputSchemas, rotateInputSchema } from "./endpoint-input.ts";

const OPENAPI = join(import.meta.dirname, "../../docs/openapi.json");
const URL = "https://hooks.example.com/in";
const OWN_SECRET = "a-secret-of-the-tenants-own";

const { create, update } = endpointInputSchemas(await openCatalog(undefined));

/** What is refused, as callers are told: where, why, and by which kind of rule. */
function faultsOf(schema: z.ZodType, input: unknown): [path: string, message: string, code: string][] {
  const { error } = schema.safeParse(input);
  return (error?.issues ?? []).map(({ path, message, code }) => [path.join("."), message, code]);
}

/** The schemas of a catalog with these types. */
async function inputsWith(types: readonly { type: string; version?: number }[]) {
  const shown = { title: "T", description: "D", group: "G", payloadShape: {} };
  const file = temporaryPath("catalog.json");
  await writeFile(file, JSON.stringify(types.map((type) => ({ ...shown, ...type }))));
  return endpointInputSchemas(await openCatalog(file));
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}`);
const headersOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "v"]));
/** Metadata of so many bytes as JSON, with a letter of two bytes and one that JSON escapes. */
const metadataOf = (bytes: number) => ({ ö: `"${"x".repeat(bytes - '{"ö":"\\""}'.length - 1)}` });

describe("the input of an endpoint", () => {
  const accepted: [string, Record<string, unknown>][] = [
    ["a description of 500", { description: "ü".repeat(500) }],
    ["no description", { description: null }],
    ["a rate of 1", { rate_limit: 1 }],
    ["a rate of 1,000", { rate_limit: 1000 }],
    ["no rate limit of its own", { rate_limit: null }],
    ["20 headers, all of them masked", { headers: headersOf(many(20)), masked_headers: many(20) }],
    ["a header value of 1,024", { headers: { "X-A": "v".repeat(1024) } }],
    ["metadata of 4,096 bytes", { metadata: metadataOf(4096) }],
    ["both patterns of a type", { events: ["invoice.paid", "invoice.*", "*", "invoice.paid@1"] }],
  ];
  for (const [name, input] of accepted) {
    it(`may have ${name}, on create and on update`, () => {
      assert.deepEqual(update.parse(input), input);
      assert.deepEqual(create.parse({ url: URL, ...input }), { url: URL, ...input });
    });
  }

  const refused: [string, Record<string, unknown>, [path: string, message: string | RegExp][]][] = [
    [
      "a pattern of 260",
      { events: ["a".repeat(260)] },
      [
        ["events.0", /259/],
        ["events.0", "unknown_event_type"],
      ],
    ],
    ["text that is no pattern", { events: ["invoice.*.*"] }, [["events.0", "unknown_event_type"]]],
    ["an unknown type", { events: ["*", "nope"] }, [["events.1", "unknown_event_type"]]],
    ["one pattern twice", { events: ["*", "*"] }, [["events", "must be unique"]]],
    ["NUL", { description: "a\u0000" }, [["description", "must not contain NUL"]]],
    ["half a character", { description: "\uD800" }, [["description", "must be well-formed Unicode"]]],
    ["a description of 501", { description: "ü".repeat(501) }, [["description", /500/]]],
    ["a rate of 0", { rate_limit: 0 }, [["rate_limit", />=1/]]],
    ["a rate of 1,001", { rate_limit: 1001 }, [["rate_limit", /<=1000/]]],
    ["21 headers", { headers: headersOf(many(21)) }, [["headers", "must be at most 20 headers"]]],
    ["21 masked names", { masked_headers: many(21) }, [["masked_headers", /<=20/]]],
    [
      "a header value of 1,025",
      { headers: { "X-A": "v".repeat(1025) } },
      [
        ["headers.X-A", /<=1024/],
        ["headers.X-A", "value_too_long"],
      ],
    ],
    ["a reserved header", { headers: { "X-A": "v", Host: "x" } }, [["headers.Host", "reserved_name"]]],
    ["a line break in a header", { headers: { "X-A": "a\nb" } }, [["headers.X-A", "value_syntax"]]],
    [
      "a header in two cases",
      { headers: { "X-A": "1", "X-B": "1", "x-a": "2" } },
      [["headers.x-a", "is given twice, in different case"]],
    ],
    [
      "a masked name that no header may have",
      { masked_headers: ["X-A", "a b"] },
      [["masked_headers.1", "name_syntax"]],
    ],
    [
      "a masked name in two cases",
      { masked_headers: ["X-A", "x-A"] },
      [["masked_headers.1", "is given twice, in different case"]],
    ],
    [
      "metadata of 4,097 bytes",
      { metadata: metadataOf(4097) },
      [["metadata", "must be at most 4096 bytes as JSON"]],
    ],
    ["NUL in metadata", { metadata: { a: "\u0000" } }, [["metadata.a", "must not contain NUL"]]],
  ];
  for (const [name, input, expected] of refused) {
    it(`must not have ${name}, on create and on update`, () => {
      for (const found of [faultsOf(update, input), faultsOf(create, { url: URL, ...input })]) {
        assert.deepEqual(
          found.map(([path]) => path),
          expected.map(([path]) => path),
        );
        for (const [index, [, message]] of expected.entries()) {
          if (typeof message === "string") assert.deepEqual(found[index]?.slice(1), [message, "custom"]);
          else assert.match(found[index]?.[1] ?? "", message);
        }
      }
    });
  }

  it("names one version of a type at most", async () => {
    const { update: ofTwo } = await inputsWith([1, 2].map((version) => ({ type: "order.paid", version })));
    for (const events of [["order.paid@1"], ["order.paid@2", "order.paid", "order.*"]])
      assert.deepEqual(faultsOf(ofTwo, { events }), []);
    assert.deepEqual(faultsOf(ofTwo, { events: ["order.paid@1", "order.paid@2"] }), [
      ["events", "must name one version of a type", "custom"],
    ]);
  });

  it("has from one to 200 patterns", async () => {
    const types = Array.from({ length: 201 }, (_, n) => `type_${n}`);
    const { update: ofMany } = await inputsWith(types.map((type) => ({ type })));
    for (const count of [1, 200]) assert.deepEqual(faultsOf(ofMany, { events: types.slice(0, count) }), []);
    for (const count of [0, 201]) {
      const found = faultsOf(ofMany, { events: types.slice(0, count) });
      assert.deepEqual(
        found.map(([path]) => path),
        ["events"],
      );
    }
  });

  it("needs a URL on create alone", () => {
    assert.deepEqual(update.parse({}), {});
    assert.deepEqual(
      faultsOf(create, {}).map(([path]) => path),
      ["url"],
    );
  });

  it("may be temporary on create alone, and must be pull then", () => {
    const fault = ["mode", "must be pull for a temporary endpoint", "custom"];
    assert.deepEqual(faultsOf(create, { url: URL, temporary: true }), [fault]);
    assert.deepEqual(faultsOf(create, { url: URL, temporary: true, mode: "push" }), [fault]);
    for (const input of [
      { temporary: true, mode: "pull" },
      { temporary: false, mode: "push" },
      { mode: "push" },
    ])
      assert.deepEqual(create.parse({ url: URL, ...input }), { url: URL, ...input });
    assert.deepEqual(update.parse({ temporary: true }), {});
  });
});

describe("a secret of the tenant's own", () => {
  it("is taken on create and by a rotation, and told why not", () => {
    for (const secret of [OWN_SECRET, null]) {
      assert.deepEqual(create.parse({ url: URL, secret }), { url: URL, secret });
      assert.deepEqual(rotateInputSchema.parse({ secret }), { grace_seconds: 0, secret });
    }
    const fault = ["secret", "is too easy to guess: make it of random bytes", "custom"];
    assert.deepEqual(faultsOf(create, { url: URL, secret: "a".repeat(16) }), [fault]);
    assert.deepEqual(faultsOf(rotateInputSchema, { secret: "a".repeat(16) }), [fault]);
  });
});

describe("the input of a rotation", () => {
  it("is a grace period from none to seven days, none if it is absent", () => {
    assert.equal(rotateInputSchema.parse(null), null);
    assert.deepEqual(rotateInputSchema.parse({}), { grace_seconds: 0 });
    for (const grace_seconds of [0, 604_800])
      assert.deepEqual(rotateInputSchema.parse({ grace_seconds }), { grace_seconds });
    for (const grace_seconds of [-1, 604_801, 1.5, "1", null])
      assert.deepEqual(
        faultsOf(rotateInputSchema, { grace_seconds }).map(([path]) => path),
        ["grace_seconds"],
      );
  });
});

it("what may be sent is what the API document says", async () => {
  const { components } = Object(JSON.parse(await readFile(OPENAPI, "utf8")));
  const made = [create, update, rotateInputSchema].map((schema) => jsonSchema(schema, "input"));
  const { CreateEndpointRequest, UpdateEndpointRequest, RotateSecretRequest } = components.schemas;
  assert.deepEqual(made, [CreateEndpointRequest, UpdateEndpointRequest, RotateSecretRequest]);
});
