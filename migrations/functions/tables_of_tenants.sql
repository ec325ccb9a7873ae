-- Every table that has rows of tenants, partitions and staged copies of them
-- one by one, from the catalog: a table that is new is among them by itself.
-- `name` is the whole table's, `matches` what a tenant's rows are found by ($1),
-- in the collation of the index that finds them. What an erasure leaves behind
-- is not matched: its own row, its entry of the audit log, and where the tenant lives or moves to.
CREATE OR REPLACE FUNCTION postern.tables_of_tenants() RETURNS TABLE (place regclass, name text, matches text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT c.oid::regclass, regexp_replace(c.relname, '^(events|deliveries)_.*$', '\1'),
      CASE
        WHEN c.relname ~ '^(events|deliveries)_' THEN 'tenant_id COLLATE "C" = $1'
        WHEN c.relname = 'audit_log' THEN 'tenant_id = $1 AND action <> ''tenant.erased'''
        ELSE 'tenant_id = $1'
      END
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'postern'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('tenant_erasures', 'shard_directory', 'shard_tenants', 'tenant_moves')
    -- What makes new rows goes first: what is published, what is pending, what is counted.
    ORDER BY array_position(ARRAY['outbox', 'handovers', 'dispatches', 'person_sends', 'storage_exports', 'bodies_to_keep',
        'tenant_settings', 'replays', 'portal_sessions', 'delivery_counts', 'exhausted_events'], c.relname::text) NULLS LAST,
      c.relname = 'endpoints', c.relname;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.tables_of_tenants() FROM PUBLIC;
