import type { FastifyInstance, preHandlerHookHandler } from "fastify";
import * as z from "zod";
import { WINDOWS, WINDOW_NAMES } from "../../deliveries/stats.ts";
import {
  BUCKETS,
  BUCKET_NAMES,
  countBuckets,
  wholeBuckets,
  type BucketName,
  type Span,
} from "../../deliveries/stats-range.ts";
import { parseEndpointId } from "../../shared/id.ts";
import { issueAt, Refusal } from "../../shared/refusal.ts";
import { userOf } from "../access.ts";
import { describeRoute } from "../openapi.ts";
import { idText, instantText } from "../page-query.ts";
import { parseQuery } from "../parse.ts";
import type { ApiServices } from "../services.ts";
import {
  makeBucketView,
  causesAnswer,
  causesExample,
  causeView,
  endpointsAnswer,
  endpointsExample,
  endpointViews,
  overTimeAnswer,
  overTimeExample,
  spanView,
} from "../stats-schemas.ts";

const MAX_BUCKETS = 750;
const DAY_MS = 86_400_000;
const MAX_DAYS = 400;

const COUNTING =
  "Counts are those of the log by `created_at`: automatic attempts and manual retries, without tests and without " +
  "what is pending. They begin with the first attempt after the upgrade to a release that has them.";

/** What a tenant's deliveries add up to. */
export function statsRoutes(
  app: FastifyInstance,
  { deliveryStats }: ApiServices,
  logTurn: preHandlerHookHandler,
): void {
  app.get(
    "/",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getStats",
        tag: "Statistics",
        summary: "Count deliveries over time",
        description:
          "Delivered and failed attempts in buckets of 10 minutes, an hour or a day (UTC), of one endpoint or of " +
          "all. `from` is rounded down and `to` up to a whole bucket. At most 750 buckets, and 400 days.\n\n" +
          COUNTING,
        query: overTimeQuery,
        answers: { 200: overTimeAnswer },
        examples: { 200: [overTimeExample] },
        refusals: ["invalid_query"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { bucket, endpoint_id: endpointId = null, ...times } = parseQuery(overTimeQuery, request.query);
      const span = spanOf(times, bucket);
      const count = countBuckets(span, BUCKETS[bucket]);
      if (count > MAX_BUCKETS)
        throw refusal("bucket", `gives ${count} buckets for these times, and ${MAX_BUCKETS} are the most`);
      const found = await deliveryStats.overTime(tenantId, { endpointId, bucket, span });
      return { ...spanView(span), bucket, buckets: found.map(makeBucketView()) };
    },
  );

  app.get(
    "/endpoints",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getEndpointStats",
        tag: "Statistics",
        summary: "Compare endpoints: success, latency, what is pending",
        description:
          "Each endpoint with its series over the window, the newest endpoint first, at most 1,000. The last bucket " +
          "is under way.\n\n" +
          COUNTING,
        query: endpointsQuery,
        answers: { 200: endpointsAnswer },
        examples: { 200: [endpointsExample] },
        refusals: ["invalid_query"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { window } = parseQuery(endpointsQuery, request.query);
      const found = await deliveryStats.byEndpoint(tenantId, { window, nowMs: Date.now() });
      return {
        ...spanView(found.span),
        bucket: WINDOWS[window].bucket,
        endpoints: endpointViews(found.endpoints),
      };
    },
  );

  app.get(
    "/causes",
    {
      config: { permission: "settings:read" },
      preHandler: logTurn,
      schema: describeRoute({
        operationId: "getFailureCauses",
        tag: "Statistics",
        summary: "Count failures by cause",
        description:
          "Why attempts failed, the most frequent cause first, at most 100. A cause is the `error` of a delivery, or " +
          "`http_` and the status that the receiver answered. `from` and `to` are rounded to whole ten minutes, and at most 400 days apart.\n\n" +
          COUNTING,
        query: causesQuery,
        answers: { 200: causesAnswer },
        examples: { 200: [causesExample] },
        refusals: ["invalid_query"],
      }),
    },
    async (request) => {
      const { tenantId } = userOf(request);
      const { endpoint_id: endpointId = null, ...times } = parseQuery(causesQuery, request.query);
      const span = spanOf(times, "10m");
      const found = await deliveryStats.causes(tenantId, { endpointId, span });
      return { ...spanView(span), causes: found.map(causeView) };
    },
  );
}

const endpointId = idText(parseEndpointId, "an endpoint's id").describe(
  "Of this endpoint alone, a deleted one too. Zeros for an id that is no endpoint of the tenant.",
);

const times = {
  from: instantText
    .optional()
    .describe("Created at or after, ISO 8601 with offset. When absent, a day before `to`."),
  to: instantText.optional().describe("Created before, ISO 8601 with offset. When absent, now."),
};

const overTimeQuery = z.strictObject({
  ...times,
  bucket: z.enum(BUCKET_NAMES).default("1h"),
  endpoint_id: endpointId,
});

const endpointsQuery = z.strictObject({
  window: z
    .enum(WINDOW_NAMES)
    .default("24h")
    .describe("Up to now. The series is in buckets of 10m for 1h, of 1h for 24h, and else of 1d."),
});

const causesQuery = z.strictObject({ ...times, endpoint_id: endpointId });

type Times = { from?: number | undefined; to?: number | undefined };

/** The whole buckets of a query's times; refuses what is no span, or too long a one. */
function spanOf({ from, to }: Times, bucket: BucketName): Span {
  const toMs = to ?? Date.now();
  const fromMs = from ?? toMs - DAY_MS;
  if (fromMs >= toMs) throw refusal("from", "must be before to");
  if (toMs - fromMs > MAX_DAYS * DAY_MS) throw refusal("from", `must be at most ${MAX_DAYS} days before to`);
  return wholeBuckets({ fromMs, toMs }, BUCKETS[bucket]);
}

function refusal(member: string, message: string): Refusal {
  return new Refusal("invalid_query", { issues: [issueAt(member, message)] });
}
