/** Statistics as callers see them. */
import * as z from "zod";
import { MAX_PENDING, type CauseStats, type EndpointStats } from "../deliveries/stats.ts";
import { BUCKET_NAMES, type Span } from "../deliveries/stats-range.ts";
import type { BucketCounts } from "../deliveries/bucket-parts.ts";

const instant = z.iso.datetime();
const id = z.uuid();
const count = z.int().min(0);
const spanAnswer = {
  from: instant.describe("Rounded down to a whole bucket."),
  to: instant.describe("Exclusive, rounded up to a whole bucket."),
};

export function spanView({ fromMs, toMs }: Span) {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

const bucketObject = z.object({
  at: instant.describe("When the bucket begins."),
  delivered: count,
  failed: count,
  latency_avg_ms: z.number().nullable().describe("Of the attempts that were sent. Null where none was."),
  latency_max_ms: z.int().nullable(),
});

/** Buckets of one answer, whose endpoints share their times: writing each anew took as long as all the rest. */
export function makeBucketView(): (bucket: BucketCounts) => z.infer<typeof bucketObject> {
  const instants = new Map<number, string>();
  const instantOf = (atMs: number): string => {
    const known = instants.get(atMs) ?? new Date(atMs).toISOString();
    instants.set(atMs, known);
    return known;
  };
  return ({ atMs, delivered, failed, latencyAvgMs, latencyMaxMs }) => ({
    at: instantOf(atMs),
    delivered,
    failed,
    latency_avg_ms: latencyAvgMs === null ? null : Math.round(latencyAvgMs * 10) / 10,
    latency_max_ms: latencyMaxMs,
  });
}

const endpointStatsObject = z.object({
  endpoint_id: id,
  delivered: count,
  failed: count,
  success_rate: z.number().min(0).max(1).nullable().describe("Null where there was no attempt."),
  pending: z
    .int()
    .min(0)
    .max(MAX_PENDING)
    .describe("Dispatches that wait, are held or are in flight, so many at most."),
  oldest_due_at: instant.nullable().describe("Of the attempts counted as pending."),
  last_delivered_at: instant.nullable().describe("As far back as the log goes."),
  last_failed_at: instant.nullable().describe("As far back as the log goes."),
  series: z.array(bucketObject),
});

export function endpointViews(endpoints: readonly EndpointStats[]): z.infer<typeof endpointStatsObject>[] {
  const bucketView = makeBucketView();
  return endpoints.map((endpoint) => endpointView(endpoint, bucketView));
}

function endpointView(
  endpoint: EndpointStats,
  bucketView: ReturnType<typeof makeBucketView>,
): z.infer<typeof endpointStatsObject> {
  const delivered = endpoint.series.reduce((sum, bucket) => sum + bucket.delivered, 0);
  const failed = endpoint.series.reduce((sum, bucket) => sum + bucket.failed, 0);
  return {
    endpoint_id: endpoint.endpointId,
    delivered,
    failed,
    success_rate: delivered + failed === 0 ? null : delivered / (delivered + failed),
    pending: endpoint.pending,
    oldest_due_at: endpoint.oldestDueAt?.toISOString() ?? null,
    last_delivered_at: endpoint.lastDeliveredAt?.toISOString() ?? null,
    last_failed_at: endpoint.lastFailedAt?.toISOString() ?? null,
    series: endpoint.series.map(bucketView),
  };
}

const causeObject = z.object({
  cause: z.string(),
  count,
  first_at: instant.describe("`created_at` of the first such attempt in the rounded span."),
  last_at: instant.describe("`created_at` of the newest."),
  example_delivery_id: id.describe("The newest."),
});

export function causeView({
  cause,
  count: failures,
  firstAt,
  lastAt,
  example,
}: CauseStats): z.infer<typeof causeObject> {
  return {
    cause,
    count: failures,
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
    example_delivery_id: example,
  };
}

const bucketName = z.enum(BUCKET_NAMES);
export const overTimeAnswer = z.object({ ...spanAnswer, bucket: bucketName, buckets: z.array(bucketObject) });
export const endpointsAnswer = z.object({
  ...spanAnswer,
  bucket: bucketName,
  endpoints: z.array(endpointStatsObject),
});
export const causesAnswer = z.object({ ...spanAnswer, causes: z.array(causeObject) });

const bucketExample: z.infer<typeof bucketObject> = {
  at: "2026-01-31T09:00:00.000Z",
  delivered: 1180,
  failed: 12,
  latency_avg_ms: 41.3,
  latency_max_ms: 2210,
};
const spanExample = { from: "2026-01-31T09:00:00.000Z", to: "2026-01-31T10:00:00.000Z" };

export const overTimeExample: z.infer<typeof overTimeAnswer> = {
  ...spanExample,
  bucket: "1h",
  buckets: [bucketExample],
};

export const endpointsExample: z.infer<typeof endpointsAnswer> = {
  ...spanExample,
  bucket: "10m",
  endpoints: [
    {
      endpoint_id: "019a2f00-0000-7000-8000-000000000001",
      delivered: 1180,
      failed: 12,
      success_rate: 0.9899,
      pending: 3,
      oldest_due_at: "2026-01-31T09:58:02.120Z",
      last_delivered_at: "2026-01-31T09:59:58.018Z",
      last_failed_at: "2026-01-31T09:41:10.553Z",
      series: [bucketExample],
    },
  ],
};

export const causesExample: z.infer<typeof causesAnswer> = {
  ...spanExample,
  causes: [
    {
      cause: "http_500",
      count: 9,
      first_at: "2026-01-31T09:02:44.010Z",
      last_at: "2026-01-31T09:41:10.553Z",
      example_delivery_id: "019c1335-1c12-7e0a-b5ae-1f0d3a5c9b01",
    },
  ],
};
