-- Setting a hold and beginning to erase a tenant exclude each other: each locks
-- the tenant's holds until its transaction ends, then looks at what the other
-- committed. Answers what is held: one artifact's id and how many there are.
CREATE OR REPLACE FUNCTION postern.lock_holds(of_tenant text)
RETURNS TABLE (held bigint, first_held uuid) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('postern.holds ' || of_tenant, 0));
  -- A statement of its own, so that it sees what was committed while this one waited.
  RETURN QUERY SELECT count(*), min(o.id::text)::uuid
    FROM postern.stored_objects o WHERE o.tenant_id = of_tenant AND o.hold AND o.state <> 'purged';
END
$$;

REVOKE EXECUTE ON FUNCTION postern.lock_holds(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.lock_holds(text) TO postern_publisher;
