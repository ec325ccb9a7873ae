/** The OpenAPI document: written from the schemas that validate and the table of refusals that answers. */
import type { FastifyInstance, FastifySchema } from "fastify";
import { z } from "zod";
import type { RefusalCode } from "../shared/refusal.ts";
import { VERSION } from "../shared/version.ts";
import { ANSWERS } from "./error-answers.ts";
import {
  auditObject,
  catalogEntryObject,
  deliveryObject,
  endpointObject,
  errorObject,
  listedDeliveryObject,
  publishedObject,
} from "./schemas.ts";
import { artifactObject, exportObject, settingsObject } from "./storage-schemas.ts";

type RouteDescription = {
  operationId: string;
  tag:
    | "Event types"
    | "Endpoints"
    | "Deliveries"
    | "Statistics"
    | "Events"
    | "Storage"
    | "Audit"
    | "Operations";
  summary: string;
  description?: string;
  params?: readonly string[];
  query?: z.ZodType;
  body?: z.ZodType;
  answers: Readonly<Record<number, z.ZodType>>;
  /** Headers of the successful answer, and what each says. */
  headers?: Readonly<Record<string, string>>;
  /** The route's own refusals; those that every route behind a session has are added. */
  refusals?: readonly RefusalCode[];
  /** True for a route without a session. */
  isPublic?: boolean;
  /** Of an answer that is no JSON. */
  mediaType?: string;
  /** In place of the session: the security schemes of which one lets a caller in. */
  security?: readonly Readonly<Record<string, readonly string[]>>[];
};

/** What a status means wherever the answer is no refusal. */
const MEANINGS: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted: committed to the database.",
  503: "Not ready: the reasons.",
};

// Too many: of the tenant where the route has a limit, else of failed authentications.
const SESSION_REFUSALS: readonly RefusalCode[] = [
  "unauthorized",
  "forbidden",
  "too_many_requests",
  "unavailable",
];

const REASON_HEADERS = {
  "WWW-Authenticate": { type: "string", description: "Why, as in RFC 6750: `error_description`." },
} as const;

const LIMIT_HEADERS = {
  "Retry-After": { type: "integer", description: "Seconds to wait." },
  "RateLimit-Policy": {
    type: "string",
    description:
      'The limit that was reached, for example `"writes";q=1200;w=60`. Not when events are refused.',
  },
  RateLimit: { type: "string", description: "What is left of it, and when more is." },
} as const;

/** What Fastify keeps of a route for the document. Validation itself is the handler's, in the order it needs. */
export function describeRoute(route: RouteDescription): FastifySchema {
  const refusals = [
    ...(route.isPublic === true ? [] : SESSION_REFUSALS),
    ...(route.body === undefined ? [] : (["payload_too_large"] as const)),
    ...(route.refusals ?? []),
  ];
  const { params = [], security = route.isPublic === true ? [] : [{ session: [] }] } = route;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security,
    ...(params.length === 0 ? {} : { params: pathParameters(params) }),
    ...(route.query === undefined ? {} : { querystring: jsonSchema(route.query, "input") }),
    ...(route.body === undefined ? {} : { body: jsonSchema(route.body, "input") }),
    response: { ...refusalAnswers(refusals), ...successAnswers(route) },
  };
}

/** Where an id that an answer gave can go next: operations by name, with their parameters from the answer. */
export function linksTo(
  operationIds: readonly string[],
  parameters: Readonly<Record<string, string>>,
): Record<string, { operationId: string; parameters: Readonly<Record<string, string>> }> {
  return Object.fromEntries(operationIds.map((operationId) => [operationId, { operationId, parameters }]));
}

function pathParameters(names: readonly string[]) {
  const about: Record<string, string> = {
    id: "An endpoint's id.",
    did: "A delivery's id.",
    object_id: "An artifact's id.",
    export_id: "An export's id.",
  };
  const properties = names.map((name) => [name, { type: "string", description: about[name] }]);
  return { type: "object", properties: Object.fromEntries(properties), required: names };
}

function successAnswers({ answers, headers = {}, mediaType }: RouteDescription) {
  const named = Object.entries(headers).map(([name, description]) => [name, { type: "string", description }]);
  const told = named.length === 0 ? {} : { headers: Object.fromEntries(named) };
  return Object.fromEntries(
    Object.entries(answers).map(([status, zodSchema]) => {
      const description = MEANINGS[Number(status)];
      const schema = jsonSchema(zodSchema, "output");
      if (mediaType === undefined) return [status, { ...schema, description, ...told }];
      return [status, { description, content: { [mediaType]: { schema } } }];
    }),
  );
}

/** One answer a status; its description lists every text that `error` may hold. */
function refusalAnswers(refusals: readonly RefusalCode[]) {
  const texts = new Map<number, string[]>();
  for (const refusal of refusals) {
    const { status, error } = ANSWERS[refusal];
    texts.set(status, [...(texts.get(status) ?? []), error]);
  }
  const entries = [...texts].map(([status, errors]) => [
    status,
    {
      ...jsonSchema(errorObject, "output"),
      description: errors.join("; "),
      ...headersOf(status),
    },
  ]);
  return Object.fromEntries(entries);
}

function headersOf(status: number): { headers?: object } {
  if (status === ANSWERS.too_many_requests.status) return { headers: LIMIT_HEADERS };
  const tellsWhy = status === ANSWERS.unauthorized.status || status === ANSWERS.forbidden.status;
  return tellsWhy ? { headers: REASON_HEADERS } : {};
}

type JsonSchema = { $defs?: Record<string, JsonSchema>; [keyword: string]: unknown };

/** JSON Schema of a Zod schema, where an object with a name of its own is a reference to the components. */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, $defs: _named, ...rest } = toJsonSchema(schema, io);
  return rest;
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ jsonSchema }) {
      // Zod spells a format out as a pattern of hundreds of characters, which tells a reader nothing more.
      if (jsonSchema.format !== undefined || jsonSchema.type === "integer") delete jsonSchema.pattern;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (io === "output" && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const text = JSON.stringify(made, (_name, value: unknown) => withAlternatives(value));
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** Generators of clients know alternatives, and few know a list of types. A type or null is known to all. */
function withAlternatives(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("type" in value) || !Array.isArray(value.type))
    return value;
  if (value.type.includes("null")) return value;
  const { type: types, ...rest } = value;
  return { ...rest, anyOf: types.map((type: unknown) => ({ type })) };
}

/** The named objects, as the document's components. */
function components(): Record<string, object> {
  const named = {
    Endpoint: endpointObject,
    Delivery: deliveryObject,
    ListedDelivery: listedDeliveryObject,
    EventType: catalogEntryObject,
    AuditEntry: auditObject,
    PublishedEvent: publishedObject,
    Artifact: artifactObject,
    Export: exportObject,
    StorageSettings: settingsObject,
    Error: errorObject,
  };
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      const { $defs = {} } = toJsonSchema(z.object({ it: schema }), "output");
      return [name, { ...$defs[name] }];
    }),
  );
}

/** The finished document. Fastify writes the collection's path with a slash, which nobody types. */
export function openApiDocument(app: FastifyInstance): unknown {
  const document = app.swagger();
  const paths = Object.entries(document.paths ?? {});
  return {
    ...document,
    paths: Object.fromEntries(paths.map(([path, item]) => [path.replace(/(.)\/$/, "$1"), item])),
  };
}

const INTRODUCTION = `Webhook endpoints, deliveries and events of a multi-tenant application.

**Tokens.** Every route below \`/api\` takes a session token (JWT) as \`Authorization: Bearer …\`. A tenant's user has \`type: user\`, \`tid\` and \`role\`; a backend that publishes has \`type: service\` and the permission \`events:write\`. A token reaches its own tenant alone: an id of another's is 404.

**Errors.** A refusal is JSON with \`error\`, and \`issues\` (path, message, code) where a body or query is wrong. A refused request changes nothing. 503 has \`Retry-After\`.

**Idempotency.** An event's \`id\` is its idempotency key: the same key with the same type and data answers with the first event, with other content it is 409. After a timeout or a 503 on publishing, send the same event with the same key again.

**Pages.** Lists are newest first. A \`Link\` header leads to the next page, and is absent on the last.

**Limits.** Changes, and tests and retries, are limited for each tenant and minute; 429 has \`Retry-After\` and the \`RateLimit\` headers.

**Retries.** Postern sends an event again by its schedule until a receiver answers 2xx. What receivers get is described under webhooks.`;

/** The head of the document, and what receivers get. */
export function openApiHead(basePath: string) {
  return {
    openapi: {
      openapi: "3.1.0" as const,
      info: {
        title: "Postern",
        version: VERSION,
        description: INTRODUCTION,
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: basePath === "" ? "/" : basePath }],
      components: {
        schemas: components(),
        securitySchemes: {
          session: {
            type: "http" as const,
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "A session token: `type` user with `tid`, or `type` service with `events:write`.",
          },
          metricsToken: {
            type: "http" as const,
            scheme: "bearer",
            description: "The value of `METRICS_TOKEN`. Not asked for where that is not set.",
          },
        },
      },
      webhooks: { event: { post: eventRequest() }, test: { post: testRequest() } },
    },
  };
}

function requiredHeader(name: string, description: string) {
  return { name, in: "header" as const, required: true, description, schema: { type: "string" as const } };
}

function eventRequest() {
  const body = z.object({
    id: z.uuid(),
    event: z.string(),
    created_at: z.iso.datetime(),
    data: z.record(z.string(), z.unknown()),
  });
  return {
    operationId: "receiveEvent",
    ...signedRequest(body, {
      "X-Service-Delivery": "The delivery's id; on a person's retry, the id of the delivery that is retried.",
      "webhook-id": "The event's id, the same on each attempt (Standard Webhooks).",
    }),
    summary: "What a receiver gets for each event; any 2xx answer means that it is delivered",
    responses: {
      "2XX": { description: "Delivered." },
      "410": {
        description: "Gone for good: the endpoint is disabled, unless a person asked for the attempt.",
      },
    },
  };
}

function testRequest() {
  const body = z.object({
    event: z.string(),
    data: z.record(z.string(), z.unknown()).describe("The event type's example."),
    _test: z.literal(true),
  });
  return {
    operationId: "receiveTest",
    ...signedRequest(body, {
      "X-Service-Delivery":
        "`test-<milliseconds>`; on a person's retry, the id of the delivery that is retried.",
      "webhook-id": "The first test's delivery id, the same on its retries (Standard Webhooks).",
    }),
    summary: "What a receiver gets when a person tests the endpoint",
    responses: { default: { description: "Any answer is logged and shown to the person." } },
  };
}

/** What all requests to receivers have in common; `ids` describes the two headers that hold one. */
function signedRequest(body: z.ZodType, ids: Readonly<Record<"X-Service-Delivery" | "webhook-id", string>>) {
  return {
    // Signed, and without a session.
    security: [],
    parameters: [
      requiredHeader(
        "X-Service-Signature",
        "`sha256=` and the hex HMAC-SHA-256, keyed with the whole secret, of `<timestamp>.<body>`.",
      ),
      requiredHeader("X-Service-Timestamp", "Unix time in whole seconds."),
      requiredHeader("X-Service-Event", "The event type."),
      requiredHeader("X-Service-Delivery", ids["X-Service-Delivery"]),
      requiredHeader("webhook-id", ids["webhook-id"]),
      requiredHeader("webhook-timestamp", "Unix time in whole seconds (Standard Webhooks)."),
      requiredHeader(
        "webhook-signature",
        "`v1,<base64>`, a list while a rotated secret has grace (Standard Webhooks).",
      ),
    ],
    requestBody: { required: true, content: { "application/json": { schema: jsonSchema(body, "output") } } },
  };
}
