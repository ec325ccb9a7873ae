/** What tests of statistics share: the shapes of answers, and attempts of any time in the log. */
import assert from "node:assert/strict";
import * as z from "zod";
import { idAt } from "../../src/shared/id.ts";
import type { CallOptions } from "./calls.ts";
import type { TestService } from "./service.ts";

export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const ONE = "019a2f00-0000-7000-8000-000000000001";
export const TWO = "019a2f00-0000-7000-8000-000000000002";
/** A Monday at noon, so that the seeded rows' buckets are known. */
export const NOON = Date.UTC(2026, 2, 2, 12);

export const overTime = z.strictObject({
  from: z.string(),
  to: z.string(),
  bucket: z.string(),
  buckets: z.array(
    z.strictObject({
      at: z.string(),
      delivered: z.number(),
      failed: z.number(),
      latency_avg_ms: z.number().nullable(),
      latency_max_ms: z.number().nullable(),
    }),
  ),
});
export const byEndpoint = z.strictObject({
  from: z.string(),
  to: z.string(),
  bucket: z.string(),
  endpoints: z.array(
    z.strictObject({
      endpoint_id: z.string(),
      delivered: z.number(),
      failed: z.number(),
      success_rate: z.number().nullable(),
      pending: z.number(),
      oldest_due_at: z.string().nullable(),
      last_delivered_at: z.string().nullable(),
      last_failed_at: z.string().nullable(),
      series: overTime.shape.buckets,
    }),
  ),
});
export const byCause = z.strictObject({
  from: z.string(),
  to: z.string(),
  causes: z.array(
    z.strictObject({
      cause: z.string(),
      count: z.number(),
      first_at: z.string(),
      last_at: z.string(),
      example_delivery_id: z.string(),
    }),
  ),
});

type Seeded = {
  atMs: number;
  endpoint: string;
  status: string;
  error: string | null;
  answer: number | null;
  ms: number;
};

export const delivered = (atMs: number, ms = 10, endpoint = ONE): Seeded => ({
  atMs,
  endpoint,
  status: "delivered",
  error: null,
  answer: 200,
  ms,
});
export const failed = (atMs: number, error: string | null, endpoint = ONE): Seeded => ({
  atMs,
  endpoint,
  status: "failed",
  error,
  answer: error === null ? 500 : null,
  ms: error === "endpoint_deleted" ? 0 : 30,
});

export const at = (ms: number) => new Date(ms).toISOString();
export const range = (fromMs: number, toMs: number): string =>
  `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;

/** Of a service that is started later. */
export function statsOf(service: () => TestService) {
  async function read<Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    options?: CallOptions,
  ): Promise<z.output<Shape>> {
    const answer = await service().call("GET", `/api/stats${path}`, options);
    assert.equal(answer.status, 200, answer.text);
    return shape.parse(answer.body);
  }

  async function log(rows: readonly Seeded[], tenant = "acme"): Promise<string[]> {
    const ids = rows.map(({ atMs }) => idAt(atMs));
    await service().database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, response_status, latency_ms, error, sent_at)
        SELECT $1, endpoint, id, postern.uuid_v7(), 'invoice.paid', CASE status WHEN 'test' THEN 'test' ELSE 'event' END,
          status, 1, '{}', answer, ms, error, CASE WHEN error = 'endpoint_deleted' THEN NULL ELSE now() END
        FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::smallint[], $6::integer[], $7::text[])
          AS given (endpoint, id, status, answer, ms, error)`,
      [
        tenant,
        rows.map((row) => row.endpoint),
        ids,
        rows.map((row) => row.status),
        rows.map((row) => row.answer),
        rows.map((row) => row.ms),
        rows.map((row) => row.error),
      ],
    );
    return ids;
  }

  async function empty(): Promise<void> {
    // One after the other: a TRUNCATE of all locks out the running service, which locks them in an order of its own.
    const folded = ["delivery_stats", "delivery_totals", "newest_attempts"];
    for (const table of ["deliveries", "delivery_counts", ...folded, "dispatches", "endpoints"])
      await service().database.pool.query(`DELETE FROM postern.${table}`);
  }

  return { read, log, empty };
}
