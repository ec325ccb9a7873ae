-- The tenant of this transaction; null, which equals nothing, where none is set.
-- After a transaction that set it, the setting is left behind as an empty text.
CREATE OR REPLACE FUNCTION postern.current_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT nullif(current_setting('postern.tenant', true), '')
$$;

REVOKE EXECUTE ON FUNCTION postern.current_tenant() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.current_tenant() TO postern_tenant;
