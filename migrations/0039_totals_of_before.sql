-- The totals of what was folded until now, from `delivery_stats`. Folds wait
-- meanwhile, about 25 seconds for each million rows there on a slow machine; the log does not, as
-- its counts go to `delivery_counts`. What was folded since the migration before
-- is in both tables, so each total is written anew and not added to.
LOCK TABLE postern.delivery_stats IN SHARE MODE;
INSERT INTO postern.delivery_totals
  (tenant_id, grain, at, endpoint_id, delivered, failed, sent, latency_sum_ms, latency_max_ms)
SELECT tenant_id, grain, at, endpoint_id,
  coalesce(sum(count) FILTER (WHERE cause = ''), 0), coalesce(sum(count) FILTER (WHERE cause <> ''), 0),
  sum(sent), sum(latency_sum_ms), max(latency_max_ms)
FROM postern.delivery_stats WHERE endpoint_id <> '00000000-0000-0000-0000-000000000000'
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (tenant_id, grain, at, endpoint_id) DO UPDATE SET
  delivered = excluded.delivered,
  failed = excluded.failed,
  sent = excluded.sent,
  latency_sum_ms = excluded.latency_sum_ms,
  latency_max_ms = excluded.latency_max_ms;

INSERT INTO postern.newest_attempts AS n (tenant_id, endpoint_id, has_failed, id)
SELECT tenant_id, endpoint_id, cause <> '', max(last_id::text COLLATE "C")::uuid FROM postern.delivery_stats
WHERE endpoint_id <> '00000000-0000-0000-0000-000000000000' AND grain = 1440
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (tenant_id, endpoint_id, has_failed) DO UPDATE SET id = excluded.id WHERE n.id < excluded.id;
