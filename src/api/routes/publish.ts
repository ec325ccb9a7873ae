import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { publishManySchema, publishOneSchema, type Published } from "../../events/publish.ts";
import { serviceOf } from "../access.ts";
import { describeRoute } from "../openapi.ts";
import { parse } from "../parse.ts";
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
        body: z.union([publishOneSchema, publishManySchema]),
        answers: { 202: answer, 200: answer },
        refusals: ["validation_failed", "idempotency_key_reused"],
      }),
    },
    async (request, reply) => {
      // Chosen by the body's form, so that the issues are those of one schema.
      const input = Array.isArray(request.body)
        ? parse(publishManySchema, request.body)
        : parse(publishOneSchema, request.body);
      const published = await services.publisher.publish(input, serviceOf(request).tenantId);
      services.metrics.eventsAccepted.inc(published.filter((event) => event.isNew).length);
      const views = published.map(publishedView);
      // 200 says that nothing new came of it: each event was published before.
      const code = published.some((event) => event.isNew) ? 202 : 200;
      return reply.code(code).send(Array.isArray(input) ? views : views[0]);
    },
  );
}

function publishedView(event: Published): z.infer<typeof publishedObject> {
  return { id: event.id, deliveries: event.dispatchCount };
}
