-- A floor under the two functions that make and drop days of the log. They run
-- with the owner's rights for whoever may call them, so what they may be told
-- is limited here and not in the caller.

CREATE OR REPLACE FUNCTION postern.ensure_partitions(from_day date, to_day date) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  day date;
  parent text;
  name text;
  low uuid;
  high uuid;
  made integer := 0;
BEGIN
  IF (from_day >= today - 400 AND to_day <= today + 60 AND to_day - from_day <= 100) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: partitions are made for 100 days at once, from 400 days ago to 60 ahead'
      USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  -- Attaching waits for readers of the default partition, and others would wait behind it.
  PERFORM set_config('lock_timeout', '200ms', true);
  FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
    low := postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC');
    high := postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC');
    FOREACH parent IN ARRAY ARRAY['events', 'deliveries'] LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('postern.%I', name)) IS NOT NULL;
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      EXECUTE format(
        'WITH moved AS (DELETE FROM postern.%I WHERE id >= %L AND id < %L RETURNING *)
           INSERT INTO postern.%I SELECT * FROM moved',
        parent || '_default', low, high, name);
      EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, low, high);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

-- As before, but never for less than a day, and with the default partition of events.
CREATE OR REPLACE FUNCTION postern.drop_old_partitions(retention_days integer) RETURNS SETOF text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  last_day date;
  oldest_needed date;
  name text;
  day date;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: the log is kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  last_day := (now() AT TIME ZONE 'UTC')::date - retention_days - 1;
  PERFORM set_config('lock_timeout', '200ms', true);
  -- What was logged late under an id of long ago, as by an endpoint that was disabled for weeks.
  DELETE FROM postern.deliveries_default WHERE id < postern.lowest_id_at(last_day::timestamp AT TIME ZONE 'UTC');
  -- The same for events, such as those that the outbox held for as long. One statement: an event that is
  -- relayed meanwhile is not in its snapshot. And no index: one pass over a small table, once an hour.
  WITH needed AS MATERIALIZED (
    SELECT (to_timestamp(('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
        AT TIME ZONE 'UTC')::date AS first_day
    FROM postern.dispatches ORDER BY event_id LIMIT 1
  ), deleted AS (
    DELETE FROM postern.events_default
    WHERE id < postern.lowest_id_at(least(last_day - 5, (SELECT first_day FROM needed))::timestamp AT TIME ZONE 'UTC')
  )
  SELECT first_day INTO oldest_needed FROM needed;
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)
      AND c.relname ~ '_[0-9]{8}$'
    ORDER BY c.relname
  LOOP
    day := to_date(right(name, 8), 'YYYYMMDD');
    CONTINUE WHEN day > CASE WHEN name LIKE 'events_%' THEN least(last_day - 5, oldest_needed - 1) ELSE last_day END;
    BEGIN
      EXECUTE format('DROP TABLE postern.%I', name);
      RETURN NEXT name;
    EXCEPTION WHEN lock_not_available THEN
      CONTINUE;
    END;
  END LOOP;
END
$$;

-- What upkeep removes. Empty nearly always, so no other dispatch pays for it.
CREATE INDEX dispatches_superseded ON postern.dispatches (claimable_at) WHERE superseded;
