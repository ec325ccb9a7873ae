import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { Refusal } from "../../shared/refusal.ts";
import { isSameSecret } from "../../shared/same-secret.ts";
import { OUTAGE_RETRY_AFTER_S } from "../error-answers.ts";
import { describeRoute, openApiDocument } from "../openapi.ts";
import type { ApiServices } from "../services.ts";

const warnings = z
  .array(z.string())
  .describe(
    "Conditions that one tenant can cause, such as slow receivers that fill a worker, and stored artifacts that wait for an operator. Not a reason for 503.",
  );

/** For those who run Postern: is it alive, is it ready, what does it do, how is it called. */
export function operationRoutes(app: FastifyInstance, services: ApiServices): void {
  app.get(
    "/health",
    {
      schema: describeRoute({
        operationId: "health",
        tag: "Operations",
        summary: "Whether the process serves",
        description:
          "200 as long as the process answers, whatever the state of its database. For liveness probes.",
        answers: { 200: z.object({ status: z.literal("ok"), timestamp: z.iso.datetime() }) },
        examples: { 200: [{ status: "ok", timestamp: "2026-01-31T10:00:00.000Z" }] },
        isPublic: true,
      }),
    },
    () => ({ status: "ok", timestamp: new Date().toISOString() }),
  );

  app.get(
    "/ready",
    {
      schema: describeRoute({
        operationId: "ready",
        tag: "Operations",
        summary: "Whether events are accepted and sent; if not, the reasons",
        description:
          "503 with reasons while the process cannot do its work. For readiness probes and load balancers.",
        answers: {
          200: z.object({ status: z.literal("ready"), warnings }),
          503: z.object({
            status: z.literal("not ready"),
            error: z.string(),
            reasons: z.array(z.string()),
            warnings,
          }),
        },
        examples: {
          200: [{ status: "ready", warnings: [] }],
          503: [
            {
              status: "not ready",
              error: "Not ready",
              reasons: ["the database cannot be reached"],
              warnings: [],
            },
          ],
        },
        isPublic: true,
      }),
    },
    async (_request, reply) => {
      const { reasons, warnings } = await services.readiness.report();
      if (reasons.length === 0) return { status: "ready", warnings };
      void reply.header("Retry-After", String(OUTAGE_RETRY_AFTER_S));
      return reply.code(503).send({ status: "not ready", error: "Not ready", reasons, warnings });
    },
  );

  app.get(
    "/metrics",
    {
      schema: describeRoute({
        operationId: "metrics",
        tag: "Operations",
        summary:
          "The process's metrics, as Prometheus reads them; behind a token when `METRICS_TOKEN` is set",
        description: "In the text format of Prometheus. `METRICS_TOKEN` puts them behind a token.",
        answers: { 200: z.string() },
        examples: { 200: ["webhook_events_accepted_total 1042\n"] },
        mediaType: "text/plain",
        refusals: ["unauthorized", "too_many_requests"],
        isPublic: true,
        security: [{}, { metricsToken: [] }],
      }),
    },
    async (request, reply) => {
      requireMetricsToken(request.headers.authorization, services.metricsToken);
      await services.readiness.refreshGauges();
      const { registry } = services.metrics;
      return reply.type(registry.contentType).send(await services.exposeMetrics());
    },
  );

  // Made once: anybody may ask for it, and however many do not read it share these bytes.
  let document: Buffer | null = null;
  app.get("/openapi.json", { schema: { hide: true } }, (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(app)));
    return reply.type("application/json; charset=utf-8").send(document);
  });
}

function requireMetricsToken(authorization: string | undefined, token: string | undefined): void {
  if (token === undefined) return;
  if (!isSameSecret(authorization ?? "", `Bearer ${token}`)) {
    throw new Refusal("unauthorized", { reason: "the token of METRICS_TOKEN is needed" });
  }
}
