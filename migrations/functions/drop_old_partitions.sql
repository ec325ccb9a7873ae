-- The form of drop_past_partitions that the release before this one calls: the
-- name of the dropped partition alone.
CREATE OR REPLACE FUNCTION postern.drop_old_partitions(retention_days integer) RETURNS SETOF text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT partition FROM postern.drop_past_partitions(retention_days) WHERE holders IS NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.drop_old_partitions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.drop_old_partitions(integer) TO postern_worker;
