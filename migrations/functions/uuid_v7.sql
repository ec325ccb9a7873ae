-- A new UUIDv7. PostgreSQL has uuidv7() only from 18 on.
CREATE OR REPLACE FUNCTION postern.uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

REVOKE EXECUTE ON FUNCTION postern.uuid_v7() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.uuid_v7() TO postern_publisher, postern_worker, postern_tenant;
