-- A tenant's events, newest first. The collation is not the column's, for the
-- reason given in 0011: only a query that names it can use this index, so no
-- look-up of an event by its id comes to it.
--
-- Each partition's part is built by itself, the past days' first, which nobody
-- writes to. So publishing waits only while that of the present day is built:
-- about 2 seconds for each million events of that day. The parent's takes them over.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'postern.events'::regclass ORDER BY c.relname
  LOOP
    EXECUTE format('CREATE INDEX ON %s (tenant_id COLLATE "C", id)', partition);
  END LOOP;
END
$$;
CREATE INDEX events_of_tenant ON postern.events (tenant_id COLLATE "C", id);
