-- Removes some audit entries that are older than a year, and answers how many.
-- The age is written here and not the caller's to say, so nobody can use the
-- function to cover a trace.
CREATE OR REPLACE FUNCTION postern.forget_old_audit() RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM postern.audit_log WHERE id IN (
    SELECT id FROM postern.audit_log
    WHERE id < postern.lowest_id_at(now() - interval '365 days') ORDER BY id LIMIT 10000
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.forget_old_audit() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.forget_old_audit() TO postern_worker;
