import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import { z } from "zod";
import { endpointInputSchemas, rotateInputSchema } from "../../endpoints/endpoint-input.ts";
import { parseEndpointId } from "../../shared/id.ts";
import { callerOf, userOf } from "../access.ts";
import { sendDeliveryList } from "../delivery-list.ts";
import type { ApiServices } from "../services.ts";
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
        answers: { 200: z.array(catalogEntryObject) },
      }),
    },
    () => catalog.entries.map(catalogEntryView),
  );

  app.get(
    "/",
    {
      config: read,
      schema: describeRoute({
        operationId: "listEndpoints",
        tag: "Endpoints",
        summary: "List the tenant's endpoints, newest first",
        answers: { 200: z.object({ endpoints: z.array(endpointObject) }) },
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
        summary: "Register an endpoint; the answer alone shows its signing secret",
        body: inputs.create,
        answers: { 201: z.object({ endpoint: endpointObject, secret: secretObject }) },
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
        params: ["id"],
        answers: { 200: z.object({ endpoint: endpointObject, recent_deliveries: z.array(deliveryObject) }) },
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
        params: ["id"],
        answers: { 200: z.object({ health: healthObject }) },
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
        summary: "Change an endpoint; an absent member stays as it is",
        params: ["id"],
        body: inputs.update,
        answers: { 200: z.object({ endpoint: endpointObject }) },
        refusals: ["validation_failed", "unsafe_url", "not_found"],
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
        summary: "Delete an endpoint; what is pending ends as failed, the log stays",
        params: ["id"],
        answers: { 200: z.object({ ok: z.literal(true) }) },
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
        params: ["id"],
        body: rotateInputSchema,
        answers: { 200: z.object({ secret: secretObject }) },
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
