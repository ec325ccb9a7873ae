import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { parseDeliveryId } from "../../shared/id.ts";
import { userOf } from "../access.ts";
import { searchHeaders, sendDeliveryList, tellSearch } from "../delivery-list.ts";
import { searchFilter, tenantLogQuery } from "../delivery-query.ts";
import { deliveryExample, listedDeliveryExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { parseQuery } from "../parse.ts";
import { deliveryHeadView, deliveryObject, deliveryView, listedDeliveryObject } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

/** The log of all of a tenant's endpoints, those deleted since included. */
export function tenantDeliveryRoutes(
  app: FastifyInstance,
  { deliveryLog }: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  app.get(
    "/",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "searchDeliveries",
        tag: "Deliveries",
        summary: "Search the deliveries of all endpoints, newest first",
        description:
          "A request looks at 5,000 deliveries at most, and at 16 MiB of bodies for `q`. Then it answers what it " +
          "found, to what time it searched, and in `Link` the way to go on, also behind a short or an empty page.",
        query: tenantLogQuery,
        answers: { 200: searchAnswer },
        examples: { 200: [{ searched_to: "2026-01-31T09:12:44.018Z", deliveries: [listedDeliveryExample] }] },
        headers: { Link: searchHeaders.Link },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const query = parseQuery(tenantLogQuery, request.query);
      const withBodies = query.include === "bodies";
      const filter = searchFilter(query, query.endpoint_id);
      const page = { offset: 0n, limit: query.limit, withBodies };
      const found = await deliveryLog.search(tenantId, filter, page);
      const rest = { searched_to: tellSearch(request.url, reply, found) };
      if (!withBodies) return { ...rest, deliveries: found.listed.map(deliveryHeadView) };
      return sendDeliveryList(reply, deliveryLog, { rest, name: "deliveries", listed: found.listed });
    },
  );

  app.get<{ Params: { did: string } }>(
    "/:did",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getDeliveryById",
        tag: "Deliveries",
        summary: "Show a delivery, whichever endpoint it is of",
        description: "The same as the delivery of an endpoint, for callers who know only the delivery's id.",
        params: ["did"],
        answers: { 200: z.object({ delivery: deliveryObject }) },
        examples: { 200: [{ delivery: deliveryExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const id = parseDeliveryId(request.params.did);
      return { delivery: deliveryView(await deliveryLog.getById(tenantId, id)) };
    },
  );
}

const searchAnswer = z.object({
  searched_to: z.iso
    .datetime()
    .nullable()
    .describe("Everything created after this time was searched. Null if nothing older is left."),
  deliveries: z.array(listedDeliveryObject).describe("Bodies only with `include=bodies`."),
});
