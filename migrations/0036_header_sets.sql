-- Headers that many attempts have in common, once: see docs/adr/0028. A row of the
-- log without a set has its headers in `request_headers` and `response_headers`,
-- as before.
CREATE TABLE postern.header_sets (
  tenant_id text NOT NULL,
  -- The beginning of the SHA-256 of `headers`: whoever needs a set knows its id.
  id uuid NOT NULL,
  headers json NOT NULL,
  -- The last day (UTC) on which an attempt with it was logged, at least.
  used_on date NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX header_sets_used_on ON postern.header_sets (used_on);

ALTER TABLE postern.header_sets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.header_sets TO postern_owner USING (true);
CREATE POLICY tenant ON postern.header_sets TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker ON postern.header_sets TO postern_worker USING (true);
GRANT SELECT ON postern.header_sets TO postern_tenant;
-- It adds to the log and does not read it.
GRANT SELECT (tenant_id, id, used_on), INSERT, UPDATE (used_on) ON postern.header_sets TO postern_worker;

-- The set, and what the attempt has beside it, in the form that the set names. Tables that
-- are to become partitions (functions/stage_partitions.sql) are none yet, and get rows all the same.
DO $$
DECLARE
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  FOR name IN
    SELECT relname FROM pg_class WHERE relnamespace = 'postern'::regnamespace
      AND (relname = 'deliveries' OR (relkind = 'r' AND relname ~ '^deliveries_staged_'))
    -- The log first: who adds to it goes the same way.
    ORDER BY length(relname), relname
  LOOP
    EXECUTE format('ALTER TABLE postern.%I ADD COLUMN header_set uuid, ADD COLUMN header_values bytea', name);
  END LOOP;
END
$$;
