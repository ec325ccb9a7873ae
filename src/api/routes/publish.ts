import type { FastifyInstance } from "fastify";
import * as z from "zod";
import {
  publishManySchema,
  publishOneSchema,
  withExactData,
  type PublishInput,
} from "../../events/publish-input.ts";
import type { Published } from "../../events/publish.ts";
import type { TracedEvent } from "../../telemetry/tracing.ts";
import { serviceOf } from "../access.ts";
import { eventInputExample, publishedExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { parse, withDigits } from "../parse.ts";
import { publishedObject } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

const answer = z.union([publishedObject, z.array(publishedObject)]);

/** Where the operator's backend publishes events. */
export function publishRoutes(app: FastifyInstance, services: ApiServices): void {
  app.post(
    "/",
    {
      config: { permission: "events:write" },
      schema: describeRoute({
        operationId: "publishEvents",
        tag: "Events",
        summary: "Publish one event, or up to 1,000 at once (all or nothing)",
        description:
          "Each event goes to the enabled endpoints that subscribe to its type. An array is all or nothing, and its answer has the events in the same order. 202: at least one is new. 200: all were published before with the same keys and content. With an intake, 202 says that its stream has them: `deliveries` is null, and a repeated key that the database does not know yet is answered 202 too, and sent once. With several databases, `deliveries` is null too for events that are handed over to the database of another tenant. So it is for a repeated key whose event was published in SQL a moment ago, or is no longer kept.",
        body: z.union([publishOneSchema, publishManySchema]),
        answers: { 202: answer, 200: answer },
        examples: {
          body: [eventInputExample, [eventInputExample]],
          202: [publishedExample, [publishedExample]],
          200: [publishedExample],
        },
        refusals: ["validation_failed", "idempotency_key_reused"],
      }),
    },
    async (request, reply) => {
      // Chosen by the body's form, so that the issues are those of one schema.
      const input = Array.isArray(request.body)
        ? parse(publishManySchema, request.body)
        : parse(publishOneSchema, request.body);
      const exact = withDigits(request.body);
      const events = exact === null ? input : withExactData(input, exact);
      const { tenantId } = serviceOf(request);
      const traceparent = services.tracing?.continues(request.headers["traceparent"]);
      const published = await services.publisher.publish(events, tenantId, traceparent);
      if (services.tracing !== null) {
        const startedAtMs = Date.now() - reply.elapsedTime;
        for (const event of newEvents(published, events, tenantId)) {
          services.tracing.accepted({ ...event, traceparent }, startedAtMs);
        }
      }
      const views = published.map(publishedView);
      // 200 says that nothing new came of it: each event was published before.
      const code = published.some((event) => event.isNew) ? 202 : 200;
      return reply.code(code).send(Array.isArray(input) ? views : views[0]);
    },
  );
}

/** The new ones. `given` are the published events, in the same order. */
function newEvents(
  published: readonly Published[],
  given: PublishInput | PublishInput[],
  sessionTenant: string | null,
): TracedEvent[] {
  const inputs = [given].flat();
  return published.flatMap(({ id, isNew }, index) => {
    const input = inputs[index];
    if (!isNew || input === undefined) return [];
    return [{ eventId: id, eventType: input.type, tenantId: input.tenant_id ?? sessionTenant ?? "" }];
  });
}

function publishedView(event: Published): z.infer<typeof publishedObject> {
  return { id: event.id, deliveries: event.dispatchCount };
}
