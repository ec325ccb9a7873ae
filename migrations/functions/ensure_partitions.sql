-- Makes the day partitions of events and deliveries from one day to another,
-- and answers how many. Making tables is the owner's alone, so workers do it
-- through this function. What it may be told is limited here.
--
-- Few rows of such a day in the default partition move along. A day with more
-- of them is skipped: they would keep publishers waiting, so stage_partitions
-- takes them.
CREATE OR REPLACE FUNCTION postern.ensure_partitions(from_day date, to_day date) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  most_moved CONSTANT integer := 1000;
  day date;
  parent text;
  name text;
  low uuid;
  high uuid;
  found integer;
  made integer := 0;
BEGIN
  IF (from_day >= today - 400 AND to_day <= today + 60 AND to_day - from_day <= 100) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: partitions are made for 100 days at once, from 400 days ago to 60 ahead'
      USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  -- Others wait behind each lock that is waited for here.
  PERFORM set_config('lock_timeout', '200ms', true);
  FOREACH parent IN ARRAY ARRAY['events', 'deliveries'] LOOP
    FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('postern.%I', name)) IS NOT NULL;
      -- The rows of a staged day come with it.
      CONTINUE WHEN to_regclass(format('postern.%I', parent || '_staged_' || to_char(day, 'YYYYMMDD'))) IS NOT NULL;
      low := postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC');
      high := postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC');
      -- Before the default partition: whoever adds a row locks them in this order too. A writer that waits here
      -- finds its partition afterwards; one that waited for the default partition would add to the wrong one.
      EXECUTE format('LOCK TABLE ONLY postern.%I IN SHARE ROW EXCLUSIVE MODE', parent);
      EXECUTE format('SELECT count(*) FROM (SELECT FROM postern.%I WHERE id >= %L AND id < %L LIMIT %s) AS rows',
        parent || '_default', low, high, most_moved + 1) INTO found;
      CONTINUE WHEN found > most_moved;
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      IF found > 0 THEN
        EXECUTE format(
          'WITH moved AS (DELETE FROM postern.%I WHERE id >= %L AND id < %L RETURNING *)
             INSERT INTO postern.%I SELECT * FROM moved',
          parent || '_default', low, high, name);
      END IF;
      EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, low, high);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.ensure_partitions(date, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.ensure_partitions(date, date) TO postern_worker;
