-- Drops one day partition that is wholly older than the retention, and answers
-- its name; after it nobody holds it (`holders` is null). Where somebody holds
-- a lock that dropping needs, it answers the partition's name and the holders,
-- and leaves it for another call: retention never makes traffic wait for long.
--
-- Events stay five days longer, so that every automatic attempt in the log
-- still has its body, and a day of theirs that a dispatch or the outbox needs
-- stays as long: a dispatch held at a disabled endpoint may need it for years.
-- While a tenant is being moved, all of them stay: its dispatches come last.
-- One partition a call, because dropping one locks its parent. Beside somebody
-- who reads the log for long, one try a call, because traffic waits behind it.
CREATE OR REPLACE FUNCTION postern.drop_past_partitions(retention_days integer)
RETURNS TABLE (partition text, holders text) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  last_day date;
  needed_days date[];
  needs_all boolean;
  name text;
  day date;
  parent text;
  locked text[] := '{}';
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: the log is kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  last_day := (now() AT TIME ZONE 'UTC')::date - retention_days - 1;
  -- Each worker drops and makes days, most at the same time. Two that have a lock of the default partition,
  -- or of the day, would wait for each other. And who looks at each partition of a tenant finds it there.
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  PERFORM set_config('lock_timeout', '200ms', true);
  -- Events beside the partitions are of long ago and were added late, as by the outbox. One statement: an event
  -- that is relayed meanwhile is not in its snapshot. And no index: one pass over small tables, every ten minutes.
  WITH needed AS MATERIALIZED (
    SELECT DISTINCT postern.day_of_id(event_id) AS needed_day, false AS is_all
    FROM (
      SELECT event_id FROM postern.dispatches UNION ALL SELECT id FROM postern.outbox
    ) AS waiting
    WHERE event_id < postern.lowest_id_at((last_day - 4)::timestamp AT TIME ZONE 'UTC')
    UNION ALL
    SELECT NULL, true FROM postern.shard_tenants WHERE moving AND fenced
  ), deleted AS (
    DELETE FROM postern.events_default
    WHERE id < postern.lowest_id_at(least(last_day - 5, (SELECT min(needed_day) FROM needed))::timestamp AT TIME ZONE 'UTC')
      AND NOT EXISTS (SELECT FROM needed WHERE is_all)
  )
  SELECT coalesce(array_agg(needed_day) FILTER (WHERE NOT is_all), '{}'), coalesce(bool_or(is_all), false)
    INTO needed_days, needs_all FROM needed;
  -- What was logged late under an id of long ago, as by an endpoint that was disabled for weeks.
  DELETE FROM postern.deliveries_default WHERE id < postern.lowest_id_at(last_day::timestamp AT TIME ZONE 'UTC');
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)
      AND c.relname ~ '_[0-9]{8}$'
    ORDER BY c.relname
  LOOP
    day := to_date(right(name, 8), 'YYYYMMDD');
    parent := split_part(name, '_', 1);
    CONTINUE WHEN parent = ANY (locked);
    CONTINUE WHEN day > last_day;
    CONTINUE WHEN parent = 'events' AND (day > last_day - 5 OR needs_all OR day = ANY (needed_days));
    BEGIN
      IF parent = 'events' THEN
        -- Events of that day may have been stored late since the look, by transactions that drop waits for. From here
        -- on none is: whoever stores one waits, and then stores it beside the partitions.
        EXECUTE format('LOCK TABLE ONLY postern.%I IN SHARE MODE', name);
        CONTINUE WHEN EXISTS (
          SELECT FROM (SELECT event_id FROM postern.dispatches UNION ALL SELECT id FROM postern.outbox) AS waiting
          WHERE event_id >= postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC')
            AND event_id < postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
      END IF;
      EXECUTE format('DROP TABLE postern.%I', name);
      partition := name;
      holders := NULL;
      RETURN NEXT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      -- Most likely the parent's, which its other partitions need too.
      locked := locked || parent;
      partition := name;
      SELECT string_agg(format('process %s%s', found.pid, ' (' || nullif(found.application_name, '') || ')'), ', ')
        INTO holders
        FROM (
          SELECT DISTINCT l.pid, a.application_name FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
          WHERE l.granted AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND l.relation IN (to_regclass('postern.' || name), to_regclass('postern.' || parent))
            -- Null where this user may not see it.
            AND coalesce(a.xact_start < clock_timestamp() - interval '200 ms', true)
          ORDER BY l.pid LIMIT 5) AS found;
      holders := coalesce(holders, 'nobody any more');
      RETURN NEXT;
    END;
  END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.drop_past_partitions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.drop_past_partitions(integer) TO postern_worker;
