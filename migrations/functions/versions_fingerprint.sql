-- As content_fingerprint, of an event that may have other versions: then of all
-- of them by number, so that it counts as little which is the newest.
CREATE OR REPLACE FUNCTION postern.versions_fingerprint(type text, body text, version smallint, others json)
RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF others IS NULL THEN
    RETURN postern.content_fingerprint(type, body);
  END IF;
  RETURN sha256(convert_to(type || ' ' || (
    jsonb_build_object(coalesce(version, 1::smallint)::text, body::jsonb -> 'data')
      || (SELECT jsonb_object_agg(o.key, o.value::jsonb -> 'data') FROM json_each_text(others) AS o)
  )::text, 'UTF8'));
END
$$;

REVOKE EXECUTE ON FUNCTION postern.versions_fingerprint(text, text, smallint, json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.versions_fingerprint(text, text, smallint, json) TO postern_publisher, postern_worker;
