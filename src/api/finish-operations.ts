/** What the document's generator leaves to do at each operation: examples in their places, names for schemas. */
import type { RefusalCode } from "../shared/refusal.ts";
import { ANSWERS } from "./error-answers.ts";
import { refusalExample } from "./refusal-examples.ts";

type Media = { schema?: object; example?: unknown; examples?: object };
type Content = { content?: Record<string, Media> };

type Operation = {
  operationId: string;
  requestBody?: Content;
  responses: Record<string, Content>;
  "x-shown"?: Shown;
};

/** What this module knows of an OpenAPI document. */
export type Described = {
  components: { schemas: Record<string, object>; examples: Record<string, { value: unknown }> };
  paths: Record<string, Record<string, Operation>>;
};

/** Examples of a route: of its body, and of each successful answer by status. */
export type RouteExamples = {
  readonly body?: readonly unknown[];
  readonly [status: number]: readonly unknown[];
};

type Shown = { readonly values: RouteExamples; readonly refusals: readonly RefusalCode[] };

/** For the route's schema: a generator drops siblings of a reference, so examples are part of the operation. */
export function examplesFor(values: RouteExamples, refusals: readonly RefusalCode[]): { "x-shown": Shown } {
  return { "x-shown": { values, refusals } };
}

/** Puts examples into their places and names schemas; changes the document. */
export function finishOperations({ components, paths }: Described): void {
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    showExamples(operation, components.examples);
    nameSchemas(operation, components.schemas);
  }
}

function showExamples(operation: Operation, shared: Described["components"]["examples"]): void {
  const { requestBody, responses, "x-shown": shown } = operation;
  if (shown === undefined) return;
  delete operation["x-shown"];
  const { body, ...answers } = shown.values;
  addValues(requestBody, body);
  for (const [status, values] of Object.entries(answers)) addValues(responses[status], values);
  for (const code of shown.refusals) {
    const media = mediaOf(responses[ANSWERS[code].status]);
    shared[code] = { value: refusalExample(code) };
    if (media !== undefined)
      media.examples = { ...media.examples, [code]: { $ref: `#/components/examples/${code}` } };
  }
}

function addValues(place: Content | undefined, values: readonly unknown[] = []): void {
  const media = mediaOf(place);
  if (media === undefined || values.length === 0) return;
  if (values.length === 1) media.example = values[0];
  else media.examples = Object.fromEntries(values.map((value, index) => [`example${index + 1}`, { value }]));
}

function mediaOf(place: Content | undefined): Media | undefined {
  return Object.values(place?.content ?? {})[0];
}

/**
 * Moves the operation's own schemas to the components, so that generated
 * clients have types for them: the body's as `CreateEndpointRequest`, those of its
 * answers as `CreateEndpointAnswer` and `ReadyAnswer503` (generators make types
 * named `…Response` themselves). References and lists stay where they are.
 */
function nameSchemas(
  { operationId, requestBody, responses }: Operation,
  schemas: Record<string, object>,
): void {
  const name = `${operationId.slice(0, 1).toUpperCase()}${operationId.slice(1)}`;
  moveTo(schemas, `${name}Request`, requestBody);
  for (const [status, answer] of Object.entries(responses)) {
    moveTo(schemas, `${name}Answer${status.startsWith("2") ? "" : status}`, answer);
  }
}

function moveTo(schemas: Record<string, object>, name: string, place: Content | undefined): void {
  const media = mediaOf(place);
  const schema = media?.schema;
  if (media === undefined || schema === undefined) return;
  if (!("anyOf" in schema) && !("properties" in schema)) return;
  const known = schemas[name];
  // Two answers with different schemas have no name in common.
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) return;
  schemas[name] = schema;
  media.schema = { $ref: `#/components/schemas/${name}` };
}
