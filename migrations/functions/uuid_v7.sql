-- A new UUIDv7; PostgreSQL has uuidv7() only from 18 on. Behind the milliseconds are
-- 12 bits of their fraction (RFC 9562, 6.2, method 3), so that ids sort in the order
-- in which they were made: two events of one transaction are often of one millisecond.
-- In one expression, which PostgreSQL puts into the query in place of the call.
CREATE OR REPLACE FUNCTION postern.uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT (overlay(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 4096000)::bigint), 15, '0') PLACING '7' FROM 13 FOR 0)
    || right(gen_random_uuid()::text, 17))::uuid
$$;

REVOKE EXECUTE ON FUNCTION postern.uuid_v7() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.uuid_v7() TO postern_publisher, postern_worker, postern_tenant;
