-- Whether a tenant has something in this database that is kept, so that it must
-- stay here. What only passes through makes nobody a resident. Each of the
-- tables begins an index with the tenant, and all else of a tenant has a row in
-- one of them, or ends with a session.
CREATE OR REPLACE FUNCTION postern.lives_here(asked text) RETURNS boolean LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM postern.endpoints t WHERE t.tenant_id = asked)
    OR EXISTS (SELECT FROM postern.tenant_settings t WHERE t.tenant_id = asked)
    OR EXISTS (SELECT FROM postern.delivery_stats t WHERE t.tenant_id = asked)
    OR EXISTS (SELECT FROM postern.stored_objects t WHERE t.tenant_id = asked)
    OR EXISTS (SELECT FROM postern.storage_exports t WHERE t.tenant_id = asked)
    -- Its erasure leaves this.
    OR EXISTS (SELECT FROM postern.audit_log t WHERE t.tenant_id = asked AND t.action <> 'tenant.erased')
    -- By day, so last: an event for which nobody had an endpoint.
    OR EXISTS (SELECT FROM postern.events t WHERE t.tenant_id COLLATE "C" = asked);
END
$$;

REVOKE EXECUTE ON FUNCTION postern.lives_here(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.lives_here(text) TO postern_publisher;
