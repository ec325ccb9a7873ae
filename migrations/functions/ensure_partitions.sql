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

REVOKE EXECUTE ON FUNCTION postern.ensure_partitions(date, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.ensure_partitions(date, date) TO postern_worker;
