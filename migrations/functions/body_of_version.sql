-- The body of an event as one version of its type; null where it has none.
-- `body_version` is that of `body`. In a query it is replaced by its text, so
-- `versions` is read only where another version is wanted.
CREATE OR REPLACE FUNCTION postern.body_of_version(body text, body_version smallint, versions json, wanted smallint)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN coalesce(wanted, 1) = coalesce(body_version, 1) THEN body ELSE versions ->> coalesce(wanted, 1)::text END
$$;

REVOKE EXECUTE ON FUNCTION postern.body_of_version(text, smallint, json, smallint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.body_of_version(text, smallint, json, smallint) TO postern_tenant, postern_worker;
