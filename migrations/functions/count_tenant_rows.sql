-- How many rows a tenant has in each table that has some, up to `most` in each part of it.
CREATE OR REPLACE FUNCTION postern.count_tenant_rows(counted_tenant text, most integer)
RETURNS TABLE (name text, count bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  source record;
  counts jsonb := '{}';
  found bigint;
BEGIN
  -- Until the end of the transaction no day is dropped that was listed, and no row goes to another. Not STABLE: what
  -- was waited for is to be seen.
  PERFORM pg_advisory_xact_lock_shared(hashtext('postern.ensure_partitions'));
  FOR source IN SELECT t.* FROM postern.tables_of_tenants() t LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %s WHERE %s LIMIT $2) AS looked', source.place, source.matches)
      INTO found USING counted_tenant, most;
    counts := counts || jsonb_build_object(source.name, coalesce((counts ->> source.name)::bigint, 0) + found);
  END LOOP;
  RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c WHERE c.value <> '0' ORDER BY c.key;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.count_tenant_rows(text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.count_tenant_rows(text, integer) TO postern_publisher;
