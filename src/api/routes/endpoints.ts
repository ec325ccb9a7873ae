import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { endpointInputSchemas, rotateInputSchema } from "../../endpoints/endpoint-input.ts";
import { parseEndpointId } from "../../shared/id.ts";
import { callerOf, userOf } from "../access.ts";
import { sendDeliveryList } from "../delivery-list.ts";
import type { ApiServices } from "../services.ts";
import {
  deliveryExample,
  endpointExample,
  endpointInputExample,
  eventTypeExample,
  healthExample,
  secretExample,
} from "../examples.ts";
import { deprecationHeaders } from "../deprecation.ts";
import { describeRoute, linksTo } from "../openapi.ts";
import { parse } from "../parse.ts";
import {
  catalogEntryObject,
  catalogEntryView,
  deliveryObject,
  endpointObject,
  endpointView,
  healthObject,
  healthView,
  secretObject,
} from "../schemas.ts";

const RECENT_DELIVERIES = 5;

/** What can be done with an endpoint that was just created. */
const ENDPOINT_OPERATIONS = [
  "getEndpoint",
  "updateEndpoint",
  "rotateSecret",
  "testEndpoint",
  "listDeliveries",
  "deleteEndpoint",
];

type IdParams = { Params: { id: string } };

/** The catalog and the endpoints: everything under /api/webhooks but deliveries. */
export function endpointRoutes(
  app: FastifyInstance,
  services: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  const { endpoints, deliveryLog, catalog } = services;
  const inputs = endpointInputSchemas(catalog);
  const read = { permission: "settings:read" } as const;
  const write = { permission: "settings:write", limit: "writes" } as const;

  app.get(
    "/events",
    {
      config: read,
      schema: describeRoute({
        operationId: "listEventTypes",
        tag: "Event types",
        summary: "List the event catalog",
        description:
          "Which types an endpoint can subscribe to and a backend can publish, with an example of each type's data and its JSON Schema where it has one. Each version of a type is an entry. `Deprecation` and `Sunset` say when the first of the deprecated versions was deprecated, and when the first of them ends.",
        answers: { 200: z.array(catalogEntryObject) },
        examples: { 200: [[eventTypeExample]] },
      }),
    },
    (_request, reply) => {
      const { entries } = catalog.current();
      void reply.headers(deprecationHeaders(entries));
      return entries.map(catalogEntryView);
    },
  );

  app.get(
    "/",
    {
      config: read,
      schema: describeRoute({
        operationId: "listEndpoints",
        tag: "Endpoints",
        summary: "List the tenant's endpoints, newest first",
        description:
          "All of them at once: `MAX_ENDPOINTS_PER_TENANT` bounds their number. Secrets are never shown.",
        answers: { 200: z.object({ endpoints: z.array(endpointObject) }) },
        examples: { 200: [{ endpoints: [endpointExample] }] },
      }),
    },
    async (request) => {
      const found = await endpoints.list(userOf(request).tenantId);
      return { endpoints: found.map(endpointView) };
    },
  );

  app.post(
    "/",
    {
      config: write,
      links: { 201: linksTo(ENDPOINT_OPERATIONS, { id: "$response.body#/endpoint/id" }) },
      schema: describeRoute({
        operationId: "createEndpoint",
        tag: "Endpoints",
        summary: "Create an endpoint; only this answer shows its signing secret",
        description:
          "Requests go there from the next event on. The URL is judged as at each attempt: public, HTTPS. Without `events` it gets every type. Keep the secret of the answer: receivers check signatures with it, and it is not shown again.",
        body: inputs.create,
        answers: { 201: z.object({ endpoint: endpointObject, secret: secretObject }) },
        examples: {
          body: [endpointInputExample],
          201: [{ endpoint: endpointExample, secret: secretExample }],
        },
        refusals: ["validation_failed", "unsafe_url", "endpoint_limit_reached"],
      }),
    },
    async (request, reply) => {
      const created = await endpoints.create(
        callerOf(request),
        parse(inputs.create, request.body, endpointObject),
      );
      return reply.code(201).send({ endpoint: endpointView(created.endpoint), secret: created.secret });
    },
  );

  app.get<IdParams>(
    "/:id",
    {
      config: read,
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getEndpoint",
        tag: "Endpoints",
        summary: "Show an endpoint with its five most recent deliveries",
        description:
          "With bodies of requests and answers. `disabled_reason` says why an endpoint gets nothing: `manual`, `gone` (it answered 410) or `failing` (for days).",
        params: ["id"],
        answers: { 200: z.object({ endpoint: endpointObject, recent_deliveries: z.array(deliveryObject) }) },
        examples: { 200: [{ endpoint: endpointExample, recent_deliveries: [deliveryExample] }] },
        refusals: ["not_found"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const endpoint = await endpoints.get(tenantId, parseEndpointId(request.params.id));
      const { listed } = await deliveryLog.list(tenantId, endpoint.id, {
        times: {},
        offset: 0n,
        limit: RECENT_DELIVERIES,
      });
      const rest = { endpoint: endpointView(endpoint) };
      return sendDeliveryList(reply, deliveryLog, { rest, name: "recent_deliveries", listed });
    },
  );

  app.get<IdParams>(
    "/:id/health",
    {
      config: read,
      schema: describeRoute({
        operationId: "getEndpointHealth",
        tag: "Endpoints",
        summary: "Show how an endpoint does: since when it fails, and what is pending",
        description:
          "For a page that shows why an endpoint receives nothing: how long it fails, and how much waits for it.",
        params: ["id"],
        answers: { 200: z.object({ health: healthObject }) },
        examples: { 200: [{ health: healthExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const health = await endpoints.health(tenantId, parseEndpointId(request.params.id));
      const pending = await deliveryLog.countPending(tenantId, health.endpointId);
      return { health: healthView(health, pending) };
    },
  );

  app.patch<IdParams>(
    "/:id",
    {
      config: write,
      schema: describeRoute({
        operationId: "updateEndpoint",
        tag: "Endpoints",
        summary: "Change an endpoint; absent members stay unchanged",
        description:
          "An absent member stays as it is. `enabled: false` holds pending attempts and accepts no new events; `true` resumes them. Attempts in flight may still use the former values for half a second.",
        params: ["id"],
        body: inputs.update,
        answers: { 200: z.object({ endpoint: endpointObject }) },
        examples: {
          body: [{ enabled: false }],
          200: [{ endpoint: { ...endpointExample, enabled: false, disabled_reason: "manual" as const } }],
        },
        refusals: ["validation_failed", "unsafe_url", "not_found", "endpoint_temporary"],
      }),
    },
    async (request) => {
      const change = parse(inputs.update, request.body, endpointObject);
      const id = parseEndpointId(request.params.id);
      return { endpoint: endpointView(await endpoints.update(callerOf(request), id, change)) };
    },
  );

  app.delete<IdParams>(
    "/:id",
    {
      config: write,
      schema: describeRoute({
        operationId: "deleteEndpoint",
        tag: "Endpoints",
        summary: "Delete an endpoint; its pending attempts end as failed, its log stays",
        description:
          "Its pending attempts end as failed with the error `endpoint_deleted`. Its log stays for the time that the operator keeps logs. There is no way back.",
        params: ["id"],
        answers: { 200: z.object({ ok: z.literal(true) }) },
        examples: { 200: [{ ok: true }] },
        refusals: ["not_found", "payload_too_large"],
      }),
    },
    async (request) => {
      await endpoints.remove(callerOf(request), parseEndpointId(request.params.id));
      return { ok: true };
    },
  );

  app.post<IdParams>(
    "/:id/rotate-secret",
    {
      config: { ...write, ownersOnly: "owner_required" },
      schema: describeRoute({
        operationId: "rotateSecret",
        tag: "Endpoints",
        summary: "Replace the signing secret (owners only)",
        description:
          "For `grace_seconds` requests are signed with the old secret too, so that receivers can change at leisure; one that can't be decrypted any more ends at once. So does the secret of before the last rotation, if its grace still runs: at most two sign. Without a body the old secret ends at once and a new one is made. The answer alone shows it.",
        params: ["id"],
        body: rotateInputSchema,
        answers: { 200: z.object({ secret: secretObject }) },
        examples: { body: [{ grace_seconds: 86_400 }], 200: [{ secret: secretExample }] },
        refusals: ["owner_required", "validation_failed", "not_found"],
      }),
    },
    async (request) => {
      const input = parse(rotateInputSchema, request.body);
      const id = parseEndpointId(request.params.id);
      const { grace_seconds: graceSeconds = 0, secret } = input ?? {};
      return { secret: await endpoints.rotateSecret(callerOf(request), id, { graceSeconds, secret }) };
    },
  );
}
