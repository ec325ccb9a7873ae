-- Whether a dispatch that is being added is to wait, for an endpoint that was found
-- pull or moving. The statement that found it may have waited since, so it is looked
-- at again. `true` keeps whoever would follow the tenant's endpoints waiting until the
-- transaction ends, and so finds the dispatch: see src/queue/postgres/follow.ts.
-- Where they are being followed at this moment, only the tenant's move makes it wait:
-- the copy must get nothing that the target's workers would claim, and who undoes the
-- move follows once more when all that is open has ended. Who claims an event of a
-- pull endpoint looks for itself.
CREATE OR REPLACE FUNCTION postern.still_held(of_tenant text, endpoint uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_kept boolean := pg_try_advisory_xact_lock_shared(hashtextextended('postern.held ' || of_tenant, 0));
BEGIN
  -- A statement of its own, so that it sees what was committed before the lock.
  RETURN EXISTS (SELECT FROM postern.endpoints e WHERE e.tenant_id = of_tenant AND e.id = endpoint
    AND (e.moving OR e.mode = 'pull' AND is_kept) AND e.deleted_at IS NULL);
END
$$;

REVOKE EXECUTE ON FUNCTION postern.still_held(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.still_held(text, uuid) TO postern_publisher, postern_worker;
