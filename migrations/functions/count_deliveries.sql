-- The trigger of the log: whoever adds attempts to it, their counts are added in
-- the same statement. One row for each endpoint, ten minutes and cause.
CREATE OR REPLACE FUNCTION postern.count_deliveries() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO postern.delivery_counts
    (tenant_id, endpoint_id, at, cause, count, sent, latency_sum_ms, latency_max_ms, first_id, last_id)
  SELECT tenant_id, endpoint_id, date_bin('10 minutes', created_at, 'epoch'), cause, count(*), count(sent_at),
    coalesce(sum(latency_ms) FILTER (WHERE sent_at IS NOT NULL), 0),
    coalesce(max(latency_ms) FILTER (WHERE sent_at IS NOT NULL), 0),
    -- In this order texts of ids sort as the ids do; PostgreSQL 15 finds no least id.
    min(id COLLATE "C")::uuid, max(id COLLATE "C")::uuid
  FROM (
    SELECT tenant_id, endpoint_id, id::text AS id, sent_at, latency_ms,
      to_timestamp(('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 1000.0) AS created_at,
      CASE status WHEN 'delivered' THEN '' ELSE coalesce(error, 'http_' || response_status, 'unknown') END AS cause
    FROM logged WHERE status <> 'test'
  ) AS attempts
  GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.count_deliveries() FROM PUBLIC;
