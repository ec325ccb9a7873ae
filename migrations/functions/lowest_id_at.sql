-- The least id whose embedded time is the given one.
CREATE OR REPLACE FUNCTION postern.lowest_id_at(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

REVOKE EXECUTE ON FUNCTION postern.lowest_id_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.lowest_id_at(timestamptz) TO postern_worker;
