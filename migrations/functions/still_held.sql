-- Whether a dispatch that is being added is to wait, for an endpoint that was found
-- pull or moving. The statement that found it may have waited since, so it is looked
-- at again. `false` where the tenant's endpoints are being followed at this moment:
-- who claims the dispatch looks for itself. `true` keeps whoever would follow them
-- waiting until the transaction ends, and so finds the dispatch: see
-- src/queue/postgres/follow.ts.
CREATE OR REPLACE FUNCTION postern.still_held(of_tenant text, endpoint uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('postern.held ' || of_tenant, 0)) THEN
    RETURN false;
  END IF;
  -- A statement of its own, so that it sees what was committed before the lock.
  RETURN EXISTS (SELECT FROM postern.endpoints e WHERE e.tenant_id = of_tenant AND e.id = endpoint
    AND (e.mode = 'pull' OR e.moving) AND e.deleted_at IS NULL);
END
$$;

REVOKE EXECUTE ON FUNCTION postern.still_held(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.still_held(text, uuid) TO postern_publisher, postern_worker;
