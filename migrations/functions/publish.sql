-- Publishes an event inside the producer's own transaction: a row of the outbox
-- exists exactly when that transaction commits. With the owner's rights, so that
-- a producer needs no right on any table. `data` are the newest version of the
-- type that is no preview; for a type with others there is publish_versions.
--
-- Answers the event's id. The same key with the same content answers the first
-- event's id and publishes nothing; with other content it is an error.
CREATE OR REPLACE FUNCTION postern.publish(tenant_id text, type text, data jsonb, id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF publish.data IS NULL OR jsonb_typeof(publish.data) <> 'object' THEN
    RAISE EXCEPTION 'postern: data must be a JSON object' USING ERRCODE = '22023';
  END IF;
  RETURN postern.publish_versions(publish.tenant_id, publish.type, jsonb_build_object(coalesce(
    (SELECT t.newest FROM postern.event_types t WHERE t.type = publish.type), 1)::text, publish.data), publish.id);
END
$$;

REVOKE EXECUTE ON FUNCTION postern.publish(text, text, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.publish(text, text, jsonb, text) TO postern_producer;
