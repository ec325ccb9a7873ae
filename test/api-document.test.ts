/** The OpenAPI document: complete for readers and for generators of clients, and in step with the routes. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod";
import { describeApi } from "../src/service/service.ts";
import { lintWithSpectral, prepareApiTools } from "./support/api-tools.ts";

const ROOT = dirname(import.meta.dirname);
const OPENAPI = join(ROOT, "docs", "openapi.json");

const HOW = "describeRoute in src/api/openapi.ts takes it, and docs/how-to/add-a-route.md says how";

const example = z.looseObject({ value: z.unknown().optional(), $ref: z.string().optional() });
const media = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), example).optional(),
});
const content = z.looseObject({
  content: z.record(z.string(), media).optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
});
const operationSchema = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  security: z.array(z.unknown()).optional(),
  parameters: z
    .array(z.looseObject({ name: z.string().optional(), description: z.string().optional() }))
    .optional(),
  requestBody: content.optional(),
  responses: z.record(z.string(), content),
});
const documentSchema = z.looseObject({
  info: z.object({ description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  webhooks: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ examples: z.record(z.string(), z.object({ value: z.unknown() })) }),
});

type Operation = z.infer<typeof operationSchema>;

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/,
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  },
});
let document: z.infer<typeof documentSchema>;
let operations: [where: string, operation: Operation][];

before(async () => {
  const written = await describeApi();
  document = documentSchema.parse(written);
  ajv.addSchema({ ...Object(written), $id: "api" });
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
});

/** What a reader of the operation would miss. */
function missing(operation: Operation, tags: readonly string[]): string[] {
  const { operationId, summary = "", description = "", security } = operation;
  return [
    ...(/^[a-z][a-zA-Z]+$/.test(operationId ?? "") ? [] : ["an operationId of its own, as createEndpoint"]),
    ...(/^[A-Z].{5,120}[^.]$/.test(summary) ? [] : ["a summary of one line, without a full stop"]),
    ...(/^[^ ].{30,}\.$/s.test(description) ? [] : ["a description in sentences"]),
    ...(operation.tags?.length === 1 && tags.includes(operation.tags[0] ?? "") ? [] : ["a tag of TAGS"]),
    ...(security === undefined ? ["security, which is [] for a public route"] : []),
    ...places(operation).flatMap(([place, shown]) => (shown.length > 0 ? [] : [`an example of ${place}`])),
  ];
}

/** The body and each answer that has content, with the examples there. */
function places(operation: Operation): [place: string, shown: { schema: unknown; value: unknown }[]][] {
  const all = [["the body", operation.requestBody] as const, ...Object.entries(operation.responses)];
  return all.flatMap(([place, { content = {} } = {}]) =>
    Object.values(content).map((one): [string, { schema: unknown; value: unknown }[]] => [
      place === "the body" ? place : `the answer ${place}`,
      valuesOf(one).map((value) => ({ schema: one.schema, value })),
    ]),
  );
}

function valuesOf(one: z.infer<typeof media>): unknown[] {
  const named = Object.values(one.examples ?? {}).map(({ value, $ref }) =>
    $ref === undefined ? value : document.components.examples[$ref.split("/").at(-1) ?? ""]?.value,
  );
  return one.example === undefined ? named : [one.example, ...named];
}

/** Why a value does not fit its schema; empty when it does. */
function faults(schema: unknown, value: unknown): string[] {
  const anchored: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
  const validate = ajv.compile(Object(anchored));
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

describe("each operation of the document", () => {
  it("has operationId, summary, description, tag, security and examples", () => {
    assert.ok(operations.length >= 28, `${operations.length} operations`);
    const tags = document.tags.map(({ name }) => name);
    const wanting = operations.flatMap(([where, operation]) =>
      missing(operation, tags).map((what) => `${where} wants ${what}: ${HOW}`),
    );
    assert.deepEqual(wanting, []);
  });

  it("has an operationId that no other has", () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });

  it("says how a list with a limit goes on: a Link, or the library's next", () => {
    const paged = operations.filter(
      ([where, { parameters = [] }]) =>
        where.startsWith("GET ") && parameters.some((one) => one.name === "limit"),
    );
    const wanting = paged.filter(([, { responses }]) => responses["200"]?.headers?.["Link"] === undefined);
    assert.deepEqual(
      wanting.map(([where]) => where),
      ["GET /api/storage/library"],
    );
    assert.ok(paged.length >= 8, `${paged.length} lists`);
  });

  it("says by Retry-After when to come again, in each refusal of the API that passes", () => {
    const passing = operations.flatMap(([where, { responses }]) =>
      where.includes(" /api/")
        ? Object.entries(responses).filter(([status]) => ["429", "503"].includes(status))
        : [],
    );
    assert.ok(passing.length >= 60, `${passing.length} refusals`);
    assert.ok(passing.every(([, { headers }]) => headers?.["Retry-After"] !== undefined));
  });

  it("shows only examples that fit their schemas", () => {
    const wrong = operations.flatMap(([where, operation]) =>
      places(operation).flatMap(([place, shown]) =>
        shown.flatMap(({ schema, value }) =>
          faults(schema, value).map((why) => `${where}, ${place}: ${why}: ${HOW}`),
        ),
      ),
    );
    assert.deepEqual(wrong, []);
  });

  it("shows an example or a list of them, and not both", () => {
    const wrong = operations.flatMap(([where, { requestBody, responses }]) =>
      [requestBody, ...Object.values(responses)]
        .flatMap((one) => Object.values(one?.content ?? {}))
        .filter(
          (one) => one.examples !== undefined && ("example" in one || Object.keys(one.examples).length === 0),
        )
        .map(() => where),
    );
    assert.deepEqual(wrong, []);
  });

  it("describes each parameter in words of its own, as each webhook does its headers", () => {
    const wrong = [...Object.values(document.paths), ...Object.values(document.webhooks)]
      .flatMap((item) => Object.values(item))
      .flatMap(({ parameters = [] }) => {
        const texts = parameters.map(({ description }) => description).filter((text) => text !== undefined);
        return texts.filter((text, place) => texts.indexOf(text) !== place);
      });
    assert.deepEqual(wrong, []);
  });

  it("names the schema of its JSON body, and of each answer that is no list", () => {
    const nameless = operations.flatMap(([where, operation]) =>
      [["body", operation.requestBody] as const, ...Object.entries(operation.responses)].flatMap(
        ([place, one]) => {
          const schema = one?.content?.["application/json"]?.schema;
          const isNamed = schema === undefined || "$ref" in Object(schema) || Object(schema).type === "array";
          return isNamed ? [] : [`${where} ${place}`];
        },
      ),
    );
    assert.deepEqual(nameless, []);
  });

  it("is found wanting where something is absent, and a false example is found", () => {
    const route: Operation = {
      summary: "Show a thing.",
      tags: ["Things"],
      requestBody: { content: { "application/json": { schema: {} } } },
      responses: { 200: { content: { "application/json": { schema: {}, example: 1 } } } },
    };
    assert.deepEqual(missing(route, ["Endpoints"]), [
      "an operationId of its own, as createEndpoint",
      "a summary of one line, without a full stop",
      "a description in sentences",
      "a tag of TAGS",
      "security, which is [] for a public route",
      "an example of the body",
    ]);
    const error = { $ref: "#/components/schemas/Error" };
    assert.deepEqual(faults(error, { error: "Not found" }), []);
    assert.match(faults(error, { erorr: "Not found" }).join(), /must have required property 'error'/);
    assert.equal(faults({ type: "string", format: "date-time" }, "yesterday").length, 1);
  });
});

/** The introduction's parts and what each must say. */
const PARTS: Record<string, readonly string[]> = {
  Tokens: ["`Authorization: Bearer …`", "`type`", "`tid`", "`role`", "`permissions`", "401", "403"],
  "Publishing and idempotency": ["202", "24 hours", "409", "Send the same event with the same key again"],
  Retries: ["2xx within 15 seconds", "`webhook-id`", "at least once", "`Retry-After`", "410"],
  Pages: ["`limit`", '`rel="next"`', "newest first"],
  Limits: ["1 MiB", "429", "`Retry-After`", "`RateLimit`"],
  Errors: ["`error`", "`issues`", "`X-Request-Id`", "503"],
};

describe("the introduction of the document", () => {
  let parts: Map<string, string>;

  before(() => {
    const [, ...written] = document.info.description.split(/^## /m);
    parts = new Map(
      written.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n"))]),
    );
  });

  it("says how to call the API: tokens, idempotency, retries, pages, limits and errors", () => {
    for (const [heading, words] of Object.entries(PARTS))
      for (const word of words)
        assert.ok(parts.get(heading)?.includes(word), `"${heading}" does not say ${word}`);
  });

  it("says what to do about each status that refuses a request", () => {
    const refusals = operations
      .flatMap(([, { responses }]) => Object.keys(responses))
      .filter((s) => s >= "400");
    assert.ok(refusals.length > 0);
    const rows =
      parts
        .get("Errors")
        ?.match(/^\| [^|]+ \|/gm)
        ?.join() ?? "";
    const untold = new Set(refusals.filter((status) => !rows.includes(status)));
    assert.deepEqual([...untold], []);
  });
});

describe("docs/openapi.json", () => {
  it("is without fault for Redocly's linter", async () => {
    const linter = join(ROOT, "node_modules", ".bin", "redocly");
    // It must ask nobody for news of itself.
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const run = promisify(execFile)(process.execPath, [linter, "lint", OPENAPI], { env });
    assert.match((await run).stderr, /description is valid/);
  });

  it("is without fault for Spectral, which finds one where there is one", async () => {
    await prepareApiTools();
    assert.equal(await lintWithSpectral(OPENAPI), "");
    const folder = await mkdtemp(join(tmpdir(), "postern-document-"));
    const faulty = join(folder, "openapi.json");
    const { paths, ...rest } = Object(JSON.parse(await readFile(OPENAPI, "utf8")));
    delete paths["/health"].get.description;
    await writeFile(faulty, JSON.stringify({ ...rest, paths }));
    assert.match(await lintWithSpectral(faulty), /^paths\.\/health\.get: .*\(operation-description\)$/m);
    await rm(folder, { recursive: true });
  });
});
