import type { FastifyInstance } from "fastify";
import { parseEndpointId } from "../../shared/id.ts";
import { userOf } from "../access.ts";
import { ackExample, ackInputExample, leaseExample, leaseInputExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { parse } from "../parse.ts";
import {
  ackedObject,
  ackedView,
  ackInput,
  acksOf,
  leaseInput,
  leaseObject,
  leaseView,
} from "../pull-schemas.ts";
import type { ApiServices } from "../services.ts";

type IdParams = { Params: { id: string } };

/** Fetching the events of a pull endpoint. Never by GET: who may only read must take nothing. */
export function pullRoutes(app: FastifyInstance, { fetches }: Pick<ApiServices, "fetches">): void {
  const fetch = { permission: "settings:write", limit: "fetches" } as const;
  app.addHook("preClose", async () => fetches.close());

  app.post<IdParams>(
    "/:id/leases",
    {
      config: fetch,
      schema: describeRoute({
        operationId: "leaseEvents",
        tag: "Pull",
        summary: "Fetch due events of a pull endpoint; they are leased for 60 seconds",
        description:
          "Each event has the body and the headers that a request to a receiver would have: check its signature in " +
          "the same way. Acknowledge it before the lease ends. Where no event is due, the call waits for up to " +
          "`wait_s` seconds and then answers without events. Fresh events come before replayed ones, the longest " +
          "due first; a test or retry of a person comes before both. At most 8 MiB of bodies come at once, and at " +
          "least one event. Several clients may fetch: no event is leased twice at a time. 20 calls of a tenant may wait.",
        params: ["id"],
        body: leaseInput,
        answers: { 200: leaseObject },
        examples: { body: [leaseInputExample], 200: [leaseExample] },
        refusals: [
          "validation_failed",
          "not_found",
          "endpoint_not_pull",
          "endpoint_disabled",
          "secret_unusable",
          "payload_too_large",
        ],
      }),
    },
    async (request, reply) => {
      const input = parse(leaseInput, request.body);
      const { tenantId } = userOf(request);
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      // It may have gone while its session was verified, which no event tells any more.
      if (reply.raw.closed) gone.abort();
      const wanted = { limit: input.limit, waitMs: input.wait_s * 1000, signal: gone.signal };
      return leaseView(await fetches.lease(tenantId, parseEndpointId(request.params.id), wanted));
    },
  );

  app.post<IdParams>(
    "/:id/acks",
    {
      config: fetch,
      schema: describeRoute({
        operationId: "acknowledgeEvents",
        tag: "Pull",
        summary: "Acknowledge leased events, or refuse them",
        description:
          "An event without `error` is delivered, and never fetched again. One with `error` has failed, with that " +
          "text as the answer's body in the log, and is due again by the retry schedule. A lease may be " +
          "acknowledged in parts. `late` names events that this lease has no more; where it has none of those " +
          "named, the answer is 409. Neither changes anything for them.",
        params: ["id"],
        body: ackInput,
        answers: { 200: ackedObject },
        examples: { body: [ackInputExample], 200: [ackExample] },
        refusals: ["validation_failed", "not_found", "lease_ended", "payload_too_large"],
      }),
    },
    async (request) => {
      const input = parse(ackInput, request.body);
      const { tenantId } = userOf(request);
      return ackedView(
        await fetches.acknowledge(tenantId, parseEndpointId(request.params.id), acksOf(input)),
      );
    },
  );
}
