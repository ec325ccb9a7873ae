-- The third step, see stage_partitions, once every page is copied: the staged
-- tables become partitions in the place of the default one, which is dropped by
-- a later call. Answers how many days were attached. Traffic waits for as long
-- as changing the catalog takes; a lock that is not free at once ends the call.
CREATE OR REPLACE FUNCTION postern.attach_staged(parent text) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  old_default text := parent || '_default';
  staged_default text := parent || '_staged_default';
  staged text;
  day date;
  name text;
  attached integer := 0;
BEGIN
  IF (parent IN ('events', 'deliveries')) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: events or deliveries are attached' USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  PERFORM set_config('lock_timeout', '200ms', true);
  -- Another process was faster.
  IF to_regclass(format('postern.%I', staged_default)) IS NULL THEN RETURN 0; END IF;
  EXECUTE format('LOCK TABLE ONLY postern.%I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE postern.%I IN ACCESS EXCLUSIVE MODE', old_default);
  EXECUTE format('DROP TRIGGER copy_to_staged ON postern.%I', old_default);
  EXECUTE format('ALTER TABLE postern.%I DETACH PARTITION postern.%I', parent, old_default);
  EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', old_default, parent || '_moved_default');
  FOR staged IN
    SELECT relname FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ ('^' || parent || '_staged_[0-9]{8}$') ORDER BY relname
  LOOP
    day := to_date(right(staged, 8), 'YYYYMMDD');
    name := parent || '_' || to_char(day, 'YYYYMMDD');
    EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', staged, name);
    EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)', parent, name,
      postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC'),
      postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
    EXECUTE format('ALTER TABLE postern.%I DROP CONSTRAINT staged_day', name);
    attached := attached + 1;
  END LOOP;
  EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', staged_default, old_default);
  EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I DEFAULT', parent, old_default);
  RETURN attached;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.attach_staged(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.attach_staged(text) TO postern_worker;
