/** A long delivery log with rows as the service writes them: easy rows make easy figures. */
import type { Stand } from "./stand.ts";

const STEP = 100_000;

/** SQL expressions of a row's number `n`, from 0. */
export type SeedRow = { tenant: string; endpoint: string; isFailed: string };

/**
 * `total` attempts spread evenly over the last `days`, the newest last. Each has
 * an event with a body of about 400 bytes, ids that sort by time (UUIDv7), and
 * the headers of a signed request and a usual answer.
 */
export async function seedDeliveries(
  stand: Pick<Stand, "sql">,
  { total, days }: { total: number; days: number },
  { tenant, endpoint, isFailed }: SeedRow,
): Promise<void> {
  await stand.sql(
    `SELECT postern.ensure_partitions((now() AT TIME ZONE 'UTC')::date - $1::int, (now() AT TIME ZONE 'UTC')::date)`,
    [days + 1],
  );
  // The form of lowest_id_at with the version, and the rest, of a random UUID behind the time.
  const id = `overlay(postern.lowest_id_at(at)::text PLACING '7' || right(gen_random_uuid()::text, 21) FROM 15)::uuid`;
  for (let from = 0; from < total; from += STEP) {
    await stand.sql(
      `WITH moment AS (
          SELECT n, now() - make_interval(secs => (1 - n::float8 / $3) * 86400 * $4::int) AS at
          FROM generate_series($1::bigint, $2::bigint) n
        ), row AS MATERIALIZED (
          SELECT n, extract(epoch FROM at)::bigint AS seconds, ${id} AS id, ${id} AS event_id,
            ${tenant} AS tenant_id, ${endpoint} AS endpoint_id, ${isFailed} AS is_failed,
            encode(sha256(int8send(n)), 'hex') AS hex, encode(sha256(int8send(n)), 'base64') AS base64
          FROM moment
        ), event AS (
          INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          SELECT tenant_id, event_id, 'invoice.paid', '{"id":"' || event_id || '","event":"invoice.paid","data":{"n":'
            || n || ',"note":"' || repeat(md5(n::text), 9) || '"}}', 1 FROM row
        )
        INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, response_status, response_headers, response_body, latency_ms)
        SELECT tenant_id, endpoint_id, id, event_id, 'invoice.paid', 'event',
          CASE WHEN is_failed THEN 'failed' ELSE 'delivered' END, 1,
          json_build_object('Content-Type', 'application/json', 'User-Agent', 'Postern/0.1.0',
            'Accept-Encoding', 'identity', 'X-Service-Signature', 'sha256=' || hex, 'X-Service-Timestamp', seconds::text,
            'X-Service-Event', 'invoice.paid', 'X-Service-Delivery', id, 'webhook-id', event_id,
            'webhook-timestamp', seconds::text, 'webhook-signature', 'v1,' || base64),
          CASE WHEN is_failed THEN 500 ELSE 200 END,
          '{"content-type":"text/plain; charset=utf-8","content-length":"2","date":"Mon, 02 Mar 2026 09:30:00 GMT","connection":"keep-alive"}',
          'ok', 12
        FROM row`,
      [from, Math.min(from + STEP, total) - 1, total, days],
    );
  }
  await stand.sql("VACUUM ANALYZE postern.deliveries, postern.events");
}
