/** The OpenAPI document: written from the schemas that validate and the table of refusals that answers. */
import type { FastifyInstance, FastifySchema } from "fastify";
import type * as z from "zod";
import type { RefusalCode } from "../shared/refusal.ts";
import { changesNothing } from "./dry-run.ts";
import { ANSWERS } from "./error-answers.ts";
import { PATH_EXAMPLES } from "./examples.ts";
import { jsonSchema, type JsonSchema } from "./json-schema.ts";
import { examplesFor, finishOperations, type Described, type RouteExamples } from "./finish-operations.ts";
import { componentSchemas, openApiHead, receivedRequests, type TAGS } from "./openapi-head.ts";
import { errorObject } from "./schemas.ts";

type RouteDescription = {
  operationId: string;
  tag: keyof typeof TAGS;
  /** One line, without a full stop. */
  summary: string;
  /** What a caller should know before the first call: effects, limits, what to do next. Asked for by test/api-document.test.ts. */
  description?: string;
  params?: readonly (keyof typeof PATH_EXAMPLES)[];
  query?: z.ZodType;
  body?: z.ZodType;
  answers: Readonly<Record<number, z.ZodType>>;
  /** Of the body and of each 2xx answer, where the schema itself has none (`.meta({ examples })`); `examples.ts` has the objects. Asked for by the same test. */
  examples?: RouteExamples;
  /** Headers of the successful answer, and what each says. */
  headers?: Readonly<Record<string, string>>;
  /** The route's own refusals; the common ones of routes behind a session are added. */
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

const DRY_RUN_REFUSALS = ["invalid_query", "validation_failed"] as const;

const REASON_HEADERS = {
  "WWW-Authenticate": { type: "string", description: "Why, as in RFC 6750: `error_description`." },
} as const;

const WAIT_HEADERS = {
  "Retry-After": { type: "integer", description: "Seconds to wait." },
} as const;

const LIMIT_HEADERS = {
  ...WAIT_HEADERS,
  "RateLimit-Policy": {
    type: "string",
    description:
      'The limit that was reached, for example `"writes";q=1200;w=60`. Not when events are refused.',
  },
  RateLimit: { type: "string", description: "What is left of it, and when more is." },
} as const;

declare module "fastify" {
  interface FastifySchema {
    describe?: (method: string) => FastifySchema;
  }
}

/**
 * What Fastify keeps of a route for the document. Validation itself is the
 * handler's, in the order it needs. Written out when the document is asked for:
 * all routes' schemas take 35 ms and some MB, and most processes are never asked.
 */
export function describeRoute(route: RouteDescription): FastifySchema {
  return { describe: (method) => described(route, method) };
}

type DocumentedRoute = { schema?: FastifySchema; url: string; route: { method: string | string[] } };

/** For the document's generator. */
export function documentOptions(basePath: string) {
  return {
    ...openApiHead(basePath),
    stripBasePath: true,
    transform: ({ schema = {}, url, route }: DocumentedRoute) => ({
      schema: schema.describe?.([route.method].flat().join()) ?? schema,
      url,
    }),
  };
}

function described(route: RouteDescription, method: string): FastifySchema {
  const refusals = [
    ...(changesNothing(method) ? [] : DRY_RUN_REFUSALS),
    ...(route.isPublic === true ? [] : SESSION_REFUSALS),
    ...(route.body === undefined ? [] : (["payload_too_large", "unsupported_encoding"] as const)),
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
    ...examplesFor(route.examples ?? {}, refusals),
  };
}

/** Where an id that an answer gave can go next: operations by name, with their parameters from the answer. */
export function linksTo(
  operationIds: readonly string[],
  parameters: Readonly<Record<string, string>>,
): Record<string, { operationId: string; parameters: Readonly<Record<string, string>> }> {
  return Object.fromEntries(operationIds.map((operationId) => [operationId, { operationId, parameters }]));
}

function pathParameters(names: readonly (keyof typeof PATH_EXAMPLES)[]) {
  const properties = names.map((name) => {
    const { about, example } = PATH_EXAMPLES[name];
    return [name, { type: "string", description: about, examples: [example] }];
  });
  return { type: "object", properties: Object.fromEntries(properties), required: names };
}

function successAnswers({ answers, headers = {}, mediaType }: RouteDescription) {
  const named = Object.entries(headers).map(([name, description]) => [name, { type: "string", description }]);
  const told = named.length === 0 ? {} : { headers: Object.fromEntries(named) };
  return Object.fromEntries(
    Object.entries(answers).map(([status, zodSchema]) => {
      const description = MEANINGS[Number(status)] ?? "";
      const schema = jsonSchema(zodSchema, "output");
      if (mediaType === undefined)
        return [status, { ...describedAnswer(schema, description), ...told, ...headersOf(Number(status)) }];
      return [status, { description, content: { [mediaType]: { schema } } }];
    }),
  );
}

/** Hundreds of answers refer to it, and each conversion of a schema takes as long as the next. */
let errorSchema: JsonSchema | undefined;

/** One answer a status; its description lists every text that `error` may hold. */
function refusalAnswers(refusals: readonly RefusalCode[]) {
  const shared = (errorSchema ??= jsonSchema(errorObject, "output"));
  const entries = [...byStatus(refusals)].map(([status, codes]) => {
    const description = codes.map((code) => ANSWERS[code].error).join("; ");
    const answer = describedAnswer(shared, description);
    return [status, { ...answer, ...headersOf(status) }];
  });
  return Object.fromEntries(entries);
}

function byStatus(refusals: readonly RefusalCode[]): Map<number, RefusalCode[]> {
  return Map.groupBy(new Set(refusals), (refusal) => ANSWERS[refusal].status);
}

/** Where the document's generator looks for the description of an answer: beside a reference, or not in the schema. */
function describedAnswer(schema: JsonSchema, description: string): JsonSchema {
  return "$ref" in schema ? { ...schema, description } : { ...schema, "x-response-description": description };
}

function headersOf(status: number): { headers?: object } {
  if (status === ANSWERS.too_many_requests.status) return { headers: LIMIT_HEADERS };
  if (status === ANSWERS.unavailable.status) return { headers: WAIT_HEADERS };
  const tellsWhy = status === ANSWERS.unauthorized.status || status === ANSWERS.forbidden.status;
  return tellsWhy ? { headers: REASON_HEADERS } : {};
}

/** The finished document. Fastify writes the collection's path with a slash, which is removed. */
export function openApiDocument(app: FastifyInstance): unknown {
  const made: Described = JSON.parse(JSON.stringify(app.swagger()));
  const paths = Object.entries(made.paths);
  const finished: Described = JSON.parse(
    JSON.stringify({
      ...made,
      components: { ...made.components, schemas: componentSchemas() },
      webhooks: receivedRequests(),
      paths: Object.fromEntries(paths.map(([path, item]) => [path.replace(/(.)\/$/, "$1"), item])),
    }),
  );
  finishOperations(finished);
  return finished;
}
