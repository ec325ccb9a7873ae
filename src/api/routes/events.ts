import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import { parseEventId } from "../../shared/id.ts";
import { userOf } from "../access.ts";
import { searchHeaders, tellSearch } from "../delivery-list.ts";
import { eventAnswer, eventHeadView, eventsAnswer, eventsQuery, eventView } from "../event-schemas.ts";
import { describeRoute } from "../openapi.ts";
import { parseQuery } from "../parse.ts";
import type { ApiServices } from "../services.ts";

/** A tenant's events and what became of them. */
export function eventRoutes(
  app: FastifyInstance,
  { eventLog }: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  const read = { permission: "settings:read" } as const;

  app.get(
    "/",
    {
      config: read,
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "listEvents",
        tag: "Events",
        summary: "List accepted events, newest first",
        description:
          "With `type` a request looks at 5,000 events at most. Then it answers what it found, to what time it " +
          "searched, and in `Link` the way to go on, also behind a short or an empty page.",
        query: eventsQuery,
        answers: { 200: eventsAnswer },
        headers: { Link: searchHeaders.Link },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const { type, from: fromMs, to: toMs, before, limit } = parseQuery(eventsQuery, request.query);
      const page = await eventLog.list(tenantId, { type, fromMs, toMs, before }, limit);
      return { searched_to: tellSearch(request.url, reply, page), events: page.events.map(eventHeadView) };
    },
  );

  app.get<{ Params: { event_id: string } }>(
    "/:event_id",
    {
      config: read,
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getEvent",
        tag: "Events",
        summary: "Show an event with its body and, by endpoint, its state and attempts",
        params: ["event_id"],
        answers: { 200: eventAnswer },
        refusals: ["not_found"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      return eventView(await eventLog.get(tenantId, parseEventId(request.params.event_id)));
    },
  );
}
