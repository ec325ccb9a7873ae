-- Row-level security, and narrow roles for what serves requests and makes
-- attempts. The roles belong to the cluster, not to this database: the start
-- makes them before any migration runs (src/database/roles.ts).
--
--   postern_tenant     one tenant's user: rows of the tenant in postern.tenant alone
--   postern_publisher  accepts events over HTTP, for any tenant; sees no secret, log or body
--   postern_worker     claims, attempts, completes and tidies, for any tenant
--   postern_producer   may call postern.publish, and nothing else
--   postern_owner      whom FORCE lets through: migrations, and the functions below
--
-- Grants say what a role may do, policies which rows it meets. A table without
-- a policy shows a role nothing, whatever it is granted.

-- The tenant of this transaction; null, which equals nothing, where none is set.
-- After a transaction that set it, the setting is left behind as an empty text.
CREATE FUNCTION postern.current_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT nullif(current_setting('postern.tenant', true), '')
$$;

ALTER TABLE postern.endpoints ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.dispatches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.outbox ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY owner ON postern.endpoints TO postern_owner USING (true);
CREATE POLICY owner ON postern.events TO postern_owner USING (true);
CREATE POLICY owner ON postern.idempotency_keys TO postern_owner USING (true);
CREATE POLICY owner ON postern.dispatches TO postern_owner USING (true);
CREATE POLICY owner ON postern.deliveries TO postern_owner USING (true);
CREATE POLICY owner ON postern.outbox TO postern_owner USING (true);

CREATE POLICY tenant ON postern.endpoints TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.events TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.dispatches TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.deliveries TO postern_tenant USING (tenant_id = postern.current_tenant());

CREATE POLICY accept_read ON postern.endpoints FOR SELECT TO postern_publisher, postern_worker USING (true);
CREATE POLICY accept_read ON postern.events FOR SELECT TO postern_publisher, postern_worker USING (true);
CREATE POLICY accept_add ON postern.events FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);
CREATE POLICY accept_read ON postern.idempotency_keys FOR SELECT TO postern_publisher, postern_worker USING (true);
CREATE POLICY accept_add ON postern.idempotency_keys FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);
CREATE POLICY accept_add ON postern.dispatches FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);

CREATE POLICY worker_change ON postern.endpoints FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.idempotency_keys FOR DELETE TO postern_worker USING (true);
CREATE POLICY worker_read ON postern.dispatches FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_change ON postern.dispatches FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.dispatches FOR DELETE TO postern_worker USING (true);
CREATE POLICY worker_add ON postern.deliveries FOR INSERT TO postern_worker WITH CHECK (true);
CREATE POLICY worker_read ON postern.outbox FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_lock ON postern.outbox FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.outbox FOR DELETE TO postern_worker USING (true);

GRANT USAGE ON SCHEMA postern TO postern_tenant, postern_publisher, postern_worker, postern_producer;
-- For /ready.
GRANT SELECT ON postern.schema_migrations TO postern_worker;

GRANT SELECT, INSERT,
  UPDATE (url, events, description, enabled, disabled_reason, rate_limit, headers, metadata, secret,
    previous_secret, previous_secret_until, failing_since, updated_at, deleted_at)
  ON postern.endpoints TO postern_tenant;
GRANT SELECT ON postern.events TO postern_tenant;
GRANT SELECT, UPDATE (claimable_at, held, superseded), DELETE ON postern.dispatches TO postern_tenant;
GRANT SELECT, INSERT ON postern.deliveries TO postern_tenant;

GRANT SELECT (tenant_id, id, events, enabled, deleted_at) ON postern.endpoints TO postern_publisher;
GRANT SELECT (tenant_id, id, dispatch_count), INSERT ON postern.events TO postern_publisher;
GRANT SELECT, INSERT ON postern.idempotency_keys TO postern_publisher;
GRANT INSERT ON postern.dispatches TO postern_publisher;

GRANT SELECT (tenant_id, id, url, events, enabled, rate_limit, headers, secret, previous_secret,
    previous_secret_until, failing_since, deleted_at),
  UPDATE (enabled, disabled_reason, failing_since, updated_at)
  ON postern.endpoints TO postern_worker;
GRANT SELECT, INSERT ON postern.events TO postern_worker;
GRANT SELECT, INSERT, DELETE ON postern.idempotency_keys TO postern_worker;
GRANT SELECT, INSERT, UPDATE (claimable_at, lease_owner, held), DELETE ON postern.dispatches TO postern_worker;
GRANT INSERT ON postern.deliveries TO postern_worker;
-- Taking rows locks them first, and a lock needs the right to update some column.
GRANT SELECT, UPDATE (id), DELETE ON postern.outbox TO postern_worker;
GRANT SELECT, INSERT, DELETE ON postern.event_types TO postern_worker;

-- Partitions are reached through their parents, whose policies count. Nobody is
-- granted anything on a partition itself; should someone be one day, row-level
-- security without a policy still shows nothing. Not forced: the two functions
-- that follow move and delete rows of the default partitions as the owner.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN
    SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', partition);
  END LOOP;
END
$$;

-- As before, with row-level security on each new partition. Making tables is
-- the owner's alone, so workers do it through this function.
CREATE OR REPLACE FUNCTION postern.ensure_partitions(from_day date, to_day date) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  day date;
  parent text;
  name text;
  low uuid;
  high uuid;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  -- Attaching waits for readers of the default partition, and others would wait behind it.
  PERFORM set_config('lock_timeout', '200ms', true);
  FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
    low := postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC');
    high := postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC');
    FOREACH parent IN ARRAY ARRAY['events', 'deliveries'] LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('postern.%I', name)) IS NOT NULL;
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      EXECUTE format(
        'WITH moved AS (DELETE FROM postern.%I WHERE id >= %L AND id < %L RETURNING *)
           INSERT INTO postern.%I SELECT * FROM moved',
        parent || '_default', low, high, name);
      EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, low, high);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

ALTER FUNCTION postern.drop_old_partitions(integer) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
-- So a producer needs no right on any table.
ALTER FUNCTION postern.publish(text, text, jsonb, text) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA postern FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.current_tenant() TO postern_tenant;
GRANT EXECUTE ON FUNCTION postern.uuid_v7() TO postern_publisher, postern_worker;
GRANT EXECUTE ON FUNCTION postern.content_fingerprint(text, text) TO postern_publisher, postern_worker;
GRANT EXECUTE ON FUNCTION postern.lowest_id_at(timestamptz) TO postern_worker;
GRANT EXECUTE ON FUNCTION postern.ensure_partitions(date, date) TO postern_worker;
GRANT EXECUTE ON FUNCTION postern.drop_old_partitions(integer) TO postern_worker;
GRANT EXECUTE ON FUNCTION postern.publish(text, text, jsonb, text) TO postern_producer;
