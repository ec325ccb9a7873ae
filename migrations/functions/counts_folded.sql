-- The trigger of `delivery_counts` for deleted rows. These are being folded, so it
-- adds them to `delivery_totals` and `newest_attempts` in the same statement. It is
-- a trigger because workers of the release before fold too, and know neither table.
-- Counts of a tenant that is being erased are dropped. Rows are written in the order
-- of their key, so two folds do not wait for each other twice.
CREATE OR REPLACE FUNCTION postern.counts_folded() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO postern.delivery_totals AS t
    (tenant_id, grain, at, endpoint_id, delivered, failed, sent, latency_sum_ms, latency_max_ms)
  SELECT tenant_id, grain, date_bin(make_interval(mins => grain), at, 'epoch') AS starts_at, endpoint_id,
    coalesce(sum(count) FILTER (WHERE cause = ''), 0), coalesce(sum(count) FILTER (WHERE cause <> ''), 0),
    sum(sent), sum(latency_sum_ms), max(latency_max_ms)
  FROM folded CROSS JOIN (VALUES (10), (60), (1440)) AS grains (grain)
  WHERE tenant_id NOT IN (SELECT e.tenant_id FROM postern.tenant_erasures e WHERE e.status = 'running')
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, grain, at, endpoint_id) DO UPDATE SET
    delivered = t.delivered + excluded.delivered,
    failed = t.failed + excluded.failed,
    sent = t.sent + excluded.sent,
    latency_sum_ms = t.latency_sum_ms + excluded.latency_sum_ms,
    latency_max_ms = greatest(t.latency_max_ms, excluded.latency_max_ms);
  INSERT INTO postern.newest_attempts AS n (tenant_id, endpoint_id, has_failed, id)
  -- In this order texts of ids sort as the ids do; PostgreSQL 15 finds no greatest id.
  SELECT tenant_id, endpoint_id, cause <> '', max(last_id::text COLLATE "C")::uuid FROM folded
  WHERE tenant_id NOT IN (SELECT e.tenant_id FROM postern.tenant_erasures e WHERE e.status = 'running')
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, endpoint_id, has_failed) DO UPDATE SET id = excluded.id WHERE n.id < excluded.id;
  RETURN NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.counts_folded() FROM PUBLIC;
