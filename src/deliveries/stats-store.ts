/**
 * Counts of the log's attempts. The log's trigger adds rows to
 * `delivery_counts` (migrations/functions/log_added.sql); workers add
 * those up in `delivery_stats`. A reader takes both in one statement, so it
 * misses no attempt and counts none twice.
 */
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import type { Grain, Span } from "./stats-range.ts";

/** In place of an endpoint's id: all endpoints of the tenant, deleted ones included. */
const ALL_ENDPOINTS = "00000000-0000-0000-0000-000000000000";
const ROWS_AT_ONCE = 20_000;

export type Counts = {
  delivered: number;
  failed: number;
  /** Of the attempts that were sent; null where none was. */
  latencyAvgMs: number | null;
  latencyMaxMs: number | null;
};
export type BucketCounts = Counts & { atMs: number };

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

/** Time, delivered, failed, average and greatest latency, as {@link BucketCounts} names them. */
type BucketTuple = [number, number, number, number | null, number | null];

/** The same for each of these endpoints that has some, in any order. */
export async function readEndpointBuckets(
  db: Db,
  tenantId: TenantId,
  { endpointIds, grain, span }: { endpointIds: readonly EndpointId[]; grain: Grain; span: Span },
): Promise<Map<EndpointId, BucketCounts[]>> {
  // A value an endpoint: thousands of rows took longer to take apart than to read.
  const { rows } = await db.query<{ endpointId: EndpointId; buckets: BucketTuple[] }>({
    name: "read-endpoint-buckets",
    text: /* sql */ `SELECT endpoint_id AS "endpointId",
        json_agg(json_build_array("atMs", delivered, failed, "latencyAvgMs", "latencyMaxMs")) AS buckets
      FROM (
        SELECT endpoint_id, (extract(epoch FROM at) * 1000)::float8 AS "atMs", ${SUMS} FROM (
          SELECT s.endpoint_id, at, ${MEASURES} FROM unnest($2::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
            SELECT * FROM postern.delivery_stats
            WHERE tenant_id = $1 AND endpoint_id = wanted.id AND grain = $3 AND at >= $4 AND at < $5) AS s
          UNION ALL
          SELECT endpoint_id, date_bin(make_interval(mins => $3), at, 'epoch'), ${MEASURES} FROM postern.delivery_counts
          WHERE tenant_id = $1 AND at >= $4 AND at < $5 AND endpoint_id = ANY ($2)
        ) AS counted GROUP BY endpoint_id, at
      ) AS bucket GROUP BY endpoint_id`,
    values: [tenantId, endpointIds, grain, ...boundsOf(span)],
  });
  return new Map(rows.map(({ endpointId, buckets }) => [endpointId, buckets.map(toBucket)]));
}

function toBucket([atMs, delivered, failed, latencyAvgMs, latencyMaxMs]: BucketTuple): BucketCounts {
  return { atMs, delivered, failed, latencyAvgMs, latencyMaxMs };
}

export type EndpointNow = {
  endpointId: EndpointId;
  /** Dispatches that wait, are held or are in flight; no more than were to be counted. */
  pending: number;
  oldestDueAt: Date | null;
  /** The newest delivered and the newest failed attempt. */
  lastDelivered: DeliveryId | null;
  lastFailed: DeliveryId | null;
};

const newestSql = (comparison: "=" | "<>"): string => /* sql */ `(
  SELECT max(last_id::text COLLATE "C")::uuid FROM (
    (SELECT last_id FROM postern.delivery_stats
      WHERE tenant_id = $1 AND endpoint_id = wanted.id AND grain = 1440 AND cause ${comparison} ''
      ORDER BY at DESC, last_id DESC LIMIT 1)
    UNION ALL
    (SELECT last_id FROM unfolded WHERE endpoint_id = wanted.id AND cause ${comparison} '')
  ) AS newest)`;

/** What each of these endpoints has pending, and its newest attempts. */
export async function readEndpointsNow(
  db: Db,
  tenantId: TenantId,
  { endpointIds, maxPending }: { endpointIds: readonly EndpointId[]; maxPending: number },
): Promise<EndpointNow[]> {
  const { rows } = await db.query<EndpointNow>({
    name: "read-endpoints-now",
    text: /* sql */ `WITH unfolded AS MATERIALIZED (
        SELECT endpoint_id, cause, last_id FROM postern.delivery_counts WHERE tenant_id = $1
      )
      SELECT wanted.id AS "endpointId", waiting.pending, waiting.oldest_due_at AS "oldestDueAt",
        ${newestSql("=")} AS "lastDelivered", ${newestSql("<>")} AS "lastFailed"
      FROM unnest($2::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
        SELECT count(*)::int AS pending, min(due_at) AS oldest_due_at FROM (
          SELECT due_at FROM postern.dispatches
          WHERE tenant_id = $1 AND endpoint_id = wanted.id AND NOT superseded LIMIT $3
        ) AS counted
      ) AS waiting`,
    values: [tenantId, endpointIds, maxPending],
  });
  return rows;
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

/** Deletes some counts of days that the log has dropped; true when there may be more. Of all tenants. */
export async function forgetOldStats(db: Db, retentionDays: number): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `DELETE FROM postern.delivery_stats WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM postern.delivery_stats
        WHERE at < date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(days => $1)
        ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    [retentionDays, ROWS_AT_ONCE],
  );
  return rowCount === ROWS_AT_ONCE;
}
