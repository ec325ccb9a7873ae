/**
 * Counts of the log's attempts. The log's trigger adds rows to
 * `delivery_counts` (migrations/functions/log_added.sql). Workers fold those:
 * they add them up in `delivery_stats`, and a trigger in `delivery_totals` and
 * `newest_attempts` (functions/counts_folded.sql). A reader takes folded and
 * unfolded ones in one statement, so it misses no attempt and counts none twice.
 */
import { notOnItsWay } from "../database/on-its-way.ts";
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import { addUpParts, type BucketCounts } from "./bucket-parts.ts";
import type { Grain, Span } from "./stats-range.ts";

/** In place of an endpoint's id: all endpoints of the tenant, deleted ones included. */
const ALL_ENDPOINTS = "00000000-0000-0000-0000-000000000000";
const ROWS_AT_ONCE = 20_000;

/** What the rows of a bucket count together. As doubles, since the sum of a bigint is a numeric, which takes twice as long. */
const SUMS = /* sql */ `
  coalesce(sum(count) FILTER (WHERE cause = ''), 0) AS delivered,
  coalesce(sum(count) FILTER (WHERE cause <> ''), 0) AS failed,
  sum(latency_sum_ms) / nullif(sum(sent), 0) AS "latencyAvgMs",
  CASE WHEN sum(sent) > 0 THEN max(latency_max_ms) END AS "latencyMaxMs"`;
const MEASURES = /* sql */ `cause, count::float8, sent::float8, latency_sum_ms::float8, latency_max_ms`;

/** Buckets with attempts of one endpoint, or of all of them (null), in any order. The span is of whole buckets. */
export async function readBuckets(
  db: Db,
  tenantId: TenantId,
  { endpointId, grain, span }: { endpointId: EndpointId | null; grain: Grain; span: Span },
): Promise<BucketCounts[]> {
  const { rows } = await db.query<BucketCounts>({
    name: `read-delivery-buckets-${endpointId === null ? "all" : "one"}`,
    text: /* sql */ `SELECT (extract(epoch FROM at) * 1000)::float8 AS "atMs", ${SUMS} FROM (
        SELECT at, ${MEASURES} FROM postern.delivery_stats
        WHERE tenant_id = $1 AND endpoint_id = $2 AND grain = $3 AND at >= $4 AND at < $5
        UNION ALL
        SELECT date_bin(make_interval(mins => $3), at, 'epoch'), ${MEASURES} FROM postern.delivery_counts
        WHERE tenant_id = $1 AND at >= $4 AND at < $5 ${endpointId === null ? "" : "AND endpoint_id = $2"}
      ) AS counted GROUP BY at`,
    values: [tenantId, endpointId ?? ALL_ENDPOINTS, grain, ...boundsOf(span)],
  });
  return rows;
}

/** Of one bucket: when it begins, in seconds since 1970, and what is counted. */
const PARTS = /* sql */ `string_agg(concat_ws(',', date_part('epoch', at)::bigint, delivered, failed, sent,
  latency_sum_ms, latency_max_ms), ',') AS parts`;

/**
 * The same for each of the tenant's endpoints, deleted ones included. An
 * endpoint's buckets come as one text: thousands of values took longer to take
 * apart than to read. Folded and unfolded counts of a bucket are added up here.
 */
export async function readEndpointBuckets(
  db: Db,
  tenantId: TenantId,
  { grain, span }: { grain: Grain; span: Span },
): Promise<Map<EndpointId, BucketCounts[]>> {
  const { rows } = await db.query<{ endpointId: EndpointId; parts: string }>({
    name: "read-endpoint-buckets",
    text: /* sql */ `SELECT endpoint_id AS "endpointId", ${PARTS} FROM postern.delivery_totals
      WHERE tenant_id = $1 AND grain = $2 AND at >= $3 AND at < $4 GROUP BY endpoint_id
      UNION ALL
      SELECT endpoint_id, ${PARTS} FROM (
        SELECT endpoint_id, date_bin(make_interval(mins => $2), at, 'epoch') AS at,
          coalesce(sum(count) FILTER (WHERE cause = ''), 0) AS delivered,
          coalesce(sum(count) FILTER (WHERE cause <> ''), 0) AS failed,
          sum(sent) AS sent, sum(latency_sum_ms) AS latency_sum_ms, max(latency_max_ms) AS latency_max_ms
        FROM postern.delivery_counts WHERE tenant_id = $1 AND at >= $3 AND at < $4 GROUP BY 1, 2
      ) AS unfolded GROUP BY endpoint_id`,
    values: [tenantId, grain, ...boundsOf(span)],
  });
  return addUpParts(rows);
}

export type EndpointNow = {
  endpointId: EndpointId;
  /** Dispatches that wait, are held or are in flight; no more than were to be counted. */
  pending: number;
  oldestDueAt: Date | null;
};

/** What each of the tenant's newest endpoints has pending; the newest endpoint first. */
export async function readEndpointsNow(
  db: Db,
  tenantId: TenantId,
  { maxEndpoints, maxPending }: { maxEndpoints: number; maxPending: number },
): Promise<EndpointNow[]> {
  const { rows } = await db.query<EndpointNow>({
    name: "read-endpoints-now",
    text: /* sql */ `SELECT own.id AS "endpointId", waiting.pending, waiting.oldest_due_at AS "oldestDueAt"
      FROM (
        SELECT id FROM postern.endpoints WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2
      ) AS own CROSS JOIN LATERAL (
        SELECT count(*)::int AS pending, min(due_at) AS oldest_due_at FROM (
          SELECT due_at FROM postern.dispatches
          WHERE tenant_id = $1 AND endpoint_id = own.id AND NOT superseded LIMIT $3
        ) AS counted
      ) AS waiting ORDER BY own.id DESC`,
    values: [tenantId, maxEndpoints, maxPending],
  });
  return rows;
}

export type NewestAttempts = { delivered: DeliveryId | null; failed: DeliveryId | null };

/** The newest attempts of each of the tenant's endpoints that has some, deleted ones included. */
export async function readNewestAttempts(
  db: Db,
  tenantId: TenantId,
): Promise<Map<EndpointId, NewestAttempts>> {
  const { rows } = await db.query<{ endpointId: EndpointId; hasFailed: boolean; id: DeliveryId }>({
    name: "read-newest-attempts",
    text: /* sql */ `SELECT endpoint_id AS "endpointId", has_failed AS "hasFailed", id
      FROM postern.newest_attempts WHERE tenant_id = $1
      UNION ALL
      SELECT endpoint_id, cause <> '', max(last_id::text COLLATE "C")::uuid
      FROM postern.delivery_counts WHERE tenant_id = $1 GROUP BY 1, 2`,
    values: [tenantId],
  });
  const newest = new Map<EndpointId, NewestAttempts>();
  for (const { endpointId, hasFailed, id } of rows) {
    const known = newest.get(endpointId) ?? { delivered: null, failed: null };
    newest.set(endpointId, known);
    const outcome = hasFailed ? "failed" : "delivered";
    const other = known[outcome];
    if (other === null || id > other) known[outcome] = id;
  }
  return newest;
}

export type CauseCount = { cause: string; count: number; firstId: DeliveryId; lastId: DeliveryId };

/** Why attempts of these spans failed, most frequent first. */
export async function readCauses(
  db: Db,
  tenantId: TenantId,
  {
    endpointId,
    spans,
    limit,
  }: { endpointId: EndpointId | null; spans: (Span & { grain: Grain })[]; limit: number },
): Promise<CauseCount[]> {
  const { rows } = await db.query<CauseCount>({
    name: `read-delivery-causes-${endpointId === null ? "all" : "one"}`,
    text: /* sql */ `SELECT cause, sum(count)::float8 AS count,
        min(first_id::text COLLATE "C") AS "firstId", max(last_id::text COLLATE "C") AS "lastId"
      FROM unnest($3::smallint[], $4::timestamptz[], $5::timestamptz[]) AS span (grain, starts_at, ends_at)
      CROSS JOIN LATERAL (
        SELECT cause, count, first_id, last_id FROM postern.delivery_stats
        WHERE tenant_id = $1 AND endpoint_id = $2 AND grain = span.grain AND at >= starts_at AND at < ends_at
        UNION ALL
        SELECT cause, count, first_id, last_id FROM postern.delivery_counts
        WHERE tenant_id = $1 AND at >= starts_at AND at < ends_at ${endpointId === null ? "" : "AND endpoint_id = $2"}
      ) AS counted
      WHERE cause <> '' GROUP BY cause ORDER BY count DESC, cause LIMIT $6`,
    values: [
      tenantId,
      endpointId ?? ALL_ENDPOINTS,
      spans.map(({ grain }) => grain),
      spans.map(({ fromMs }) => new Date(fromMs)),
      spans.map(({ toMs }) => new Date(toMs)),
      limit,
    ],
  });
  return rows;
}

function boundsOf({ fromMs, toMs }: Span): [Date, Date] {
  return [new Date(fromMs), new Date(toMs)];
}

/**
 * Adds some of the rows of `delivery_counts` to `delivery_stats`; true when
 * there may be more. Of all tenants. Two processes at once take different rows,
 * and add them in the order of the key, so neither waits for the other twice.
 */
export async function foldCounts(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ taken: number }>({
    name: "fold-delivery-counts",
    text: /* sql */ `WITH next AS MATERIALIZED (
        SELECT ctid AS place FROM postern.delivery_counts LIMIT $1 FOR UPDATE SKIP LOCKED
      ), taken AS (
        DELETE FROM postern.delivery_counts WHERE ctid = ANY (ARRAY(SELECT place FROM next)) RETURNING *
      ), folded AS (
        INSERT INTO postern.delivery_stats AS s (tenant_id, endpoint_id, grain, at, cause, count, sent,
          latency_sum_ms, latency_max_ms, first_id, last_id)
        SELECT tenant_id, owner.id, grain, date_bin(make_interval(mins => grain), at, 'epoch') AS starts_at, cause,
          sum(count), sum(sent), sum(latency_sum_ms), max(latency_max_ms),
          min(first_id::text COLLATE "C")::uuid, max(last_id::text COLLATE "C")::uuid
        FROM taken CROSS JOIN LATERAL (VALUES (endpoint_id), ('${ALL_ENDPOINTS}'::uuid)) AS owner (id)
          CROSS JOIN (VALUES (10), (60), (1440)) AS grains (grain)
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (tenant_id, endpoint_id, grain, at, cause) DO UPDATE SET
          count = s.count + excluded.count,
          sent = s.sent + excluded.sent,
          latency_sum_ms = s.latency_sum_ms + excluded.latency_sum_ms,
          latency_max_ms = greatest(s.latency_max_ms, excluded.latency_max_ms),
          first_id = least(s.first_id, excluded.first_id),
          last_id = greatest(s.last_id, excluded.last_id)
      )
      SELECT count(*)::int AS taken FROM taken`,
    values: [ROWS_AT_ONCE],
  });
  return rows[0]?.taken === ROWS_AT_ONCE;
}

/** The day of a row, as the index of what is oldest has it. */
const DAY = /* sql */ `(at AT TIME ZONE 'UTC')::date`;

/** Deletes some counts of days that the log has dropped; true when there may be more. Of all tenants. */
export async function forgetOldStats(db: Db, retentionDays: number): Promise<boolean> {
  const { rows } = await db.query<{ most: number }>(
    /* sql */ `WITH bound AS MATERIALIZED (
        SELECT (now() AT TIME ZONE 'UTC')::date - $1::int AS day
      ), stats AS (
        DELETE FROM postern.delivery_stats WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM postern.delivery_stats WHERE ${DAY} < (SELECT day FROM bound)
          ORDER BY ${DAY} LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1
      ), totals AS (
        DELETE FROM postern.delivery_totals WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM postern.delivery_totals WHERE ${DAY} < (SELECT day FROM bound)
          ORDER BY ${DAY} LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1
      ), newest AS (
        DELETE FROM postern.newest_attempts WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM postern.newest_attempts
          WHERE id < (SELECT postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC') FROM bound)
            AND ${notOnItsWay("tenant_id")}
          LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1
      )
      SELECT greatest((SELECT count(*) FROM stats), (SELECT count(*) FROM totals), (SELECT count(*) FROM newest))::int
        AS most`,
    [retentionDays, ROWS_AT_ONCE],
  );
  return rows[0]?.most === ROWS_AT_ONCE;
}
