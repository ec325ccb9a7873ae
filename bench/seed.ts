/** A long delivery log with rows as the service writes them: easy rows make easy figures. */
import type { Stand } from "./stand.ts";

const STEP = 100_000;

/** What the attempts of these rows have in common; their values are two digests, a short text and a date. */
const HEADER_SET = `{"request":[["User-Agent","fixed","Postern/0.2.0"],["X-Service-Signature","hex"],["X-Service-Timestamp","seconds"],["webhook-signature","base64"]],"response":[["content-type","fixed","text/plain; charset=utf-8"],["content-length","text"],["date","date"],["connection","fixed","keep-alive"]]}`;
const HEADER_SET_ID = "00000000-0000-4000-8000-000000000001";

/** SQL expressions of a row's number `n`, from 0. */
export type SeedRow = { tenant: string; endpoint: string; isFailed: string };

/**
 * `total` attempts spread evenly over the last `days`, the newest last. Each has
 * an event with a body of about 400 bytes, ids that sort by time (UUIDv7), and
 * the headers of a signed request and a usual answer, packed.
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
          SELECT n, at, ${id} AS id, ${id} AS event_id,
            ${tenant} AS tenant_id, ${endpoint} AS endpoint_id, ${isFailed} AS is_failed, sha256(int8send(n)) AS digest
          FROM moment
        ), event AS (
          INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          SELECT tenant_id, event_id, 'invoice.paid', '{"id":"' || event_id || '","event":"invoice.paid","data":{"n":'
            || n || ',"note":"' || repeat(md5(n::text), 9) || '"}}', 1 FROM row
        )
        INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, response_status, response_body, latency_ms, sent_at, header_set, header_values)
        SELECT tenant_id, endpoint_id, id, event_id, 'invoice.paid', 'event',
          CASE WHEN is_failed THEN 'failed' ELSE 'delivered' END, 1, '{}', CASE WHEN is_failed THEN 500 ELSE 200 END,
          'ok', 12, at, '${HEADER_SET_ID}', digest || digest || '\\x013240'
        FROM row`,
      [from, Math.min(from + STEP, total) - 1, total, days],
    );
  }
  await stand.sql(
    `INSERT INTO postern.header_sets (tenant_id, id, headers, used_on)
      SELECT tenant_id, $1, $2, current_date
      FROM (SELECT DISTINCT ${tenant} AS tenant_id FROM generate_series(0, $3::bigint - 1) n) AS row
      ON CONFLICT DO NOTHING`,
    [HEADER_SET_ID, HEADER_SET, total],
  );
  await stand.sql("VACUUM ANALYZE postern.deliveries, postern.events");
}
