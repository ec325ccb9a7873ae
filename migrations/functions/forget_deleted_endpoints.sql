-- Removes some endpoints that were deleted longer ago than the retention and
-- that nothing refers to any more, and answers how many. The worker may delete
-- no other endpoint. Not of a tenant that is being moved: its log may not be here yet.
CREATE OR REPLACE FUNCTION postern.forget_deleted_endpoints(retention_days integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: deleted endpoints are kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  DELETE FROM postern.endpoints WHERE (tenant_id, id) IN (
    SELECT e.tenant_id, e.id FROM postern.endpoints e
    WHERE e.deleted_at < now() - retention_days * interval '1 day' AND NOT e.unsettled
      AND e.tenant_id <> ALL (ARRAY(
        SELECT way.tenant_id FROM postern.shard_tenants way WHERE way.moving AND way.fenced))
      -- OFFSET 0: a look-up by key for each, never a join that reads the whole log.
      AND NOT EXISTS (SELECT FROM postern.deliveries d
        WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id OFFSET 0)
      AND NOT EXISTS (SELECT FROM postern.dispatches d
        WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id OFFSET 0)
      AND NOT EXISTS (SELECT FROM postern.person_sends s
        WHERE s.tenant_id = e.tenant_id AND s.endpoint_id = e.id OFFSET 0)
    ORDER BY e.deleted_at LIMIT 500 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.forget_deleted_endpoints(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.forget_deleted_endpoints(integer) TO postern_worker;
