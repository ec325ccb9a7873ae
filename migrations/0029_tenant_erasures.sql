-- Tenants whose every trace is being erased, or was: see docs/adr/0018. A row is
-- a job that workers take forward, and holds nothing of the tenant but its id.
CREATE TABLE postern.tenant_erasures (
  tenant_id text PRIMARY KEY,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished')),
  rows_erased bigint NOT NULL DEFAULT 0,
  -- Versions of objects in the bucket, and objects of its trash.
  objects_erased bigint NOT NULL DEFAULT 0,
  -- Why it cannot go on for now; null where it can.
  trouble text,
  -- A worker's, until then; without an owner the time before which none need look.
  lease_owner uuid,
  lease_until timestamptz(3) NOT NULL DEFAULT now(),
  requested_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX tenant_erasures_waiting ON postern.tenant_erasures (lease_until) WHERE status = 'running';

ALTER TABLE postern.tenant_erasures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.tenant_erasures TO postern_owner USING (true);
CREATE POLICY publisher ON postern.tenant_erasures TO postern_publisher USING (true);
CREATE POLICY worker_read ON postern.tenant_erasures FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_change ON postern.tenant_erasures FOR UPDATE TO postern_worker USING (true);
GRANT SELECT, INSERT, UPDATE (status, rows_erased, objects_erased, trouble, lease_owner, lease_until, requested_at, finished_at)
  ON postern.tenant_erasures TO postern_publisher;
GRANT SELECT, UPDATE (status, rows_erased, objects_erased, trouble, lease_owner, lease_until, finished_at)
  ON postern.tenant_erasures TO postern_worker;

-- The list of tenants, from one to the next. Only a query that names the
-- collation uses it. Endpoints are few, so it is built within a moment.
CREATE INDEX endpoints_of_tenant ON postern.endpoints (tenant_id COLLATE "C");

-- Their bodies are in functions/.
CREATE FUNCTION postern.tables_of_tenants() RETURNS TABLE (place regclass, name text, matches text)
LANGUAGE plpgsql AS $$ BEGIN RETURN; END $$;
CREATE FUNCTION postern.erase_tenant_rows(erased_tenant text, most integer, with_objects boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN 0; END $$;
CREATE FUNCTION postern.count_tenant_rows(counted_tenant text, most integer) RETURNS TABLE (name text, count bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN; END $$;
CREATE FUNCTION postern.list_tenants(prefix text, after text, most integer)
RETURNS TABLE (id text, endpoints bigint, enabled bigint, failing bigint, delivered bigint, failed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN; END $$;
REVOKE EXECUTE ON FUNCTION postern.tables_of_tenants() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION postern.erase_tenant_rows(text, integer, boolean) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION postern.count_tenant_rows(text, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION postern.list_tenants(text, text, integer) FROM PUBLIC;
