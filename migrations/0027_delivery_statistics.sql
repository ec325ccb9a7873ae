-- Counts of the log's attempts, so that statistics read some rows instead of
-- the log. `delivery_counts` gets a few rows with each statement that logs
-- attempts; every some seconds they are added to `delivery_stats` and go. Who
-- reads adds up both, so the counts agree with the log at any time.
--
-- Tests are not counted. Attempts from before this migration are not, either.

CREATE TABLE postern.delivery_counts (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  -- The ten minutes in which the attempts were created.
  at timestamptz(0) NOT NULL,
  -- Why they failed: the error, or http_ and the status. Empty for delivered ones.
  cause text NOT NULL,
  count bigint NOT NULL,
  -- Of those that were sent.
  sent bigint NOT NULL,
  latency_sum_ms bigint NOT NULL,
  latency_max_ms integer NOT NULL,
  first_id uuid NOT NULL,
  last_id uuid NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX delivery_counts_of_tenant ON postern.delivery_counts (tenant_id, at);

CREATE TABLE postern.delivery_stats (
  tenant_id text NOT NULL,
  -- The nil UUID for all endpoints of the tenant together.
  endpoint_id uuid NOT NULL,
  -- Minutes that the row covers from `at` on: each attempt counts in one row of each.
  grain smallint NOT NULL CHECK (grain IN (10, 60, 1440)),
  at timestamptz(0) NOT NULL,
  cause text NOT NULL,
  count bigint NOT NULL,
  sent bigint NOT NULL,
  latency_sum_ms bigint NOT NULL,
  latency_max_ms integer NOT NULL,
  first_id uuid NOT NULL,
  last_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, grain, at, cause)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX delivery_stats_oldest ON postern.delivery_stats (at);

ALTER TABLE postern.delivery_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.delivery_stats ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.delivery_counts TO postern_owner USING (true);
CREATE POLICY owner ON postern.delivery_stats TO postern_owner USING (true);
CREATE POLICY tenant ON postern.delivery_counts TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.delivery_stats TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker ON postern.delivery_counts TO postern_worker USING (true);
CREATE POLICY worker ON postern.delivery_stats TO postern_worker USING (true);
GRANT SELECT ON postern.delivery_counts, postern.delivery_stats TO postern_tenant;
-- Taking rows locks them first, and a lock needs the right to update some column.
GRANT SELECT, UPDATE (count), DELETE ON postern.delivery_counts TO postern_worker;
GRANT SELECT, INSERT, DELETE,
  UPDATE (count, sent, latency_sum_ms, latency_max_ms, first_id, last_id)
  ON postern.delivery_stats TO postern_worker;

-- Its body is in functions/log_added.sql.
CREATE FUNCTION postern.log_added() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN NULL; END $$;
REVOKE EXECUTE ON FUNCTION postern.log_added() FROM PUBLIC;

CREATE TRIGGER log_added AFTER INSERT ON postern.deliveries
  REFERENCING NEW TABLE AS logged FOR EACH STATEMENT EXECUTE FUNCTION postern.log_added();
