-- Deletes up to `most` rows of a tenant, and answers how many: fewer than `most`
-- means that no more were left. Only of a tenant whose erasure is running.
-- Rows of stored objects name bytes, so they are left until these are gone.
-- A leased hand-over is left to its worker, which may be storing the event in another
-- shard: the row is the only sign of that. Locking it reads the newest lease.
-- Rows are locked by one statement and deleted by the next: an erasure ends once
-- none is found, and one statement would pass over a row that another transaction
-- changes at this moment.
CREATE OR REPLACE FUNCTION postern.erase_tenant_rows(erased_tenant text, most integer, with_objects boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  source record;
  places tid[];
  erased bigint := 0;
BEGIN
  IF NOT EXISTS (SELECT FROM postern.tenant_erasures e WHERE e.tenant_id = erased_tenant AND e.status = 'running') THEN
    RAISE EXCEPTION 'postern: no erasure of this tenant is running' USING ERRCODE = '22023';
  END IF;
  -- Until the end no row goes to another partition, where it would not be looked for, or is copied to one.
  PERFORM pg_advisory_xact_lock_shared(hashtext('postern.ensure_partitions'));
  -- Who completes or changes meanwhile waits for these rows or is waited for. So is who adds dispatches that are held,
  -- by its lock; other dispatches that come behind are ended as they are claimed.
  -- In the order of their keys, as by who records outcomes.
  WITH locked AS MATERIALIZED (
    SELECT id FROM postern.endpoints WHERE tenant_id = erased_tenant AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE postern.endpoints e SET deleted_at = now(), enabled = false, disabled_reason = coalesce(disabled_reason, 'manual')
    FROM locked WHERE e.tenant_id = erased_tenant AND e.id = locked.id;
  PERFORM pg_advisory_xact_lock(hashtextextended('postern.held ' || erased_tenant, 0));
  FOR source IN SELECT t.* FROM postern.tables_of_tenants() t WHERE with_objects OR t.name <> 'stored_objects' LOOP
    EXECUTE format('SELECT ARRAY(SELECT ctid FROM %s WHERE %s %s %s LIMIT $2 FOR UPDATE)', source.place, source.matches,
      CASE source.name WHEN 'handovers' THEN 'AND lease_until <= now()' ELSE '' END, postern.order_of_deletion(source.name))
      INTO places USING erased_tenant, most - erased;
    EXECUTE format('DELETE FROM %s WHERE ctid = ANY ($1)', source.place) USING places;
    erased := erased + cardinality(places);
    EXIT WHEN erased >= most;
  END LOOP;
  RETURN erased;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.erase_tenant_rows(text, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.erase_tenant_rows(text, integer, boolean) TO postern_worker;
