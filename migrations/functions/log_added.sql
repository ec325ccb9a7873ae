-- The trigger of the log, whoever adds attempts to it. It adds their counts in the
-- same statement, one row for each endpoint, ten minutes and cause. And where a
-- tenant's log is watched, it names them to the watchers, who hear it on commit:
-- as many as fit into a notification (8,000 bytes), what did not succeed first.
CREATE OR REPLACE FUNCTION postern.log_added() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most_named CONSTANT integer := 80;
BEGIN
  IF EXISTS (SELECT FROM postern.log_watches) THEN
    PERFORM pg_notify('postern_log', json_build_object('tenant', tenant_id, 'omitted', greatest(count(*) - most_named, 0),
        'added', array_agg(endpoint_id || ' ' || id || ' ' || status ORDER BY place) FILTER (WHERE place <= most_named))::text)
    FROM (
      SELECT tenant_id, endpoint_id, id, status,
        row_number() OVER (PARTITION BY tenant_id ORDER BY status = 'delivered', id) AS place
      FROM logged WHERE tenant_id IN (SELECT w.tenant_id FROM postern.log_watches w WHERE until > now())
    ) AS watched
    GROUP BY tenant_id;
  END IF;
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

REVOKE EXECUTE ON FUNCTION postern.log_added() FROM PUBLIC;
