-- Publishes an event inside the producer's own transaction: a row of the outbox
-- exists exactly when that transaction commits. With the owner's rights, so that
-- a producer needs no right on any table.
--
-- Answers the event's id. The same key with the same content answers the first
-- event's id and publishes nothing; with other content it is an error.
CREATE OR REPLACE FUNCTION postern.publish(tenant_id text, type text, data jsonb, id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event_id uuid := postern.uuid_v7();
  created_at timestamptz := to_timestamp(('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
  body text;
  earlier record;
BEGIN
  IF publish.tenant_id IS NULL OR publish.tenant_id !~ '^[A-Za-z0-9_-]{1,64}$' THEN
    RAISE EXCEPTION 'postern: tenant_id must be 1 to 64 of A-Z, a-z, 0-9, _ and -' USING ERRCODE = '22023';
  END IF;
  IF NOT EXISTS (SELECT FROM postern.event_types t WHERE t.type = publish.type) THEN
    RAISE EXCEPTION 'postern: unknown event type %', coalesce(publish.type, 'NULL')
      USING ERRCODE = '22023', HINT = 'The types of the catalog in force stand in postern.event_types.';
  END IF;
  IF publish.data IS NULL OR jsonb_typeof(publish.data) <> 'object' THEN
    RAISE EXCEPTION 'postern: data must be a JSON object' USING ERRCODE = '22023';
  END IF;
  body := format('{"id":%s,"event":%s,"created_at":%s,"data":%s}', to_json(event_id::text), to_json(publish.type),
    to_json(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), publish.data::text);
  IF octet_length(body) > 1048576 THEN
    RAISE EXCEPTION 'postern: an event has at most 1 MiB' USING ERRCODE = '22023';
  END IF;
  IF publish.id IS NOT NULL THEN
    IF length(publish.id) NOT BETWEEN 1 AND 128 THEN
      RAISE EXCEPTION 'postern: an idempotency key has 1 to 128 characters' USING ERRCODE = '22023';
    END IF;
    INSERT INTO postern.idempotency_keys AS k (tenant_id, key, event_id, fingerprint)
      VALUES (publish.tenant_id, publish.id, event_id, postern.content_fingerprint(publish.type, body))
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      SELECT k.event_id, k.fingerprint INTO earlier FROM postern.idempotency_keys k
        WHERE k.tenant_id = publish.tenant_id AND k.key = publish.id;
      IF earlier.fingerprint IS DISTINCT FROM postern.content_fingerprint(publish.type, body) THEN
        RAISE EXCEPTION 'postern: idempotency key reused with different content' USING ERRCODE = '23505';
      END IF;
      RETURN earlier.event_id;
    END IF;
  END IF;
  INSERT INTO postern.outbox (id, tenant_id, type, body) VALUES (event_id, publish.tenant_id, publish.type, body);
  PERFORM pg_notify('postern_dispatch', '');
  RETURN event_id;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.publish(text, text, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.publish(text, text, jsonb, text) TO postern_producer;
