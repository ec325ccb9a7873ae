-- As publish, of an event in several versions of its type: `versions` has the
-- data of each by number, the newest one's too. Every version of the catalog is
-- needed, but for previews. A tenant that is being moved here, or has been moved
-- away, has its keys claimed where it lives: a claim here would be a second one.
CREATE OR REPLACE FUNCTION postern.publish_versions(tenant_id text, type text, versions jsonb, id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event_id uuid := postern.uuid_v7();
  created_at timestamptz := to_timestamp(('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
  known postern.event_types;
  version text;
  content jsonb;
  written text;
  body text;
  others json;
  print bytea;
  earlier record;
  claims boolean;
BEGIN
  IF publish_versions.tenant_id IS NULL OR publish_versions.tenant_id !~ '^[A-Za-z0-9_-]{1,64}$' THEN
    RAISE EXCEPTION 'postern: tenant_id must be 1 to 64 of A-Z, a-z, 0-9, _ and -' USING ERRCODE = '22023';
  END IF;
  SELECT * INTO known FROM postern.event_types t WHERE t.type = publish_versions.type;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'postern: unknown event type %', coalesce(publish_versions.type, 'NULL')
      USING ERRCODE = '22023', HINT = 'The types of the catalog in force stand in postern.event_types.';
  END IF;
  IF publish_versions.versions IS NULL OR jsonb_typeof(publish_versions.versions) <> 'object' THEN
    RAISE EXCEPTION 'postern: versions must be a JSON object' USING ERRCODE = '22023';
  END IF;
  FOR version IN SELECT unnest(known.newest || known.needed)::text LOOP
    IF NOT publish_versions.versions ? version THEN
      RAISE EXCEPTION 'postern: version % of event type % is missing', version, publish_versions.type
        USING ERRCODE = '22023', HINT = 'postern.publish_versions takes every version of the catalog that is no preview.';
    END IF;
  END LOOP;
  FOR version, content IN SELECT * FROM jsonb_each(publish_versions.versions) LOOP
    IF version <> ALL ((known.newest || known.others)::text[]) THEN
      RAISE EXCEPTION 'postern: unknown version % of event type %', version, publish_versions.type USING ERRCODE = '22023';
    END IF;
    IF jsonb_typeof(content) <> 'object' THEN
      RAISE EXCEPTION 'postern: data must be a JSON object' USING ERRCODE = '22023';
    END IF;
    written := format('{"id":%s,"event":%s,"created_at":%s,"data":%s}', to_json(event_id::text),
      to_json(publish_versions.type), to_json(to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      content::text);
    IF version = known.newest::text THEN
      body := written;
    ELSE
      others := (coalesce(others, '{}')::jsonb || jsonb_build_object(version, written))::json;
    END IF;
  END LOOP;
  IF octet_length(body) + coalesce(octet_length(others::text), 0) > 1048576 THEN
    RAISE EXCEPTION 'postern: an event has at most 1 MiB' USING ERRCODE = '22023';
  END IF;
  IF publish_versions.id IS NOT NULL THEN
    IF length(publish_versions.id) NOT BETWEEN 1 AND 128 THEN
      RAISE EXCEPTION 'postern: an idempotency key has 1 to 128 characters' USING ERRCODE = '22023';
    END IF;
    print := postern.versions_fingerprint(publish_versions.type, body, known.newest, others);
    claims := NOT EXISTS (
      SELECT FROM postern.shard_tenants s WHERE s.tenant_id = publish_versions.tenant_id AND s.fenced);
    LOOP
      IF claims THEN
        INSERT INTO postern.idempotency_keys AS k (tenant_id, key, event_id, fingerprint)
          VALUES (publish_versions.tenant_id, publish_versions.id, event_id, print)
          ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
      END IF;
      SELECT k.event_id, k.fingerprint INTO earlier FROM postern.idempotency_keys k
        WHERE k.tenant_id = publish_versions.tenant_id AND k.key = publish_versions.id;
      IF FOUND THEN
        IF earlier.fingerprint IS DISTINCT FROM print THEN
          RAISE EXCEPTION 'postern: idempotency key reused with different content' USING ERRCODE = '23505';
        END IF;
        RETURN earlier.event_id;
      END IF;
      -- A key that was taken, and is gone by now, has been forgotten between the two looks: it is free.
      EXIT WHEN NOT claims;
    END LOOP;
  END IF;
  INSERT INTO postern.outbox (id, tenant_id, type, body, version, versions, key, claimed)
    VALUES (event_id, publish_versions.tenant_id, publish_versions.type, body, nullif(known.newest, 1), others, publish_versions.id, claims IS NOT false);
  PERFORM pg_notify('postern_dispatch', '');
  RETURN event_id;
END
$$;

REVOKE EXECUTE ON FUNCTION postern.publish_versions(text, text, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.publish_versions(text, text, jsonb, text) TO postern_producer;
