/** The document's introduction, tags and components, and the requests that receivers get. */
import * as z from "zod";
import { serviceEvents } from "../events/built-in-catalog.ts";
import type { CatalogEntry } from "../events/catalog-entry.ts";
import { publishOneSchema } from "../events/publish-input.ts";
import { VERSION } from "../shared/version.ts";
import { deliveryExample, eventInputExample } from "./examples.ts";
import { ackedObject, leaseObject } from "./pull-schemas.ts";
import { replayCountObject, replayObject } from "./replay-schemas.ts";
import { eventHeadObject } from "./event-schemas.ts";
import { jsonSchema, namedJsonSchema } from "./json-schema.ts";
import { portalTokenObject, tokenObject } from "./portal-schemas.ts";
import { sessionAnswer } from "./session-schemas.ts";
import { erasureObject, tenantObject, tenantRowsObject } from "./tenant-schemas.ts";
import {
  auditObject,
  catalogEntryObject,
  deliveryObject,
  endpointObject,
  errorObject,
  healthObject,
  issueObject,
  listedDeliveryObject,
  publishedObject,
} from "./schemas.ts";
import { artifactObject, exportObject, settingsObject } from "./storage-schemas.ts";

/** What routes are listed under. */
export const TAGS = {
  "Event types": "The catalog: which events there are, and what they carry.",
  Endpoints: "A tenant's receivers: URL, subscription, signing secret.",
  Deliveries: "The log of attempts, manual retries and tests.",
  Pull: "Fetching events instead of receiving requests, for clients behind a firewall.",
  Statistics: "What deliveries add up to: over time, by endpoint, by cause of failure.",
  Events: "Publishing, for the operator's backend.",
  Replays: "Sending an endpoint again what failed there or what it missed, many events at once.",
  Storage: "Exports of the log and stored bodies.",
  Portal: "Sessions that Postern gives out, for people who come from the operator's application.",
  Tenants: "All tenants, for the operator's backend.",
  Audit: "Who did what, and what was refused.",
  Operations: "Health, readiness and metrics, for the operator.",
} as const;

const INTRODUCTION = `Webhook endpoints, deliveries and events of a multi-tenant application.

## Tokens

Every route below \`/api\` takes a session token (JWT) as \`Authorization: Bearer …\`. The operator's application issues it; sessions of the portal get theirs from Postern.

| caller | \`type\` | \`tid\` | also |
|---|---|---|---|
| a tenant's user | \`user\` | the tenant | \`role\`: \`owner\`, \`admin\` or \`member\` |
| a backend that publishes | \`service\` | the tenant, or \`*\` and each event names its \`tenant_id\` | \`permissions\`: \`["events:write"]\` |
| a backend that opens the portal for people | \`service\` | the tenant, or \`*\` | \`permissions\`: \`["portal:grant"]\` |
| the operator's console | \`service\` | \`*\` | \`permissions\` among \`tenants:read\`, \`tenants:act\`, \`tenants:erase\` |

A token reaches its own tenant only: another tenant's id is 404, like an unknown id. 401 and 403 give the reason in \`WWW-Authenticate\`.

## Publishing and idempotency

202 means that the event is committed to the database with its dispatches. Where the operator runs an intake, it means that most replicas of its stream have the event, and the database gets it from there; \`deliveries\` is then null. An event's \`id\` is its idempotency key. It is unique per tenant for at least 24 hours:

- the same key with the same type and data: the first event's answer, with 200;
- the same key with other content: 409.

After a timeout or a 503 you cannot know whether the event was accepted. Send the same event with the same key again.

## Retries

An attempt succeeds if the receiver answers 2xx within 15 seconds. Otherwise Postern sends the event again by its schedule, with the same \`webhook-id\`, until an attempt succeeds or the schedule ends. Delivery is at least once, and order is not guaranteed. \`Retry-After\` of a receiver can lengthen a wait. 410 disables the endpoint. The requests that receivers get are described under webhooks.

## Pages

Lists are newest first and take \`limit\`. Endpoints and event types come all at once, and tenants in the order of their ids. A \`Link\` header with \`rel="next"\` leads to the next page and is absent on the last one; the library has \`next\` in its answer instead. A search stops after 5,000 deliveries. Its page may be short or empty and still have a \`Link\`: follow it to go on.

## Limits

A body is at most 1 MiB. Changes, tests and retries, and leases with their acknowledgements, are limited per tenant and minute, failed authentications per address. 429 has \`Retry-After\` in seconds, and \`RateLimit-Policy\` and \`RateLimit\` say which limit was reached.

## Errors

A refusal is JSON: \`error\` is a fixed text, and \`issues\` has path, message and code of each fault in a body or query. A refused request changes nothing. 503 has \`Retry-After\`. Every answer has \`X-Request-Id\`, which the operator's log and the audit log name too.

| status | what to do |
|---|---|
| 400, 404, 405, 409, 413, 415, 422 | Change the request. |
| 401, 403 | Use another token. |
| 410 | Stop asking: the stored file has expired or was erased. |
| 429, 503 | Wait for \`Retry-After\` and send it again; when publishing, with the same key. |
| 500 | Report \`X-Request-Id\` to the operator. |

## Clients

This document is OpenAPI 3.1, served as \`/openapi.json\`, and as a page to read and to try as \`/reference\`. Clients generated from it for TypeScript (openapi-typescript), Python (openapi-python-client) and Go (oapi-codegen) are tested.`;

/** The named objects, as the document's components. */
export function componentSchemas(): Record<string, object> {
  const answered = {
    Endpoint: endpointObject,
    EndpointHealth: healthObject,
    Delivery: deliveryObject,
    ListedDelivery: listedDeliveryObject,
    EventType: catalogEntryObject,
    AuditEntry: auditObject,
    PublishedEvent: publishedObject,
    EventHead: eventHeadObject,
    Replay: replayObject,
    ReplayCount: replayCountObject,
    Lease: leaseObject,
    Acknowledged: ackedObject,
    OwnToken: tokenObject,
    PortalToken: portalTokenObject,
    Session: sessionAnswer,
    Tenant: tenantObject,
    TenantRows: tenantRowsObject,
    TenantErasure: erasureObject,
    Artifact: artifactObject,
    Export: exportObject,
    StorageSettings: settingsObject,
    Error: errorObject,
    Issue: issueObject,
  };
  const named = Object.entries(answered).map(([name, schema]) => [
    name,
    namedJsonSchema(name, schema, "output"),
  ]);
  return { ...Object.fromEntries(named), NewEvent: namedJsonSchema("NewEvent", publishOneSchema, "input") };
}

/** The head of the document. */
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
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        schemas: {},
        examples: {},
        securitySchemes: {
          session: {
            type: "http" as const,
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "A session token: `type` user with `tid`, or `type` service with its permissions.",
          },
          metricsToken: {
            type: "http" as const,
            scheme: "bearer",
            description: "The value of `METRICS_TOKEN`. Not asked for where that is not set.",
          },
        },
      },
      webhooks: {},
    },
  };
}

/** The requests that receivers get. */
export function receivedRequests() {
  return { event: { post: eventRequest() }, test: { post: testRequest() }, ...ownRequests() };
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
  const example: unknown = JSON.parse(deliveryExample.request_body ?? "");
  return {
    operationId: "receiveEvent",
    summary: "What a receiver gets for each event",
    description:
      "Any 2xx answer within 15 seconds means that it is delivered. Check a signature before trusting the body, " +
      "and expect repeats: `webhook-id` is the same on each attempt of an event.",
    ...signedRequest(body, example, {
      "X-Service-Delivery":
        "The delivery's id; on the retry of a delivery, the id of the one that is retried.",
      "webhook-id": "The event's id, the same on each attempt (Standard Webhooks).",
    }),
    responses: {
      "2XX": { description: "Delivered." },
      "410": {
        description:
          "Gone for good: the endpoint is disabled, unless it answers to a test or to the retry of a delivery.",
      },
    },
  };
}

/** Postern's own events, each with the schema of its data. */
function ownRequests() {
  return Object.fromEntries(serviceEvents.map((entry) => [entry.type, { post: ownRequest(entry) }]));
}

function ownRequest({ type, title, description, payloadShape, schema }: CatalogEntry) {
  const { parameters, requestBody, ...request } = eventRequest();
  const { schema: body, example } = requestBody.content["application/json"];
  const properties = { ...z.object({ properties: z.looseObject({}) }).parse(body).properties };
  return {
    ...request,
    operationId: `receive.${type}`.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    summary: title,
    description: `${description} To endpoints that subscribe to it, and with \`OPERATOR_TENANT\` also to that tenant's, with a \`tenant_id\` in \`data\`.`,
    parameters,
    requestBody: {
      ...requestBody,
      content: {
        "application/json": {
          schema: { ...body, properties: { ...properties, event: { const: type }, data: schema } },
          example: { ...z.looseObject({}).parse(example), event: type, data: payloadShape },
        },
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
  const { type: event, data } = eventInputExample;
  return {
    operationId: "receiveTest",
    summary: "What a receiver gets when a person tests the endpoint",
    description: "Signed like an event. `_test` tells it apart; it has no `id` and is not retried by itself.",
    ...signedRequest(
      body,
      { event, data, _test: true },
      {
        "X-Service-Delivery":
          "`test-<milliseconds>`; on a manual retry, the id of the delivery that is retried.",
        "webhook-id": "The first test's delivery id, the same on its retries (Standard Webhooks).",
      },
    ),
    responses: { default: { description: "Any answer is logged and shown to the person." } },
  };
}

/** What all requests to receivers have in common; `ids` describes the two headers that hold one. */
function signedRequest(
  body: z.ZodType,
  example: unknown,
  ids: Readonly<Record<"X-Service-Delivery" | "webhook-id", string>>,
) {
  const schema = jsonSchema(body, "output");
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
    requestBody: { required: true, content: { "application/json": { schema, example } } },
  };
}
