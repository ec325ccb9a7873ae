-- In which order a tenant's rows of a table are deleted: that of their keys, where others lock several of them too,
-- as outcomes that came late, which use them or add to them, and upkeep, which deletes what is old. Else
-- each would wait for what the other has. Where a tenant may have many, it is that of an index that begins with the
-- tenant: else each batch would sort all of them, or read past other tenants' rows.
CREATE OR REPLACE FUNCTION postern.order_of_deletion(of_table text) RETURNS text LANGUAGE sql
IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE of_table
    WHEN 'delivery_stats' THEN 'ORDER BY endpoint_id, grain, at, cause'
    WHEN 'dispatches' THEN 'ORDER BY endpoint_id, id'
    WHEN 'header_sets' THEN 'ORDER BY id'
    WHEN 'idempotency_keys' THEN 'ORDER BY key'
    WHEN 'log_watches' THEN 'ORDER BY watcher'
    WHEN 'person_sends' THEN 'ORDER BY endpoint_id, id'
    WHEN 'portal_sessions' THEN 'ORDER BY id'
    WHEN 'stored_objects' THEN 'ORDER BY delivery_id, kind, attempt, id'
    ELSE ''
  END
$$;

REVOKE EXECUTE ON FUNCTION postern.order_of_deletion(text) FROM PUBLIC;
