-- Statistics of all endpoints of a tenant, in the order in which they are read: see
-- docs/adr/0031. In `delivery_stats` the rows of two endpoints are hundreds of
-- others apart, and each cause has its own.
CREATE TABLE postern.delivery_totals (
  tenant_id text NOT NULL,
  -- Minutes that the row covers from `at` on: each attempt counts in one row of each.
  grain smallint NOT NULL CHECK (grain IN (10, 60, 1440)),
  at timestamptz(0) NOT NULL,
  endpoint_id uuid NOT NULL,
  delivered bigint NOT NULL,
  failed bigint NOT NULL,
  -- Of both, those that were sent.
  sent bigint NOT NULL,
  latency_sum_ms bigint NOT NULL,
  latency_max_ms integer NOT NULL,
  PRIMARY KEY (tenant_id, grain, at, endpoint_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX delivery_totals_oldest ON postern.delivery_totals (at);

-- Of each endpoint the newest attempt that was delivered, and the newest that failed.
CREATE TABLE postern.newest_attempts (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  has_failed boolean NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, has_failed)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

ALTER TABLE postern.delivery_totals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.newest_attempts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.delivery_totals TO postern_owner USING (true);
CREATE POLICY owner ON postern.newest_attempts TO postern_owner USING (true);
CREATE POLICY tenant ON postern.delivery_totals TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.newest_attempts TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker ON postern.delivery_totals TO postern_worker USING (true);
CREATE POLICY worker ON postern.newest_attempts TO postern_worker USING (true);
GRANT SELECT ON postern.delivery_totals, postern.newest_attempts TO postern_tenant;
-- Workers remove old rows. They lock them first, and a lock needs the right to update some column.
GRANT SELECT, DELETE, UPDATE (delivered) ON postern.delivery_totals TO postern_worker;
GRANT SELECT, DELETE, UPDATE (id) ON postern.newest_attempts TO postern_worker;

-- With the body of functions/counts_folded.sql: that file is applied after the next migration, and folds go on.
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

CREATE TRIGGER counts_folded AFTER DELETE ON postern.delivery_counts
  REFERENCING OLD TABLE AS folded FOR EACH STATEMENT EXECUTE FUNCTION postern.counts_folded();
