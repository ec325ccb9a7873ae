-- The day, in UTC, of the time that an id carries: the day of its partition.
CREATE OR REPLACE FUNCTION postern.day_of_id(id uuid) RETURNS date LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    AT TIME ZONE 'UTC')::date
$$;

REVOKE EXECUTE ON FUNCTION postern.day_of_id(uuid) FROM PUBLIC;
