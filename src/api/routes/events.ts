import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import { parseEndpointId, parseEventId } from "../../shared/id.ts";
import { callerOf, userOf } from "../access.ts";
import { compressAnswer } from "../compress-answer.ts";
import { searchHeaders, tellSearch } from "../delivery-list.ts";
import {
  eventAnswer,
  eventHeadView,
  eventsAnswer,
  eventsQuery,
  eventView,
  sendInput,
  sentAnswer,
} from "../event-schemas.ts";
import { describeRoute } from "../openapi.ts";
import { parse, parseQuery } from "../parse.ts";
import { deliveryView } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

/** A tenant's events and what became of them. */
export function eventRoutes(
  app: FastifyInstance,
  { eventLog, sendAgain }: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  const read = { permission: "settings:read" } as const;

  app.get(
    "/",
    {
      config: read,
      preHandler: logTurn,
      onSend: compressAnswer,
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
      onSend: compressAnswer,
      schema: describeRoute({
        operationId: "getEvent",
        tag: "Events",
        summary: "Show an event with its body and, by endpoint, its state and attempts",
        description:
          "Its exact body, and by endpoint the state of its next or newest attempt with the attempts made. An event is kept five days longer than its deliveries.",
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

  app.post<{ Params: { event_id: string } }>(
    "/:event_id/send",
    {
      config: { permission: "settings:write", limit: "dispatches" },
      schema: describeRoute({
        operationId: "sendEvent",
        tag: "Events",
        summary: "Send an event to an endpoint once more, whatever became of it there",
        description:
          "The delivery is pending, with the trigger `retry`: it goes through the endpoint's queue, and one attempt " +
          "is made. The event's automatic attempts to come stay, also if this one is delivered. The endpoint need not be " +
          "subscribed to the event's type.",
        params: ["event_id"],
        body: sendInput,
        answers: { 202: sentAnswer },
        refusals: [
          "validation_failed",
          "not_found",
          "endpoint_not_found",
          "endpoint_disabled",
          "secret_unusable",
        ],
      }),
    },
    async (request, reply) => {
      const input = parse(sendInput, request.body);
      const eventId = parseEventId(request.params.event_id);
      const sent = await sendAgain(callerOf(request), eventId, parseEndpointId(input.endpoint_id));
      return reply.code(202).send({ delivery: deliveryView(sent) });
    },
  );
}
