/** The schemas by which callers are judged and answered are those of docs/openapi.json. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { endpointLogQuery, tenantLogQuery } from "./delivery-query.ts";
import { eventAnswer, eventsAnswer, eventsQuery, sendInput, sentAnswer } from "./event-schemas.ts";
import * as examples from "./examples.ts";
import { jsonSchema } from "./json-schema.ts";
import { componentSchemas, openApiHead, receivedRequests } from "./openapi-head.ts";
import { codeAnswer, codeInput, openInput, portalTokenExample, tokenExample } from "./portal-schemas.ts";
import { ackInput, leaseInput } from "./pull-schemas.ts";
import { replayInput, replaysQuery } from "./replay-schemas.ts";
import { secretObject } from "./schemas.ts";
import { sessionExample } from "./session-schemas.ts";
import {
  causesAnswer,
  causesExample,
  endpointsAnswer,
  endpointsExample,
  overTimeAnswer,
  overTimeExample,
} from "./stats-schemas.ts";
import {
  downloadInput,
  erasedObject,
  exportInput,
  exportsQuery,
  heldObject,
  libraryQuery,
} from "./storage-schemas.ts";
import { actInput, eraseQuery, erasureExample, tenantExample, tenantsQuery } from "./tenant-schemas.ts";

const OPENAPI = join(import.meta.dirname, "../../docs/openapi.json");

const media = z.looseObject({
  schema: z.looseObject({ $ref: z.string().optional() }),
  example: z.unknown().optional(),
});
const content = z.looseObject({ content: z.record(z.string(), media).optional() });
const link = z.object({ operationId: z.string(), parameters: z.record(z.string(), z.string()) });
const answer = content.extend({ links: z.record(z.string(), link).default({}) });
const parameter = z.looseObject({ name: z.string(), in: z.string() });
const operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(parameter).default([]),
  requestBody: content.optional(),
  responses: z.record(z.string(), answer),
});
const committed = z
  .looseObject({
    components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
    paths: z.record(z.string(), z.record(z.string(), operation)),
  })
  .parse(JSON.parse(readFileSync(OPENAPI, "utf8")));

const operations = Object.values(committed.paths).flatMap((item) => Object.values(item));

function find(operationId: string): z.infer<typeof operation> {
  const found = operations.find((one) => one.operationId === operationId);
  assert.ok(found !== undefined);
  return found;
}

/** Of a body or an answer: what its name stands for, with the example beside it. */
function schemaIn(place: z.infer<typeof content> | undefined, hasExample: boolean): unknown {
  const { schema, example } = place?.content?.["application/json"] ?? {};
  const name = schema?.$ref?.split("/").at(-1);
  const found = name === undefined ? schema : committed.components.schemas[name];
  return hasExample ? { ...found, examples: [example] } : found;
}

function asJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

/** As the document's generator writes it. */
function queryParameter(
  name: string,
  { description, examples, const: only, ...schema }: z.infer<typeof property>,
) {
  const shown = examples?.map((value) => [value, { value }]);
  return {
    name,
    in: "query",
    required: false,
    schema: { ...schema, ...(only !== undefined && { enum: [only] }) },
    ...(description !== undefined && { description }),
    ...(shown !== undefined && { examples: Object.fromEntries(shown) }),
  };
}

const property = z.looseObject({
  description: z.string().optional(),
  examples: z.array(z.string()).optional(),
});

const BODIES = {
  acknowledgeEvents: ackInput,
  actForTenant: actInput,
  createExport: exportInput,
  createPortalCode: codeInput,
  createReplay: replayInput,
  downloadArtifact: downloadInput,
  leaseEvents: leaseInput,
  openPortalSession: openInput,
  sendEvent: sendInput,
};

const QUERIES = {
  eraseTenant: eraseQuery,
  listArtifacts: libraryQuery,
  listDeliveries: endpointLogQuery,
  listEvents: eventsQuery,
  listExports: exportsQuery,
  listReplays: replaysQuery,
  listTenants: tenantsQuery,
  searchDeliveries: tenantLogQuery,
};

const ANSWERS = {
  createPortalCode: codeAnswer,
  eraseArtifact: erasedObject,
  getEndpointStats: endpointsAnswer,
  getEvent: eventAnswer,
  getFailureCauses: causesAnswer,
  getStats: overTimeAnswer,
  holdArtifact: heldObject,
  listEvents: eventsAnswer,
  rotateSecret: z.object({ secret: secretObject }),
  sendEvent: sentAnswer,
};

const BODIES_WITH_EXAMPLE = new Set(["actForTenant", "openPortalSession", "sendEvent"]);
const ANSWERS_WITH_EXAMPLE = new Set(["createPortalCode", "getEvent", "listEvents", "sendEvent"]);

/** All values that are shown anywhere as an example. */
function examplesIn(node: unknown): unknown[] {
  if (typeof node !== "object" || node === null) return [];
  const { example, examples = {}, ...rest } = Object(node);
  const several = Object.values(examples).map((one) => Object(one).value);
  return [
    ...(example === undefined ? [] : [example]),
    ...several,
    ...Object.values(rest).flatMap(examplesIn),
  ];
}

describe("docs/openapi.json", () => {
  for (const [operationId, schema] of Object.entries(BODIES)) {
    it(`has the body of ${operationId}`, () => {
      const made = asJson(jsonSchema(schema, "input"));
      assert.deepEqual(made, schemaIn(find(operationId).requestBody, BODIES_WITH_EXAMPLE.has(operationId)));
    });
  }

  for (const [operationId, schema] of Object.entries(QUERIES)) {
    it(`has the query of ${operationId}`, () => {
      const made = asJson(jsonSchema(schema, "input"))["properties"];
      const properties = Object.entries(z.record(z.string(), property).parse(made));
      const found = find(operationId).parameters.filter((one) => one.in === "query");
      assert.deepEqual(
        properties.map(([name, one]) => queryParameter(name, one)),
        found,
      );
    });
  }

  for (const [operationId, schema] of Object.entries(ANSWERS)) {
    it(`has the answer of ${operationId}`, () => {
      const made = asJson(jsonSchema(schema, "output"));
      const answer = Object.entries(find(operationId).responses).find(([status]) => status.startsWith("2"));
      assert.deepEqual(made, schemaIn(answer?.[1], ANSWERS_WITH_EXAMPLE.has(operationId)));
    });
  }

  it("has the objects that several routes share", () => {
    const made = componentSchemas();
    const found = Object.keys(made).map((name) => [name, committed.components.schemas[name]]);
    assert.deepEqual(asJson(made), Object.fromEntries(found));
  });

  it("links from answers to operations, by ids that the answers have", () => {
    const answers = operations.flatMap(({ responses }) => Object.values(responses));
    const linked = answers.flatMap(({ links, content: { "application/json": body } = {} }) =>
      Object.values(links).map(({ operationId, parameters }) => ({ operationId, parameters, body })),
    );
    assert.ok(linked.length > 0);
    for (const { operationId, parameters, body } of linked) {
      const wanted = find(operationId).parameters.filter((one) => one.in === "path");
      assert.deepEqual(
        Object.keys(parameters),
        wanted.map(({ name }) => name),
      );
      for (const place of Object.values(parameters)) {
        const names = /^\$response\.body#\/(.*)$/.exec(place)?.[1]?.split("/") ?? assert.fail(place);
        const id = names.reduce<unknown>((part, name) => Object(part)[name], body?.example);
        assert.equal(typeof id, "string", `${operationId}: ${place}`);
      }
    }
  });

  it("has the head, and the requests that receivers get", () => {
    const { components, ...head } = openApiHead("").openapi;
    const { info, openapi, servers, tags, webhooks } = Object(committed);
    assert.deepEqual(head, { info, openapi, servers, tags, webhooks: {} });
    assert.deepEqual(components.securitySchemes, committed.components["securitySchemes"]);
    assert.deepEqual(asJson(receivedRequests()), webhooks);
  });

  it("shows every example, and those of paths with what they are", () => {
    const { PATH_EXAMPLES, secretExample, ...whole } = examples;
    const shown = examplesIn(committed);
    const named = {
      ...whole,
      portalTokenExample,
      tokenExample,
      sessionExample,
      erasureExample,
      tenantExample,
    };
    const ofStats = { causesExample, endpointsExample, overTimeExample };
    for (const [name, example] of Object.entries({ ...named, ...ofStats })) {
      assert.ok(Object.keys(example).length > 0, name);
      const isShown = (value: unknown) => isDeepStrictEqual(Object(value), example);
      const isIn = (value: unknown) => [value, ...Object.values(Object(value))].flat().some(isShown);
      assert.ok(shown.some(isIn), name);
    }
    assert.ok(shown.some((value) => Object(value).secret === secretExample));
    const inPaths = operations.flatMap(({ parameters }) => parameters.filter((one) => one.in === "path"));
    for (const [name, { about, example }] of Object.entries(PATH_EXAMPLES)) {
      const found = inPaths.filter((one) => one.name === name);
      assert.ok(found.length > 0);
      for (const one of found) assert.deepEqual([one["description"], one["example"]], [about, example]);
    }
  });
});
