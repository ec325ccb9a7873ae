-- The trigger of stage_partitions: copies a row of the default partition to the
-- table of its day, or to the one for what remains.
CREATE OR REPLACE FUNCTION postern.copy_to_staged() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  parent text := TG_ARGV[0];
  name text := parent || '_staged_' || to_char(postern.day_of_id(NEW.id), 'YYYYMMDD');
BEGIN
  IF to_regclass(format('postern.%I', name)) IS NULL THEN name := parent || '_staged_default'; END IF;
  EXECUTE format('INSERT INTO postern.%I SELECT ($1).*', name) USING NEW;
  RETURN NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.copy_to_staged() FROM PUBLIC;
