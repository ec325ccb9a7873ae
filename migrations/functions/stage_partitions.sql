-- The first of three steps that give a day its partition while the default
-- partition holds many of its rows, and gets more. Moving them under a lock
-- would keep traffic waiting for as long as there are rows. So:
--
--   stage_partitions   makes a table for each missing day and one for what
--                      remains, and a trigger that copies each new row there
--   copy_staged_rows   copies the rows that were there before, some pages a call
--   attach_staged      puts the tables in the place of the default partition
--
-- Only the last one locks out traffic, for as long as changing the catalog
-- takes. Rows are only ever added, so a copy does not age. Each step may be
-- repeated by any process: what was begun is found and gone on with.
--
-- Answers how many pages there are to copy; null when no day is missing.
CREATE OR REPLACE FUNCTION postern.stage_partitions(parent text, from_day date, to_day date)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  staged_default text := parent || '_staged_default';
  day date;
  name text;
  is_missing boolean := false;
BEGIN
  IF (parent IN ('events', 'deliveries') AND from_day >= today - 400 AND to_day <= today + 60
      AND to_day - from_day <= 100) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: days of events or deliveries are staged, 100 at once, from 400 days ago to 60 ahead'
      USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  PERFORM set_config('lock_timeout', '200ms', true);
  -- Left by a process that died behind the last step.
  EXECUTE format('DROP TABLE IF EXISTS postern.%I', parent || '_moved_default');
  IF to_regclass(format('postern.%I', staged_default)) IS NULL THEN
    FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
      CONTINUE WHEN to_regclass(format('postern.%I', parent || '_' || to_char(day, 'YYYYMMDD'))) IS NOT NULL;
      name := parent || '_staged_' || to_char(day, 'YYYYMMDD');
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      -- With it, attaching need not read the rows.
      EXECUTE format('ALTER TABLE postern.%I ADD CONSTRAINT staged_day CHECK (id IS NOT NULL AND id >= %L AND id < %L)',
        name, postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC'),
        postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
      is_missing := true;
    END LOOP;
    IF NOT is_missing THEN RETURN NULL; END IF;
    EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', staged_default, parent);
    EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', staged_default);
    -- It waits until every transaction that added a row before has ended: a row is copied here or by a later call.
    EXECUTE format('CREATE TRIGGER copy_to_staged AFTER INSERT ON postern.%I
      FOR EACH ROW EXECUTE FUNCTION postern.copy_to_staged(%L)', parent || '_default', parent);
  END IF;
  RETURN pg_relation_size(format('postern.%I', parent || '_default')) / current_setting('block_size')::bigint;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.stage_partitions(text, date, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.stage_partitions(text, date, date) TO postern_worker;
