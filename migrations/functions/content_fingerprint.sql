-- What makes two events with one idempotency key the same: type and data,
-- the data as jsonb so that neither key order nor spacing counts.
CREATE OR REPLACE FUNCTION postern.content_fingerprint(type text, body text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(type || ' ' || (body::jsonb -> 'data')::text, 'UTF8'))
$$;

REVOKE EXECUTE ON FUNCTION postern.content_fingerprint(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.content_fingerprint(text, text) TO postern_publisher, postern_worker;
