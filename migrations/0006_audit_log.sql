-- Who did what to which endpoint, and what was refused. Only ever added to: no
-- role that serves may change or remove a row, and a tenant reads its own.

CREATE TABLE postern.audit_log (
  -- Null where no tenant is known, as for a failed authentication.
  tenant_id text,
  -- UUIDv7 of the same moment as `at`.
  id uuid PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  actor_type text NOT NULL CHECK (actor_type IN ('user', 'operator', 'postern', 'unknown')),
  -- The subject of the session, for a user.
  actor_sub text,
  action text NOT NULL,
  endpoint_id uuid,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  details jsonb NOT NULL,
  request_id uuid,
  -- As text: what a proxy says need not be an address.
  address text
);
CREATE INDEX audit_log_by_tenant ON postern.audit_log (tenant_id, id);

ALTER TABLE postern.audit_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY owner ON postern.audit_log TO postern_owner USING (true);
CREATE POLICY tenant ON postern.audit_log TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker_add ON postern.audit_log FOR INSERT TO postern_worker WITH CHECK (true);

GRANT SELECT, INSERT ON postern.audit_log TO postern_tenant;
GRANT INSERT ON postern.audit_log TO postern_worker;

-- Removes some of what is older than a year, and answers how much. How old is
-- written here and not the caller's to say, so nobody can use it to cover a trace.
CREATE FUNCTION postern.forget_old_audit() RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM postern.audit_log WHERE id IN (
    SELECT id FROM postern.audit_log
    WHERE id < postern.lowest_id_at(now() - interval '365 days') ORDER BY id LIMIT 10000);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.forget_old_audit() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.forget_old_audit() TO postern_worker;
