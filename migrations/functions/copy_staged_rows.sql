-- The second step, see stage_partitions: copies the rows of some pages of the
-- default partition. Rows that are copied already are skipped. A tenant's erasure
-- waits until they are committed, and so finds the copies.
CREATE OR REPLACE FUNCTION postern.copy_staged_rows(parent text, from_page bigint, to_page bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  staged text;
  days date[] := '{}';
  pages text := format('ctid >= %L::tid AND ctid < %L::tid', format('(%s,0)', from_page), format('(%s,0)', to_page));
BEGIN
  IF (parent IN ('events', 'deliveries')) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: events or deliveries are copied' USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  FOR staged IN
    SELECT relname FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ ('^' || parent || '_staged_[0-9]{8}$') ORDER BY relname
  LOOP
    days := days || to_date(right(staged, 8), 'YYYYMMDD');
    EXECUTE format('INSERT INTO postern.%I SELECT * FROM postern.%I WHERE %s AND postern.day_of_id(id) = %L
      ON CONFLICT DO NOTHING', staged, parent || '_default', pages, days[cardinality(days)]);
  END LOOP;
  EXECUTE format('INSERT INTO postern.%I SELECT * FROM postern.%I WHERE %s AND postern.day_of_id(id) <> ALL (%L::date[])
    ON CONFLICT DO NOTHING', parent || '_staged_default', parent || '_default', pages, days);
END
$$;

REVOKE EXECUTE ON FUNCTION postern.copy_staged_rows(text, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.copy_staged_rows(text, bigint, bigint) TO postern_worker;
