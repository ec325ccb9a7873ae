-- Refuses a process that takes a tenant for one of this shard and is wrong, or
-- out of date: with PS001, before anything of its transaction is done. With the
-- rights of the role that asks, which sees what it may.
CREATE OR REPLACE FUNCTION postern.require_here(tenants text[], versions bigint[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
    SELECT FROM unnest(tenants, versions) AS asked (tenant_id, version)
    WHERE NOT EXISTS (SELECT FROM postern.shard_tenants t
      WHERE t.tenant_id = asked.tenant_id AND t.version = asked.version AND NOT t.fenced)
  ) THEN
    RAISE EXCEPTION 'postern: a tenant does not live in this shard' USING ERRCODE = 'PS001';
  END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.require_here(text[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.require_here(text[], bigint[]) TO postern_tenant, postern_publisher;
