-- Removes what storage remembers and nobody needs any more, so that its tables
-- do not grow for ever. The worker may remove only what this function removes.
-- Several may call it at once: each skips what another is removing.
CREATE OR REPLACE FUNCTION postern.forget_old_storage(retention_days integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  past timestamptz := now() - retention_days * interval '1 day';
  removed integer := 0;
  deleted integer;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: what storage did is remembered for 1 day at least' USING ERRCODE = '22023';
  END IF;

  -- Archives that never became available and whose run gave them up: the export is over, or begun anew.
  -- Without a row the bytes are nobody's, and comparing deletes them. The quarter of an hour is that of comparing.
  DELETE FROM postern.stored_objects WHERE id IN (
    SELECT o.id FROM postern.stored_objects o JOIN postern.storage_exports e ON e.id = o.delivery_id
    WHERE o.kind = 'export' AND o.available_at IS NULL AND o.state_since < now() - interval '15 minutes'
      AND (e.status NOT IN ('queued', 'running') OR e.attempt > o.attempt)
    ORDER BY o.state_since LIMIT 10000 FOR UPDATE OF o SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  -- Purged ones, and uploads that never came.
  DELETE FROM postern.stored_objects WHERE id IN (
    SELECT id FROM postern.stored_objects
    WHERE (state = 'purged' OR state = 'missing' AND available_at IS NULL) AND state_since < past
    ORDER BY state_since LIMIT 10000 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  -- Exports that are over, behind their archives' rows, which name them. Not while the row of a found archive is
  -- being made, which may name one of these and is not seen yet.
  IF pg_try_advisory_xact_lock(hashtext('postern.forget_exports')) THEN
    DELETE FROM postern.storage_exports WHERE id IN (
      SELECT e.id FROM postern.storage_exports e
      WHERE e.status NOT IN ('queued', 'running') AND e.updated_at < past AND NOT EXISTS (
        SELECT FROM postern.stored_objects o
        WHERE o.tenant_id = e.tenant_id AND o.delivery_id = e.id AND o.kind = 'export')
      ORDER BY e.updated_at LIMIT 10000 FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    removed := removed + deleted;
  END IF;

  DELETE FROM postern.storage_grants WHERE id IN (
    SELECT id FROM postern.storage_grants WHERE expires_at < past ORDER BY expires_at LIMIT 10000
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  -- The last one stays: the next gets the number behind it.
  DELETE FROM postern.storage_events WHERE at < past AND sequence IN (
    SELECT sequence FROM postern.storage_events
    WHERE sequence < (SELECT max(sequence) FROM postern.storage_events) ORDER BY sequence LIMIT 10000
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN removed + deleted;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.forget_old_storage(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.forget_old_storage(integer) TO postern_worker;
