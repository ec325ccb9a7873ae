-- Removes up to `most` sets of headers that no attempt of the log can have any more, and
-- answers how many. A set is used on the day on which an attempt is logged or
-- later, which is never before the day of the attempt's partition. Not of a tenant
-- that is being moved: the shard that it leaves may use the set again.
CREATE OR REPLACE FUNCTION postern.forget_header_sets(retention_days integer, most integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: the log is kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  DELETE FROM postern.header_sets WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM postern.header_sets
    WHERE used_on < (now() AT TIME ZONE 'UTC')::date - retention_days - 2
      AND tenant_id <> ALL (ARRAY(
        SELECT way.tenant_id FROM postern.shard_tenants way WHERE way.moving AND way.fenced))
    ORDER BY used_on LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.forget_header_sets(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.forget_header_sets(integer, integer) TO postern_worker;
