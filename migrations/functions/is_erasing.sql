-- Whether all of a tenant is being erased, for who is about to set a hold: see lock_holds.
CREATE OR REPLACE FUNCTION postern.is_erasing(of_tenant text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A connection without a tenant is a worker's, which may ask about any.
  IF postern.current_tenant() <> of_tenant THEN
    RETURN false;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('postern.holds ' || of_tenant, 0));
  -- A statement of its own, so that it sees what was committed while this one waited.
  RETURN EXISTS (SELECT FROM postern.tenant_erasures e WHERE e.tenant_id = of_tenant AND e.status = 'running');
END
$$;

REVOKE EXECUTE ON FUNCTION postern.is_erasing(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.is_erasing(text) TO postern_tenant, postern_worker;
