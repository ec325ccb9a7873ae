import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { dataIssues, isObject } from "../../events/data-issues.ts";
import { VERSIONED_TYPE_PATTERN } from "../../events/subscription.ts";
import type { Delivery } from "../../deliveries/delivery.ts";
import { parseDeliveryId, parseEndpointId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { callerOf, userOf } from "../access.ts";
import { searchHeaders, sendDeliveryList, tellSearch } from "../delivery-list.ts";
import { endpointLogQuery, isSearch, searchFilter, timesOf } from "../delivery-query.ts";
import { deliveryExample, retriedExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { linkBefore } from "../page-query.ts";
import { parse, parseQuery, withDigits } from "../parse.ts";
import { deliveryObject, deliveryView } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

type IdParams = { Params: { id: string } };
type DeliveryParams = { Params: { id: string; did: string } };

/** The delivery log, the retry of a delivery, and the test of an endpoint. */
export function deliveryRoutes(
  app: FastifyInstance,
  services: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  const { deliveryLog, personSends, catalog } = services;
  const read = { permission: "settings:read" } as const;
  const send = { permission: "settings:write", limit: "dispatches" } as const;
  const testInput = z.object({
    event_type: z
      .string()
      .refine((type) => catalog.current().find(type) !== undefined, "unknown_event_type")
      .meta({ pattern: VERSIONED_TYPE_PATTERN, examples: [catalog.current().entries[0]?.type] })
      .describe(
        "A type of the event catalog: its newest version that is no preview, or one as in `invoice.paid@2`.",
      ),
    data: z
      .custom<Record<string, unknown>>(isObject, "must be an object")
      .meta({ type: "object", additionalProperties: true })
      .optional()
      .describe("In place of the catalog's example: checked against the type's schema, 64 KiB at most."),
    dry_run: z
      .boolean()
      .optional()
      .describe("True: nothing is sent or logged, and the answer is the exact body that would be sent."),
  });

  /** As it is sent: with the exact values of its numbers. */
  function exactData(eventType: string, data: unknown, body: unknown): unknown {
    const current = catalog.current();
    const entry = current.find(eventType);
    if (entry === undefined) throw new Refusal("unknown_event_type");
    const exact = withDigits(body);
    const sent = exact === null ? data : exactTest.parse(exact).data;
    const issues = dataIssues(entry, data, { catalog: current, at: ["data"], exact: sent });
    if (issues.length > 0) throw new Refusal("validation_failed", { issues });
    if (Buffer.byteLength(JSON.stringify(sent)) > MAX_TEST_DATA_BYTES) {
      const issue = { path: ["data"], message: "must be at most 65536 bytes as JSON", code: "too_big" };
      throw new Refusal("validation_failed", { issues: [issue] });
    }
    return sent;
  }

  app.get<IdParams>(
    "/:id/deliveries",
    {
      config: read,
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "listDeliveries",
        tag: "Deliveries",
        summary: "List an endpoint's deliveries, newest first; the log outlives its endpoint",
        description:
          "One row per attempt; attempts to come have the status `pending`. The log outlives its endpoint. With `status=delivered` or a filter other than status and time this is a search, which stops after 5,000 rows: follow `Link`.",
        params: ["id"],
        query: endpointLogQuery,
        answers: { 200: z.object({ deliveries: z.array(deliveryObject) }) },
        examples: { 200: [{ deliveries: [deliveryExample] }] },
        headers: searchHeaders,
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const query = parseQuery(endpointLogQuery, request.query);
      const page = { offset: BigInt(query.page - 1) * BigInt(query.limit), limit: query.limit };
      const { id } = request.params;
      if (!isSearch(query)) {
        const exactly = { ...page, status: query.status, times: timesOf(query) };
        const gone = new AbortController();
        reply.raw.once("close", () => gone.abort());
        const endpointId = parseEndpointId(id);
        const { listed, next } = await deliveryLog.list(tenantId, endpointId, exactly, gone.signal);
        if (next !== null) void reply.header("Link", linkBefore(request.url, next));
        return sendDeliveryList(reply, deliveryLog, { name: "deliveries", listed });
      }
      const filter = searchFilter(query, id);
      const found = await deliveryLog.search(tenantId, filter, { ...page, withBodies: true });
      const searchedTo = tellSearch(request.url, reply, found);
      if (searchedTo !== null) void reply.header("Searched-To", searchedTo);
      return sendDeliveryList(reply, deliveryLog, { name: "deliveries", listed: found.listed });
    },
  );

  app.get<DeliveryParams>(
    "/:id/deliveries/:did",
    {
      config: read,
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getDelivery",
        tag: "Deliveries",
        summary: "Show a delivery",
        description: "The request as it was sent, and the start of the receiver's answer.",
        params: ["id", "did"],
        answers: { 200: z.object({ delivery: deliveryObject }) },
        examples: { 200: [{ delivery: deliveryExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { id, did } = request.params;
      return {
        delivery: deliveryView(await deliveryLog.get(tenantId, parseEndpointId(id), parseDeliveryId(did))),
      };
    },
  );

  app.post<DeliveryParams>(
    "/:id/deliveries/:did/retry",
    {
      config: send,
      schema: describeRoute({
        operationId: "retryDelivery",
        tag: "Deliveries",
        summary: "Send a failed delivery again, now",
        description:
          "Sends at once and answers with the outcome, so it can take 15 seconds. It is sent also while the endpoint is disabled, and cancels the event's pending attempt if it is delivered. Only a delivery with the status `failed` can be retried.",
        params: ["id", "did"],
        answers: { 200: z.object({ delivery: deliveryObject }) },
        examples: { 200: [{ delivery: retriedExample }] },
        refusals: [
          "not_found",
          "endpoint_not_found",
          "delivery_not_failed",
          "unsafe_url",
          "payload_too_large",
          "secret_unusable",
        ],
      }),
    },
    async (request) => {
      const { id, did } = request.params;
      const ids = [parseEndpointId(id), parseDeliveryId(did)] as const;
      return { delivery: deliveryView(await personSends.retry(callerOf(request), ...ids)) };
    },
  );

  app.post<IdParams>(
    "/:id/test",
    {
      config: { ...send, dryRun: "body" },
      schema: describeRoute({
        operationId: "testEndpoint",
        tag: "Deliveries",
        summary:
          "Send an example of an event type, or data of one's own, now; or only show what would be sent",
        description:
          "Sends at once, with `_test: true`, and answers with the outcome, so it can take 15 seconds. The endpoint must subscribe to the type.",
        params: ["id"],
        body: testInput,
        answers: { 200: z.union([testResult, dryRunResult]) },
        headers: {
          "Delivery-Id": "The test's delivery, for `GET /api/deliveries/{did}`. None for a dry run.",
        },
        examples: {
          body: [
            { event_type: "invoice.paid" },
            { event_type: "invoice.paid", data: { n: 1 }, dry_run: true },
          ],
          200: [
            { status: "test", response_status: 204, response_body: "", latency_ms: 41 },
            { ok: true, body: '{"event":"invoice.paid","data":{"n":1},"_test":true}' },
          ],
        },
        refusals: [
          "validation_failed",
          "unknown_event_type",
          "unsafe_url",
          "not_found",
          "endpoint_not_subscribed",
          "secret_unusable",
        ],
      }),
    },
    async (request, reply) => {
      const { event_type: eventType, data: given, dry_run } = parse(testInput, request.body);
      const data = given === undefined ? undefined : exactData(eventType, given, request.body);
      const id = parseEndpointId(request.params.id);
      if (dry_run === true) {
        const { body } = await personSends.composeTest(userOf(request).tenantId, id, { eventType, data });
        return { ok: true, body };
      }
      const delivery = await personSends.test(callerOf(request), id, { eventType, data });
      void reply.header("Delivery-Id", delivery.id);
      return testView(delivery);
    },
  );
}

const MAX_TEST_DATA_BYTES = 64 * 1024;
const exactTest = z.object({ data: z.unknown() });

const dryRunResult = z.object({
  ok: z.literal(true),
  body: z.string().describe("The text that would be sent."),
});

const testResult = z.object({
  status: z.enum(["test", "failed"]),
  response_status: z.int().nullable(),
  response_body: z.string().nullable(),
  latency_ms: z.int().min(0),
});

function testView(delivery: Delivery) {
  const { status, response_status, response_body, latency_ms } = deliveryView(delivery);
  return { status, response_status, response_body, latency_ms };
}
