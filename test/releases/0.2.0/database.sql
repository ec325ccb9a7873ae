--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: postern; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA postern;


--
-- Name: attach_staged(text); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.attach_staged(parent text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  old_default text := parent || '_default';
  staged_default text := parent || '_staged_default';
  staged text;
  day date;
  name text;
  attached integer := 0;
BEGIN
  IF (parent IN ('events', 'deliveries')) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: events or deliveries are attached' USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  PERFORM set_config('lock_timeout', '200ms', true);
  -- Another process was faster.
  IF to_regclass(format('postern.%I', staged_default)) IS NULL THEN RETURN 0; END IF;
  EXECUTE format('LOCK TABLE ONLY postern.%I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE postern.%I IN ACCESS EXCLUSIVE MODE', old_default);
  EXECUTE format('DROP TRIGGER copy_to_staged ON postern.%I', old_default);
  EXECUTE format('ALTER TABLE postern.%I DETACH PARTITION postern.%I', parent, old_default);
  EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', old_default, parent || '_moved_default');
  FOR staged IN
    SELECT relname FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ ('^' || parent || '_staged_[0-9]{8}$') ORDER BY relname
  LOOP
    day := to_date(right(staged, 8), 'YYYYMMDD');
    name := parent || '_' || to_char(day, 'YYYYMMDD');
    EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', staged, name);
    EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)', parent, name,
      postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC'),
      postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
    EXECUTE format('ALTER TABLE postern.%I DROP CONSTRAINT staged_day', name);
    attached := attached + 1;
  END LOOP;
  EXECUTE format('ALTER TABLE postern.%I RENAME TO %I', staged_default, old_default);
  EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I DEFAULT', parent, old_default);
  RETURN attached;
END
$_$;


--
-- Name: content_fingerprint(text, text); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.content_fingerprint(type text, body text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT sha256(convert_to(type || ' ' || (body::jsonb -> 'data')::text, 'UTF8'))
$$;


--
-- Name: copy_staged_rows(text, bigint, bigint); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.copy_staged_rows(parent text, from_page bigint, to_page bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  staged text;
  days date[] := '{}';
  pages text := format('ctid >= %L::tid AND ctid < %L::tid', format('(%s,0)', from_page), format('(%s,0)', to_page));
BEGIN
  IF (parent IN ('events', 'deliveries')) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: events or deliveries are copied' USING ERRCODE = '22023';
  END IF;
  FOR staged IN
    SELECT relname FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r'
      AND relname ~ ('^' || parent || '_staged_[0-9]{8}$') ORDER BY relname
  LOOP
    days := days || to_date(right(staged, 8), 'YYYYMMDD');
    EXECUTE format('INSERT INTO postern.%I SELECT * FROM postern.%I WHERE %s AND postern.day_of_id(id) = %L
      ON CONFLICT DO NOTHING', staged, parent || '_default', pages, days[cardinality(days)]);
  END LOOP;
  EXECUTE format('INSERT INTO postern.%I SELECT * FROM postern.%I WHERE %s AND postern.day_of_id(id) <> ALL (%L::date[])
    ON CONFLICT DO NOTHING', parent || '_staged_default', parent || '_default', pages, days);
END
$_$;


--
-- Name: copy_to_staged(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.copy_to_staged() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  parent text := TG_ARGV[0];
  name text := parent || '_staged_' || to_char(postern.day_of_id(NEW.id), 'YYYYMMDD');
BEGIN
  IF to_regclass(format('postern.%I', name)) IS NULL THEN name := parent || '_staged_default'; END IF;
  EXECUTE format('INSERT INTO postern.%I SELECT ($1).*', name) USING NEW;
  RETURN NULL;
END
$_$;


--
-- Name: count_tenant_rows(text, integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.count_tenant_rows(counted_tenant text, most integer) RETURNS TABLE(name text, count bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  source record;
  counts jsonb := '{}';
  found bigint;
BEGIN
  FOR source IN SELECT t.* FROM postern.tables_of_tenants() t LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %s WHERE %s LIMIT $2) AS looked', source.place, source.matches)
      INTO found USING counted_tenant, most;
    counts := counts || jsonb_build_object(source.name, coalesce((counts ->> source.name)::bigint, 0) + found);
  END LOOP;
  RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c WHERE c.value <> '0' ORDER BY c.key;
END
$_$;


--
-- Name: current_tenant(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.current_tenant() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  SELECT nullif(current_setting('postern.tenant', true), '')
$$;


--
-- Name: day_of_id(uuid); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.day_of_id(id uuid) RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  SELECT (to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    AT TIME ZONE 'UTC')::date
$$;


--
-- Name: drop_old_partitions(integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.drop_old_partitions(retention_days integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY SELECT partition FROM postern.drop_past_partitions(retention_days) WHERE holders IS NULL;
END
$$;


--
-- Name: drop_past_partitions(integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.drop_past_partitions(retention_days integer) RETURNS TABLE(partition text, holders text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  last_day date;
  oldest_needed date;
  name text;
  day date;
  parent text;
  locked text[] := '{}';
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: the log is kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  last_day := (now() AT TIME ZONE 'UTC')::date - retention_days - 1;
  PERFORM set_config('lock_timeout', '200ms', true);
  -- What was logged late under an id of long ago, as by an endpoint that was disabled for weeks.
  DELETE FROM postern.deliveries_default WHERE id < postern.lowest_id_at(last_day::timestamp AT TIME ZONE 'UTC');
  -- The same for events, such as those that the outbox held for as long. One statement: an event that is
  -- relayed meanwhile is not in its snapshot. And no index: one pass over small tables, every ten minutes.
  WITH needed AS MATERIALIZED (
    SELECT postern.day_of_id(event_id) AS first_day
    FROM (SELECT event_id FROM postern.dispatches UNION ALL SELECT id FROM postern.outbox) AS waiting
    ORDER BY event_id LIMIT 1
  ), deleted AS (
    DELETE FROM postern.events_default
    WHERE id < postern.lowest_id_at(least(last_day - 5, (SELECT first_day FROM needed))::timestamp AT TIME ZONE 'UTC')
  )
  SELECT first_day INTO oldest_needed FROM needed;
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)
      AND c.relname ~ '_[0-9]{8}$'
    ORDER BY c.relname
  LOOP
    day := to_date(right(name, 8), 'YYYYMMDD');
    parent := split_part(name, '_', 1);
    CONTINUE WHEN parent = ANY (locked);
    CONTINUE WHEN day > CASE WHEN name LIKE 'events_%' THEN least(last_day - 5, oldest_needed - 1) ELSE last_day END;
    BEGIN
      EXECUTE format('DROP TABLE postern.%I', name);
      partition := name;
      holders := NULL;
      RETURN NEXT;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      -- Most likely the parent's, which its other partitions need too.
      locked := locked || parent;
      partition := name;
      SELECT string_agg(format('process %s%s', found.pid, ' (' || nullif(found.application_name, '') || ')'), ', ')
        INTO holders
        FROM (
          SELECT DISTINCT l.pid, a.application_name FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
          WHERE l.granted AND l.pid <> pg_backend_pid()
            AND l.relation IN (to_regclass('postern.' || name), to_regclass('postern.' || parent))
            -- Null where this user may not see it.
            AND coalesce(a.xact_start < clock_timestamp() - interval '200 ms', true)
          ORDER BY l.pid LIMIT 5) AS found;
      holders := coalesce(holders, 'nobody any more');
      RETURN NEXT;
    END;
  END LOOP;
END
$_$;


--
-- Name: ensure_partitions(date, date); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.ensure_partitions(from_day date, to_day date) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  most_moved CONSTANT integer := 1000;
  day date;
  parent text;
  name text;
  low uuid;
  high uuid;
  found integer;
  made integer := 0;
BEGIN
  IF (from_day >= today - 400 AND to_day <= today + 60 AND to_day - from_day <= 100) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: partitions are made for 100 days at once, from 400 days ago to 60 ahead'
      USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  -- Others wait behind each lock that is waited for here.
  PERFORM set_config('lock_timeout', '200ms', true);
  FOREACH parent IN ARRAY ARRAY['events', 'deliveries'] LOOP
    FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('postern.%I', name)) IS NOT NULL;
      -- The rows of a staged day come with it.
      CONTINUE WHEN to_regclass(format('postern.%I', parent || '_staged_' || to_char(day, 'YYYYMMDD'))) IS NOT NULL;
      low := postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC');
      high := postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC');
      -- Before the default partition: whoever adds a row locks them in this order too. A writer that waits here
      -- finds its partition afterwards; one that waited for the default partition would add to the wrong one.
      EXECUTE format('LOCK TABLE ONLY postern.%I IN SHARE ROW EXCLUSIVE MODE', parent);
      EXECUTE format('SELECT count(*) FROM (SELECT FROM postern.%I WHERE id >= %L AND id < %L LIMIT %s) AS rows',
        parent || '_default', low, high, most_moved + 1) INTO found;
      CONTINUE WHEN found > most_moved;
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      IF found > 0 THEN
        EXECUTE format(
          'WITH moved AS (DELETE FROM postern.%I WHERE id >= %L AND id < %L RETURNING *)
             INSERT INTO postern.%I SELECT * FROM moved',
          parent || '_default', low, high, name);
      END IF;
      EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, low, high);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;


--
-- Name: erase_tenant_rows(text, integer, boolean); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.erase_tenant_rows(erased_tenant text, most integer, with_objects boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  source record;
  removed bigint;
  erased bigint := 0;
BEGIN
  IF NOT EXISTS (SELECT FROM postern.tenant_erasures e WHERE e.tenant_id = erased_tenant AND e.status = 'running') THEN
    RAISE EXCEPTION 'postern: no erasure of this tenant is running' USING ERRCODE = '22023';
  END IF;
  -- Who fans out, completes or changes meanwhile waits for these rows or is waited for, and no dispatch comes behind.
  UPDATE postern.endpoints e SET deleted_at = now(), enabled = false, disabled_reason = coalesce(disabled_reason, 'manual')
    WHERE e.tenant_id = erased_tenant AND e.deleted_at IS NULL;
  FOR source IN SELECT t.* FROM postern.tables_of_tenants() t WHERE with_objects OR t.name <> 'stored_objects' LOOP
    EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %s LIMIT $2))',
      source.place, source.place, source.matches) USING erased_tenant, most - erased;
    GET DIAGNOSTICS removed = ROW_COUNT;
    erased := erased + removed;
    EXIT WHEN erased >= most;
  END LOOP;
  RETURN erased;
END
$_$;


--
-- Name: forget_deleted_endpoints(integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.forget_deleted_endpoints(retention_days integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  removed integer;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: deleted endpoints are kept for 1 day at least' USING ERRCODE = '22023';
  END IF;
  DELETE FROM postern.endpoints WHERE (tenant_id, id) IN (
    SELECT e.tenant_id, e.id FROM postern.endpoints e
    WHERE e.deleted_at < now() - retention_days * interval '1 day' AND NOT e.unsettled
      -- OFFSET 0: a look-up by key for each, never a join that reads the whole log.
      AND NOT EXISTS (SELECT FROM postern.deliveries d
        WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id OFFSET 0)
      AND NOT EXISTS (SELECT FROM postern.dispatches d
        WHERE d.tenant_id = e.tenant_id AND d.endpoint_id = e.id OFFSET 0)
      AND NOT EXISTS (SELECT FROM postern.person_sends s
        WHERE s.tenant_id = e.tenant_id AND s.endpoint_id = e.id OFFSET 0)
    ORDER BY e.deleted_at LIMIT 500 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;


--
-- Name: forget_old_audit(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.forget_old_audit() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM postern.audit_log WHERE id IN (
    SELECT id FROM postern.audit_log
    WHERE id < postern.lowest_id_at(now() - interval '365 days') ORDER BY id LIMIT 10000);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;


--
-- Name: forget_old_storage(integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.forget_old_storage(retention_days integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  past timestamptz := now() - retention_days * interval '1 day';
  removed integer := 0;
  deleted integer;
BEGIN
  IF (retention_days >= 1) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: what storage did is remembered for 1 day at least' USING ERRCODE = '22023';
  END IF;

  -- Archives that never became available and whose run gave them up: the export is over, or begun anew.
  -- Without a row the bytes are nobody's, and comparing deletes them. The quarter of an hour is that of comparing.
  DELETE FROM postern.stored_objects o USING postern.storage_exports e
  WHERE o.kind = 'export' AND o.available_at IS NULL AND o.state_since < now() - interval '15 minutes'
    AND e.id = o.delivery_id AND (e.status NOT IN ('queued', 'running') OR e.attempt > o.attempt);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  -- Purged ones, and uploads that never came.
  DELETE FROM postern.stored_objects WHERE id IN (
    SELECT id FROM postern.stored_objects
    WHERE (state = 'purged' OR state = 'missing' AND available_at IS NULL) AND state_since < past
    ORDER BY state_since LIMIT 10000 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  DELETE FROM postern.storage_grants WHERE id IN (
    SELECT id FROM postern.storage_grants WHERE expires_at < past ORDER BY expires_at LIMIT 10000
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  removed := removed + deleted;

  -- The last one stays: the next gets the number behind it.
  DELETE FROM postern.storage_events WHERE at < past AND sequence IN (
    SELECT sequence FROM postern.storage_events
    WHERE sequence < (SELECT max(sequence) FROM postern.storage_events) ORDER BY sequence LIMIT 10000
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN removed + deleted;
END
$$;


--
-- Name: list_tenants(text, text, integer); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.list_tenants(prefix text, after text, most integer) RETURNS TABLE(id text, endpoints bigint, enabled bigint, failing bigint, delivered bigint, failed bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY
    WITH RECURSIVE found AS (
      (SELECT e.tenant_id FROM postern.endpoints e
        WHERE e.tenant_id COLLATE "C" >= prefix AND e.tenant_id COLLATE "C" > after
          -- The next character behind all that an id may have.
          AND e.tenant_id COLLATE "C" < prefix || '{'
        ORDER BY e.tenant_id COLLATE "C" LIMIT 1)
      UNION ALL
      SELECT (SELECT e.tenant_id FROM postern.endpoints e
        WHERE e.tenant_id COLLATE "C" > found.tenant_id AND e.tenant_id COLLATE "C" < prefix || '{'
        ORDER BY e.tenant_id COLLATE "C" LIMIT 1)
      FROM found WHERE found.tenant_id IS NOT NULL
    ), page AS (SELECT f.tenant_id FROM found f WHERE f.tenant_id IS NOT NULL LIMIT most)
    SELECT page.tenant_id, own.endpoints, own.enabled, own.failing, made.delivered, made.failed
    FROM page
    CROSS JOIN LATERAL (
      SELECT count(*) AS endpoints, count(*) FILTER (WHERE e.enabled) AS enabled,
        count(*) FILTER (WHERE e.enabled AND e.failing_since IS NOT NULL) AS failing
      FROM postern.endpoints e WHERE e.tenant_id = page.tenant_id AND e.deleted_at IS NULL
    ) AS own
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(s.count) FILTER (WHERE s.cause = ''), 0)::bigint AS delivered,
        coalesce(sum(s.count) FILTER (WHERE s.cause <> ''), 0)::bigint AS failed
      FROM postern.delivery_stats s
      WHERE s.tenant_id = page.tenant_id AND s.endpoint_id = '00000000-0000-0000-0000-000000000000'
        AND s.grain = 60 AND s.at >= date_trunc('hour', now()) - interval '24 hours'
    ) AS made
    ORDER BY page.tenant_id COLLATE "C";
END
$$;


--
-- Name: log_added(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.log_added() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  most_named CONSTANT integer := 80;
BEGIN
  IF EXISTS (SELECT FROM postern.log_watches) THEN
    PERFORM pg_notify('postern_log', json_build_object('tenant', tenant_id, 'omitted', greatest(count(*) - most_named, 0),
        'added', array_agg(endpoint_id || ' ' || id || ' ' || status ORDER BY place) FILTER (WHERE place <= most_named))::text)
    FROM (
      SELECT tenant_id, endpoint_id, id, status,
        row_number() OVER (PARTITION BY tenant_id ORDER BY status = 'delivered', id) AS place
      FROM logged WHERE tenant_id IN (SELECT w.tenant_id FROM postern.log_watches w WHERE until > now())
    ) AS watched
    GROUP BY tenant_id;
  END IF;
  INSERT INTO postern.delivery_counts
    (tenant_id, endpoint_id, at, cause, count, sent, latency_sum_ms, latency_max_ms, first_id, last_id)
  SELECT tenant_id, endpoint_id, date_bin('10 minutes', created_at, 'epoch'), cause, count(*), count(sent_at),
    coalesce(sum(latency_ms) FILTER (WHERE sent_at IS NOT NULL), 0),
    coalesce(max(latency_ms) FILTER (WHERE sent_at IS NOT NULL), 0),
    -- In this order texts of ids sort as the ids do; PostgreSQL 15 finds no least id.
    min(id COLLATE "C")::uuid, max(id COLLATE "C")::uuid
  FROM (
    SELECT tenant_id, endpoint_id, id::text AS id, sent_at, latency_ms,
      to_timestamp(('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 1000.0) AS created_at,
      CASE status WHEN 'delivered' THEN '' ELSE coalesce(error, 'http_' || response_status, 'unknown') END AS cause
    FROM logged WHERE status <> 'test'
  ) AS attempts
  GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;


--
-- Name: lowest_id_at(timestamp with time zone); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.lowest_id_at(at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;


--
-- Name: publish(text, text, jsonb, text); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.publish(tenant_id text, type text, data jsonb, id text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;


--
-- Name: stage_partitions(text, date, date); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.stage_partitions(parent text, from_day date, to_day date) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  staged_default text := parent || '_staged_default';
  day date;
  name text;
  is_missing boolean := false;
BEGIN
  IF (parent IN ('events', 'deliveries') AND from_day >= today - 400 AND to_day <= today + 60
      AND to_day - from_day <= 100) IS NOT TRUE THEN
    RAISE EXCEPTION 'postern: days of events or deliveries are staged, 100 at once, from 400 days ago to 60 ahead'
      USING ERRCODE = '22023';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  PERFORM set_config('lock_timeout', '200ms', true);
  -- Left by a process that died behind the last step.
  EXECUTE format('DROP TABLE IF EXISTS postern.%I', parent || '_moved_default');
  IF to_regclass(format('postern.%I', staged_default)) IS NULL THEN
    FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
      CONTINUE WHEN to_regclass(format('postern.%I', parent || '_' || to_char(day, 'YYYYMMDD'))) IS NOT NULL;
      name := parent || '_staged_' || to_char(day, 'YYYYMMDD');
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', name);
      -- With it, attaching need not read the rows.
      EXECUTE format('ALTER TABLE postern.%I ADD CONSTRAINT staged_day CHECK (id IS NOT NULL AND id >= %L AND id < %L)',
        name, postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC'),
        postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
      is_missing := true;
    END LOOP;
    IF NOT is_missing THEN RETURN NULL; END IF;
    EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', staged_default, parent);
    EXECUTE format('ALTER TABLE postern.%I ENABLE ROW LEVEL SECURITY', staged_default);
    -- It waits until every transaction that added a row before has ended: a row is copied here or by a later call.
    EXECUTE format('CREATE TRIGGER copy_to_staged AFTER INSERT ON postern.%I
      FOR EACH ROW EXECUTE FUNCTION postern.copy_to_staged(%L)', parent || '_default', parent);
  END IF;
  RETURN pg_relation_size(format('postern.%I', parent || '_default')) / current_setting('block_size')::bigint;
END
$$;


--
-- Name: tables_of_tenants(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.tables_of_tenants() RETURNS TABLE(place regclass, name text, matches text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
  RETURN QUERY
    SELECT c.oid::regclass, regexp_replace(c.relname, '^(events|deliveries)_.*$', '\1'),
      CASE
        WHEN c.relname ~ '^(events|deliveries)_' THEN 'tenant_id COLLATE "C" = $1'
        WHEN c.relname = 'audit_log' THEN 'tenant_id = $1 AND action <> ''tenant.erased'''
        ELSE 'tenant_id = $1'
      END
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'postern'::regnamespace AND c.relkind = 'r' AND c.relname <> 'tenant_erasures'
    -- What makes new rows goes first: what is published, what is pending, what is counted.
    ORDER BY array_position(ARRAY['outbox', 'dispatches', 'person_sends', 'storage_exports', 'bodies_to_keep',
        'tenant_settings', 'replays', 'portal_sessions', 'delivery_counts'], c.relname::text) NULLS LAST,
      c.relname = 'endpoints', c.relname;
END
$_$;


--
-- Name: uuid_v7(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.uuid_v7() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: audit_log; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.audit_log (
    tenant_id text,
    id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    actor_type text NOT NULL,
    actor_sub text,
    action text NOT NULL,
    endpoint_id uuid,
    outcome text NOT NULL,
    details jsonb NOT NULL,
    request_id uuid,
    address text,
    CONSTRAINT audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'operator'::text, 'postern'::text, 'unknown'::text]))),
    CONSTRAINT audit_log_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text])))
);

ALTER TABLE ONLY postern.audit_log FORCE ROW LEVEL SECURITY;


--
-- Name: bodies_to_keep; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.bodies_to_keep (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt smallint NOT NULL,
    kind text NOT NULL,
    body bytea,
    days integer,
    noted_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    due_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    CONSTRAINT bodies_to_keep_attempt_check CHECK (((attempt >= 1) AND (attempt <= 999))),
    CONSTRAINT bodies_to_keep_check CHECK (((kind = 'response_body'::text) = (body IS NOT NULL))),
    CONSTRAINT bodies_to_keep_kind_check CHECK ((kind = ANY (ARRAY['request_body'::text, 'response_body'::text])))
);

ALTER TABLE ONLY postern.bodies_to_keep FORCE ROW LEVEL SECURITY;


--
-- Name: deliveries; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY postern.deliveries FORCE ROW LEVEL SECURITY;


--
-- Name: deliveries_20261121; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261121 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261122; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261122 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261123; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261123 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261124; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261124 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261125; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261125 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261126; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261126 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261127; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261127 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261128; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261128 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_20261129; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_20261129 (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: deliveries_default; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.deliveries_default (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    response_status smallint,
    response_headers json,
    response_body text,
    latency_ms integer NOT NULL,
    error text,
    sent_at timestamp with time zone,
    replay_id uuid,
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


--
-- Name: delivery_counts; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.delivery_counts (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    at timestamp(0) with time zone NOT NULL,
    cause text NOT NULL,
    count bigint NOT NULL,
    sent bigint NOT NULL,
    latency_sum_ms bigint NOT NULL,
    latency_max_ms integer NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY postern.delivery_counts FORCE ROW LEVEL SECURITY;


--
-- Name: delivery_stats; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.delivery_stats (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    grain smallint NOT NULL,
    at timestamp(0) with time zone NOT NULL,
    cause text NOT NULL,
    count bigint NOT NULL,
    sent bigint NOT NULL,
    latency_sum_ms bigint NOT NULL,
    latency_max_ms integer NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    CONSTRAINT delivery_stats_grain_check CHECK ((grain = ANY (ARRAY[10, 60, 1440])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY postern.delivery_stats FORCE ROW LEVEL SECURITY;


--
-- Name: dispatches; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.dispatches (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    attempt smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claimable_at timestamp with time zone NOT NULL,
    lease_owner uuid,
    held boolean DEFAULT false NOT NULL,
    superseded boolean DEFAULT false NOT NULL,
    parked boolean DEFAULT false NOT NULL,
    once boolean DEFAULT false NOT NULL,
    replay_id uuid
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY postern.dispatches FORCE ROW LEVEL SECURITY;


--
-- Name: endpoints; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.endpoints (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    disabled_reason text,
    rate_limit integer,
    headers json DEFAULT '{}'::json NOT NULL,
    metadata json DEFAULT '{}'::json NOT NULL,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamp with time zone,
    failing_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    unsettled boolean DEFAULT false NOT NULL,
    masked_headers text[] DEFAULT '{}'::text[] NOT NULL,
    sealed_headers bytea,
    CONSTRAINT endpoints_check CHECK ((enabled = (disabled_reason IS NULL))),
    CONSTRAINT endpoints_check1 CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL))),
    CONSTRAINT endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text]))),
    CONSTRAINT endpoints_rate_limit_check CHECK (((rate_limit >= 1) AND (rate_limit <= 1000)))
);

ALTER TABLE ONLY postern.endpoints FORCE ROW LEVEL SECURITY;


--
-- Name: event_types; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.event_types (
    type text NOT NULL
);


--
-- Name: events; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY postern.events FORCE ROW LEVEL SECURITY;


--
-- Name: events_20261121; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261121 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261122; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261122 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261123; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261123 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261124; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261124 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261125; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261125 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261126; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261126 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261127; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261127 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261128; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261128 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_20261129; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_20261129 (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: events_default; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.events_default (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    dispatch_count integer NOT NULL
);


--
-- Name: heartbeats; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.heartbeats (
    process_id uuid NOT NULL,
    name text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');


--
-- Name: idempotency_keys; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.idempotency_keys (
    tenant_id text NOT NULL,
    key text NOT NULL,
    event_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY postern.idempotency_keys FORCE ROW LEVEL SECURITY;


--
-- Name: log_watches; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.log_watches (
    tenant_id text NOT NULL,
    watcher uuid NOT NULL,
    until timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY postern.log_watches FORCE ROW LEVEL SECURITY;


--
-- Name: outbox; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.outbox (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    type text NOT NULL,
    body text NOT NULL
);

ALTER TABLE ONLY postern.outbox FORCE ROW LEVEL SECURITY;


--
-- Name: person_sends; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.person_sends (
    tenant_id text NOT NULL,
    endpoint_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid,
    test_id uuid,
    event_type text NOT NULL,
    trigger text NOT NULL,
    attempt integer NOT NULL,
    request_body text,
    request_headers json NOT NULL,
    CONSTRAINT person_sends_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT person_sends_trigger_check CHECK ((trigger = ANY (ARRAY['retry'::text, 'test'::text])))
);

ALTER TABLE ONLY postern.person_sends FORCE ROW LEVEL SECURITY;


--
-- Name: portal_sessions; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.portal_sessions (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    sub text NOT NULL,
    role text,
    read_only boolean NOT NULL,
    code_hash bytea,
    minutes integer NOT NULL,
    until timestamp(3) with time zone NOT NULL,
    CONSTRAINT portal_sessions_check CHECK (((tenant_id = '*'::text) = (role IS NULL))),
    CONSTRAINT portal_sessions_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text])))
);

ALTER TABLE ONLY postern.portal_sessions FORCE ROW LEVEL SECURITY;


--
-- Name: replays; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.replays (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    from_at timestamp(3) with time zone NOT NULL,
    to_at timestamp(3) with time zone NOT NULL,
    selection text NOT NULL,
    event_type text,
    cause text,
    status text DEFAULT 'running'::text NOT NULL,
    error text,
    counted integer NOT NULL,
    is_capped boolean NOT NULL,
    sent integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    after_event_id uuid NOT NULL,
    is_fed boolean DEFAULT false NOT NULL,
    delivered integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    counted_to uuid NOT NULL,
    lease_owner uuid,
    lease_until timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    finished_at timestamp(3) with time zone,
    CONSTRAINT replays_check CHECK ((from_at < to_at)),
    CONSTRAINT replays_check1 CHECK (((status = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT replays_selection_check CHECK ((selection = ANY (ARRAY['failed'::text, 'missed'::text, 'all'::text]))),
    CONSTRAINT replays_status_check CHECK ((status = ANY (ARRAY['running'::text, 'finished'::text, 'canceled'::text, 'failed'::text])))
);

ALTER TABLE ONLY postern.replays FORCE ROW LEVEL SECURITY;


--
-- Name: schema_functions; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.schema_functions (
    id bigint NOT NULL,
    file text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: schema_functions_id_seq; Type: SEQUENCE; Schema: postern; Owner: -
--

ALTER TABLE postern.schema_functions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postern.schema_functions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: schema_migrations; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: storage_buckets; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_buckets (
    bucket text NOT NULL,
    installation_id uuid NOT NULL,
    generation bigint DEFAULT 1 NOT NULL,
    marked_at timestamp(3) with time zone,
    trouble text,
    trouble_since timestamp(3) with time zone,
    CONSTRAINT storage_buckets_generation_check CHECK ((generation > 0))
);


--
-- Name: storage_cursor; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_cursor (
    bucket text NOT NULL,
    run_id uuid NOT NULL,
    after_key text,
    halted_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    halted_reason text
);


--
-- Name: storage_destroyed; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_destroyed (
    bucket text NOT NULL,
    run_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    number integer NOT NULL,
    CONSTRAINT storage_destroyed_number_check CHECK ((number > 0))
);


--
-- Name: storage_events; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_events (
    tenant_id text,
    sequence bigint NOT NULL,
    type text NOT NULL,
    bucket text NOT NULL,
    key text NOT NULL,
    run_id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY postern.storage_events FORCE ROW LEVEL SECURITY;


--
-- Name: storage_exports; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_exports (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    requested_by text NOT NULL,
    from_at timestamp(3) with time zone NOT NULL,
    to_at timestamp(3) with time zone NOT NULL,
    endpoint_id uuid,
    status text DEFAULT 'queued'::text NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    rows_total bigint,
    rows_done bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    after_endpoint_id uuid,
    after_delivery_id uuid,
    parts jsonb DEFAULT '[]'::jsonb NOT NULL,
    lease_owner uuid,
    lease_until timestamp(3) with time zone,
    object_id uuid,
    error text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    fruitless_runs smallint DEFAULT 0 NOT NULL,
    event_type text,
    delivery_status text,
    formats text[] DEFAULT '{ndjson,csv}'::text[] NOT NULL,
    CONSTRAINT storage_exports_attempt_check CHECK (((attempt >= 0) AND (attempt <= 999))),
    CONSTRAINT storage_exports_check CHECK ((from_at < to_at)),
    CONSTRAINT storage_exports_check1 CHECK (((after_endpoint_id IS NULL) = (after_delivery_id IS NULL))),
    CONSTRAINT storage_exports_check2 CHECK (((lease_owner IS NULL) = (lease_until IS NULL))),
    CONSTRAINT storage_exports_check3 CHECK (((status <> 'ready'::text) OR (object_id IS NOT NULL))),
    CONSTRAINT storage_exports_delivery_status_check CHECK ((delivery_status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT storage_exports_formats_check CHECK (((cardinality(formats) > 0) AND (formats <@ '{ndjson,csv,parquet}'::text[]))),
    CONSTRAINT storage_exports_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'ready'::text, 'failed'::text, 'expired'::text])))
);

ALTER TABLE ONLY postern.storage_exports FORCE ROW LEVEL SECURITY;


--
-- Name: storage_grants; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_grants (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    object_id uuid NOT NULL,
    user_id uuid NOT NULL,
    issued_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY postern.storage_grants FORCE ROW LEVEL SECURITY;


--
-- Name: storage_marks; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_marks (
    tenant_id text,
    bucket text NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    class text NOT NULL,
    first_seen_at timestamp(3) with time zone NOT NULL,
    run_id uuid NOT NULL,
    CONSTRAINT storage_marks_class_check CHECK ((class = ANY (ARRAY['adoptable'::text, 'row_without_object'::text, 'object_without_row'::text, 'identity_mismatch'::text])))
);

ALTER TABLE ONLY postern.storage_marks FORCE ROW LEVEL SECURITY;


--
-- Name: stored_objects; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.stored_objects (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    storage_tenant_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt smallint NOT NULL,
    kind text NOT NULL,
    bucket text NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sha256 text NOT NULL,
    content_type text NOT NULL,
    version_id text,
    etag text,
    state text NOT NULL,
    state_since timestamp(3) with time zone NOT NULL,
    available_at timestamp(3) with time zone,
    deadline timestamp(3) with time zone,
    hold boolean DEFAULT false NOT NULL,
    revision bigint DEFAULT 1 NOT NULL,
    CONSTRAINT stored_objects_attempt_check CHECK (((attempt >= 1) AND (attempt <= 999))),
    CONSTRAINT stored_objects_check CHECK (((version_id IS NULL) = (etag IS NULL))),
    CONSTRAINT stored_objects_check1 CHECK (((available_at IS NULL) OR (version_id IS NOT NULL))),
    CONSTRAINT stored_objects_check2 CHECK (((state <> 'available'::text) OR (available_at IS NOT NULL))),
    CONSTRAINT stored_objects_kind_check CHECK ((kind = ANY (ARRAY['request_body'::text, 'response_body'::text, 'export'::text]))),
    CONSTRAINT stored_objects_size_check CHECK ((size >= 0)),
    CONSTRAINT stored_objects_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'available'::text, 'missing'::text, 'quarantined'::text, 'expired'::text, 'purged'::text])))
);

ALTER TABLE ONLY postern.stored_objects FORCE ROW LEVEL SECURITY;


--
-- Name: tenant_erasures; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.tenant_erasures (
    tenant_id text NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    rows_erased bigint DEFAULT 0 NOT NULL,
    objects_erased bigint DEFAULT 0 NOT NULL,
    trouble text,
    lease_owner uuid,
    lease_until timestamp(3) with time zone DEFAULT now() NOT NULL,
    requested_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    finished_at timestamp(3) with time zone,
    CONSTRAINT tenant_erasures_check CHECK (((status = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT tenant_erasures_status_check CHECK ((status = ANY (ARRAY['running'::text, 'finished'::text])))
);

ALTER TABLE ONLY postern.tenant_erasures FORCE ROW LEVEL SECURITY;


--
-- Name: tenant_settings; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.tenant_settings (
    tenant_id text NOT NULL,
    keep_request_bodies boolean DEFAULT false NOT NULL,
    keep_response_bodies boolean DEFAULT false NOT NULL,
    artifact_days integer,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_settings_artifact_days_check CHECK (((artifact_days >= 1) AND (artifact_days <= 3650)))
);

ALTER TABLE ONLY postern.tenant_settings FORCE ROW LEVEL SECURITY;


--
-- Name: workers; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.workers (
    first_lease_id uuid NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    is_dead boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');


--
-- Name: deliveries_20261121; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261121 FOR VALUES FROM ('01a1fb67-1800-0000-0000-000000000000') TO ('01a2008d-7400-0000-0000-000000000000');


--
-- Name: deliveries_20261122; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261122 FOR VALUES FROM ('01a2008d-7400-0000-0000-000000000000') TO ('01a205b3-d000-0000-0000-000000000000');


--
-- Name: deliveries_20261123; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261123 FOR VALUES FROM ('01a205b3-d000-0000-0000-000000000000') TO ('01a20ada-2c00-0000-0000-000000000000');


--
-- Name: deliveries_20261124; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261124 FOR VALUES FROM ('01a20ada-2c00-0000-0000-000000000000') TO ('01a21000-8800-0000-0000-000000000000');


--
-- Name: deliveries_20261125; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261125 FOR VALUES FROM ('01a21000-8800-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');


--
-- Name: deliveries_20261126; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261126 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a21a4d-4000-0000-0000-000000000000');


--
-- Name: deliveries_20261127; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261127 FOR VALUES FROM ('01a21a4d-4000-0000-0000-000000000000') TO ('01a21f73-9c00-0000-0000-000000000000');


--
-- Name: deliveries_20261128; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261128 FOR VALUES FROM ('01a21f73-9c00-0000-0000-000000000000') TO ('01a22499-f800-0000-0000-000000000000');


--
-- Name: deliveries_20261129; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_20261129 FOR VALUES FROM ('01a22499-f800-0000-0000-000000000000') TO ('01a229c0-5400-0000-0000-000000000000');


--
-- Name: deliveries_default; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries ATTACH PARTITION postern.deliveries_default DEFAULT;


--
-- Name: events_20261121; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261121 FOR VALUES FROM ('01a1fb67-1800-0000-0000-000000000000') TO ('01a2008d-7400-0000-0000-000000000000');


--
-- Name: events_20261122; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261122 FOR VALUES FROM ('01a2008d-7400-0000-0000-000000000000') TO ('01a205b3-d000-0000-0000-000000000000');


--
-- Name: events_20261123; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261123 FOR VALUES FROM ('01a205b3-d000-0000-0000-000000000000') TO ('01a20ada-2c00-0000-0000-000000000000');


--
-- Name: events_20261124; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261124 FOR VALUES FROM ('01a20ada-2c00-0000-0000-000000000000') TO ('01a21000-8800-0000-0000-000000000000');


--
-- Name: events_20261125; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261125 FOR VALUES FROM ('01a21000-8800-0000-0000-000000000000') TO ('01a21526-e400-0000-0000-000000000000');


--
-- Name: events_20261126; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261126 FOR VALUES FROM ('01a21526-e400-0000-0000-000000000000') TO ('01a21a4d-4000-0000-0000-000000000000');


--
-- Name: events_20261127; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261127 FOR VALUES FROM ('01a21a4d-4000-0000-0000-000000000000') TO ('01a21f73-9c00-0000-0000-000000000000');


--
-- Name: events_20261128; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261128 FOR VALUES FROM ('01a21f73-9c00-0000-0000-000000000000') TO ('01a22499-f800-0000-0000-000000000000');


--
-- Name: events_20261129; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_20261129 FOR VALUES FROM ('01a22499-f800-0000-0000-000000000000') TO ('01a229c0-5400-0000-0000-000000000000');


--
-- Name: events_default; Type: TABLE ATTACH; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events ATTACH PARTITION postern.events_default DEFAULT;


--
-- Data for Name: audit_log; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.audit_log VALUES
	('acme', '01a2034a-89e8-7317-bc99-fda3aaf25f74', '2026-11-22 12:45:46.344+00', 'user', 'ada', 'storage_settings.updated', NULL, 'done', '{"artifact_days": null, "keep_request_bodies": true, "keep_response_bodies": true}', '33a04114-3b00-4ef1-8080-ac7179fbeda6', '127.0.0.1'),
	('acme', '01a2034a-89fe-7177-b4e3-5acb4f2cbc96', '2026-11-22 12:45:46.366+00', 'user', 'ada', 'endpoint.created', '01a2034a-89fa-732f-bec3-e067cafe160c', 'done', '{"url": "https://127.0.0.1:39559/works", "events": ["invoice.*"], "enabled": true}', 'aea4414c-1936-46a8-9ddb-db8c67b43f0b', '127.0.0.1'),
	('acme', '01a2034a-8a0f-7376-9f00-58c34698b78a', '2026-11-22 12:45:46.383+00', 'user', 'ada', 'endpoint.created', '01a2034a-8a08-72a6-87e9-fd382a07d110', 'done', '{"url": "https://127.0.0.1:39559/fails", "events": ["invoice.*"], "enabled": true}', '9e6b0b14-fe6a-4541-9765-5fe28aa07aee', '127.0.0.1'),
	('acme', '01a2034a-8a19-7359-9707-9d3dd81e917a', '2026-11-22 12:45:46.393+00', 'user', 'ada', 'secret.rotated', '01a2034a-89fa-732f-bec3-e067cafe160c', 'done', '{"grace_seconds": 3600}', 'bc61d01c-ed1f-46a4-818b-b4c459e1b82c', '127.0.0.1'),
	('acme', '01a2034a-8ab2-7145-8cb2-673074179b31', '2026-11-22 12:45:46.546+00', 'user', 'ada', 'endpoint.tested', '01a2034a-89fa-732f-bec3-e067cafe160c', 'done', '{"status": "test", "event_type": "invoice.paid", "delivery_id": "01a2034a-8aac-710e-b4aa-d2e718f62414"}', '82cf5042-7669-484e-a42e-ca4785f8f34b', '127.0.0.1'),
	('acme', '01a2034a-8abb-73e6-a301-219bc8758779', '2026-11-22 12:45:46.555+00', 'user', 'ada', 'delivery.retried', '01a2034a-8a08-72a6-87e9-fd382a07d110', 'done', '{"status": "failed", "retry_id": "01a2034a-8ab9-7084-9537-27efeb6b75ef", "delivery_id": "01a2034a-8a42-7192-bbbc-92f368acb902"}', '3ac7aa49-5f87-4722-b011-ca00c33b3194', '127.0.0.1'),
	('acme', '01a2034a-8ac2-722c-94a6-e2e5148a7b51', '2026-11-22 12:45:46.562+00', 'user', 'ada', 'export.requested', NULL, 'done', '{"to": "2026-11-22T12:45:46.556Z", "from": "2026-11-22T11:45:46.556Z", "formats": ["ndjson", "csv"], "export_id": "01a2034a-8ac0-7197-bc68-db10a18b51fd", "event_type": null, "delivery_status": null}', '32000cd9-6b71-48d2-994a-0da33bec2c3c', '127.0.0.1'),
	('acme', '01a2034a-94d2-7010-b94e-2c6bebca021c', '2026-11-22 12:45:49.138+00', 'user', 'ada', 'endpoint.created', '01a2034a-94c6-7115-8d56-b3e29f6fabab', 'done', '{"url": "https://127.0.0.1:39559/held", "events": ["invoice.*"], "enabled": true}', 'a019a75e-930a-41b7-bb1d-293d9edebc95', '127.0.0.1'),
	('acme', '01a2034a-94f2-7281-b06c-42655f055a11', '2026-11-22 12:45:49.17+00', 'user', 'ada', 'endpoint.disabled', '01a2034a-94c6-7115-8d56-b3e29f6fabab', 'done', '{"reason": "manual"}', 'cd6954b6-79ff-4a33-b0bd-6704e78ece3d', '127.0.0.1');


--
-- Data for Name: bodies_to_keep; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261121; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261122; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.deliveries_20261122 VALUES
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-8a26-7076-b354-13ba65c03fd9', '01a2034a-8a1f-720f-adb0-81ee00dc5bb4', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=f1864ff5c2fe228d7058e632a942c7ea8b3708175d5159a6c0cf234630379b6f","X-Service-Timestamp":"1795351546","webhook-signature":"v1,Dia4I8Cj7SmCd+WgNyrNEXEEbELITyCNe9MVD0nq7BA= v1,OGAf7/wwYathWIx9EDaNewEUiARxA+/IQygNodoAp+M=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 29, NULL, '2026-11-22 12:45:46.411+00', NULL),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-8a32-7e9a-927e-5251a00bb0cd', '01a2034a-8a31-710b-ac04-9d7745ea77a8', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=72410157a2acb95494c22bd79bc96bae6660ecca84cb2272fe3ed7b397516ed5","X-Service-Timestamp":"1795351546","webhook-signature":"v1,qfNMeuOv395PemXYLqZba8w15lIJfOa95uH2opoC1ZQ= v1,vBcZ0/nP8VCG2JnK79kbr4iYsfUvWR4l9p3GfBUtdyA=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 23, NULL, '2026-11-22 12:45:46.419+00', NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a26-7f84-afd1-dfede4b5fd10', '01a2034a-8a1f-720f-adb0-81ee00dc5bb4', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=b9ea0e239c2b922902637f3fdb874bf7d60c699aa53caec556a0ec5c187fb184","X-Service-Timestamp":"1795351546","webhook-signature":"v1,AYR03GhJjmGG0aIevW0i4Va0ohUuJvsdD27WZUwiAOg=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 28, NULL, '2026-11-22 12:45:46.411+00', NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a32-7026-91f7-de84fc6d43e6', '01a2034a-8a31-710b-ac04-9d7745ea77a8', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=ecc051c7a5839ea1df04b2675b64b40e29c74a55f620cba195c765603705c6b1","X-Service-Timestamp":"1795351546","webhook-signature":"v1,eYenczNeoRrUCB3lqn6/1DgKHUdpfGUaxQxT2IuNauE=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 22, NULL, '2026-11-22 12:45:46.418+00', NULL),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-8a42-78b6-8add-b03360178672', '01a2034a-8a41-728b-a836-e0ee43084eea', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=d9001de5547bab096b3dd20126e8472a4e215111d62e447f7e0a48d948b02e3f","X-Service-Timestamp":"1795351546","webhook-signature":"v1,QhnNj59qd9N8PTqMK/9Ri/A030W0/BQ46q8j7b/I6GQ= v1,pfi26Rl4hD8EzE1OGugLllFMoWSlyFbKZd/2vhto6CA=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 22, NULL, '2026-11-22 12:45:46.435+00', NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a42-7192-bbbc-92f368acb902', '01a2034a-8a41-728b-a836-e0ee43084eea', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=fd9ebbe699c79f87cd8022088e20c3412e190a1c1e3ca81790bd2ddce00d26fc","X-Service-Timestamp":"1795351546","webhook-signature":"v1,VcnzG3WlLE5FL9DMbkCL7O7aUEX7HWog8GKynJaxSdA=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 22, NULL, '2026-11-22 12:45:46.435+00', NULL),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-8aac-710e-b4aa-d2e718f62414', NULL, '01a2034a-8aac-710e-b4aa-d2e718f62414', 'invoice.paid', 'test', 'test', 1, '{"event":"invoice.paid","data":{"invoice_id":"inv_1042","customer_id":"cus_77","amount":12900,"currency":"EUR","paid_at":"2026-01-31T09:30:00.000Z"},"_test":true}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=b63e67a844dad40545e8a46a89695e08690417f37de9382b99f30809d7d31101","X-Service-Timestamp":"1795351546","X-Service-Event":"invoice.paid","X-Service-Delivery":"test-1795351546540","webhook-id":"01a2034a-8aac-710e-b4aa-d2e718f62414","webhook-timestamp":"1795351546","webhook-signature":"v1,5T7trOtze5wbPJ2aJdIqVoAGbrjeYalAJ434dUnIW1U= v1,/B8SMHq1huFAmpAD7S8DJw3PN+xGx2465b16vJqcmag=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 2, NULL, '2026-11-22 12:45:46.54+00', NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8ab9-7084-9537-27efeb6b75ef', '01a2034a-8a41-728b-a836-e0ee43084eea', NULL, 'invoice.paid', 'retry', 'failed', 2, '{"id":"01a2034a-8a41-728b-a836-e0ee43084eea","event":"invoice.paid","created_at":"2026-11-22T12:45:46.433Z","data":{"note":"over 2"}}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=fd9ebbe699c79f87cd8022088e20c3412e190a1c1e3ca81790bd2ddce00d26fc","X-Service-Timestamp":"1795351546","X-Service-Event":"invoice.paid","X-Service-Delivery":"01a2034a-8a42-7192-bbbc-92f368acb902","webhook-id":"01a2034a-8a41-728b-a836-e0ee43084eea","webhook-timestamp":"1795351546","webhook-signature":"v1,VcnzG3WlLE5FL9DMbkCL7O7aUEX7HWog8GKynJaxSdA=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:45:46 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 1, NULL, '2026-11-22 12:45:46.553+00', NULL);


--
-- Data for Name: deliveries_20261123; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261124; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261125; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261126; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261127; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261128; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261129; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_default; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: delivery_counts; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.delivery_counts VALUES
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '2026-11-22 12:40:00+00', 'http_500', 2, 2, 50, 28, '01a2034a-8a26-7f84-afd1-dfede4b5fd10', '01a2034a-8a32-7026-91f7-de84fc6d43e6'),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '2026-11-22 12:40:00+00', '', 2, 2, 52, 29, '01a2034a-8a26-7076-b354-13ba65c03fd9', '01a2034a-8a32-7e9a-927e-5251a00bb0cd'),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '2026-11-22 12:40:00+00', 'http_500', 1, 1, 22, 22, '01a2034a-8a42-7192-bbbc-92f368acb902', '01a2034a-8a42-7192-bbbc-92f368acb902'),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '2026-11-22 12:40:00+00', '', 1, 1, 22, 22, '01a2034a-8a42-78b6-8add-b03360178672', '01a2034a-8a42-78b6-8add-b03360178672'),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '2026-11-22 12:40:00+00', 'http_500', 1, 1, 1, 1, '01a2034a-8ab9-7084-9537-27efeb6b75ef', '01a2034a-8ab9-7084-9537-27efeb6b75ef');


--
-- Data for Name: delivery_stats; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: dispatches; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.dispatches VALUES
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a4e-793f-817a-a2b8c509879b', '01a2034a-8a1f-720f-adb0-81ee00dc5bb4', 'invoice.paid', 2, '2026-11-22 13:49:45.566184+00', '2026-11-22 13:49:45.566184+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a4e-74ed-a6f4-56ac9b47dab8', '01a2034a-8a31-710b-ac04-9d7745ea77a8', 'invoice.paid', 2, '2026-11-22 13:45:53.044184+00', '2026-11-22 13:45:53.044184+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8a8d-7c14-8698-3125e5b74625', '01a2034a-8a41-728b-a836-e0ee43084eea', 'invoice.paid', 2, '2026-11-22 13:48:56.793947+00', '2026-11-22 13:48:56.793947+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-911d-779f-ad2b-0b71d2754ecb', '01a2034a-9113-7376-9eef-bcd9639b71c4', 'invoice.paid', 1, '2026-11-22 12:45:48.186467+00', '2026-11-22 12:45:48.186467+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-911d-7b1d-95bf-3769776d40e8', '01a2034a-9113-7376-9eef-bcd9639b71c4', 'invoice.paid', 1, '2026-11-22 12:45:48.186467+00', '2026-11-22 12:45:48.186467+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', '01a2034a-94ea-7cc6-9e6f-bf3fe72aafab', '01a2034a-94de-7157-97cd-698565fb9bc5', 'invoice.paid', 1, '2026-11-22 12:45:49.157432+00', '2026-11-22 12:45:49.157432+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-94ea-7ecf-a886-11a9ff783aed', '01a2034a-94de-7157-97cd-698565fb9bc5', 'invoice.paid', 1, '2026-11-22 12:45:49.157432+00', '2026-11-22 12:45:49.157432+00', NULL, false, false, false, false, NULL),
	('acme', '01a2034a-94c6-7115-8d56-b3e29f6fabab', '01a2034a-94ea-742c-a3f6-f59dba6af90f', '01a2034a-94de-7157-97cd-698565fb9bc5', 'invoice.paid', 1, '2026-11-22 12:45:49.157432+00', '2026-11-22 12:45:49.157432+00', NULL, true, false, false, false, NULL);


--
-- Data for Name: endpoints; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.endpoints VALUES
	('acme', '01a2034a-89fa-732f-bec3-e067cafe160c', 'https://127.0.0.1:39559/works', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x01f8a6c3dd1ff959b3847a28a2a8c6b648bbef2c31e63c0d126142daed8171569707e3a4f128bd0d32009df23f8c6062eab31a74192611185844ab8bad6557f1e884703177c441ee3a08a310364ae5056fce26', '\x01f8a6c3dd53ae4a8ff236e9848d97ac9b2831055ea808fe6986a5092e1dcc2111783595ae5bf729191168be6cbc56c7f0788ef19bee79eb6179669f1fe73aaf18239810fa0fd85d4b5708ab9754f9f1c368df', '2026-11-22 13:45:46.392243+00', NULL, '2026-11-22 12:45:46.363+00', '2026-11-22 12:45:46.392+00', NULL, false, '{}', '\x01f8a6c3dd9b4ae85f1b6cc0bcf758d350f0d6bbcb37f3ff7efc8dd794b63f3f2cf4149e19060b83931fa37a863219fbddc32d2fc1bebb3d0c29e080a9b82595c1ad0594'),
	('acme', '01a2034a-8a08-72a6-87e9-fd382a07d110', 'https://127.0.0.1:39559/fails', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x01f8a6c3ddbeb3b84428de75d6368fbea3bb985e49c0886217f8d3c22f4ff90613f488c18c7bd838d9f5d0c5cbd3fb6544398aae8cec8e5e1fbb4e91dcc2adbe3d82989c655efe80f5b9283e15b6412143b831', NULL, NULL, '2026-11-22 12:45:46.440683+00', '2026-11-22 12:45:46.381+00', '2026-11-22 12:45:46.381+00', NULL, false, '{}', '\x01f8a6c3dd5eefcba7118a0cb0cd3ecf8c68dad8fdb8e62fd2e579a8cb611bac50e723b946e3ba15090e96bcca4c2f9b48e8ec6b32cb2aacea91ffb19608c186366f7fa9'),
	('acme', '01a2034a-94c6-7115-8d56-b3e29f6fabab', 'https://127.0.0.1:39559/held', '{invoice.*}', NULL, false, 'manual', NULL, '{"authorization":"[masked]"}', '{}', '\x01f8a6c3dd981ca7cc6bbaf9c87f43fe129a6151c7f034067676814d5ed1a9185ff5671a294e0e8a794b85e537fc2c43cbb3c644ac85d2238d1fbe63264f1b3eac8016c1cf3d1a34ebb65871ba8f908541aa22', NULL, NULL, NULL, '2026-11-22 12:45:49.133+00', '2026-11-22 12:45:49.169+00', NULL, false, '{}', '\x01f8a6c3ddc8e744dd62e6d53d4e9e52b6441f1642027303d6b17b69e069ba0778edc002f52193a33e84dd6af59b58db7c1837c30960f95f5a9f34f64296189b7f41cd');


--
-- Data for Name: event_types; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.event_types VALUES
	('invoice.created'),
	('invoice.sent'),
	('invoice.paid'),
	('invoice.overdue'),
	('payment.succeeded'),
	('payment.failed'),
	('payment.refunded'),
	('customer.created'),
	('customer.updated'),
	('document.uploaded'),
	('document.signed'),
	('document.deleted'),
	('endpoint.disabled'),
	('replay.finished'),
	('storage.export.ready'),
	('storage.object.missing'),
	('storage.object.quarantined'),
	('storage.object.healed');


--
-- Data for Name: events_20261121; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261122; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.events_20261122 VALUES
	('acme', '01a2034a-8a1f-720f-adb0-81ee00dc5bb4', 'invoice.paid', '{"id":"01a2034a-8a1f-720f-adb0-81ee00dc5bb4","event":"invoice.paid","created_at":"2026-11-22T12:45:46.399Z","data":{"note":"over 0"}}', 2),
	('acme', '01a2034a-8a31-710b-ac04-9d7745ea77a8', 'invoice.paid', '{"id":"01a2034a-8a31-710b-ac04-9d7745ea77a8","event":"invoice.paid","created_at":"2026-11-22T12:45:46.417Z","data":{"note":"over 1"}}', 2),
	('acme', '01a2034a-8a41-728b-a836-e0ee43084eea', 'invoice.paid', '{"id":"01a2034a-8a41-728b-a836-e0ee43084eea","event":"invoice.paid","created_at":"2026-11-22T12:45:46.433Z","data":{"note":"over 2"}}', 2),
	('acme', '01a2034a-8e10-706b-9e19-e3b46c832e3a', 'storage.export.ready', '{"id":"01a2034a-8e10-706b-9e19-e3b46c832e3a","event":"storage.export.ready","created_at":"2026-11-22T12:45:47.408Z","data":{"export_id":"01a2034a-8ac0-7197-bc68-db10a18b51fd","object_id":"f2350cf5-356e-48bd-b5fb-9ac8e899ecbe","expires_at":"2036-11-19T12:45:47.384Z"}}', 0),
	('acme', '01a2034a-9113-7376-9eef-bcd9639b71c4', 'invoice.paid', '{"id":"01a2034a-9113-7376-9eef-bcd9639b71c4","event":"invoice.paid","created_at":"2026-11-22T12:45:48.179Z","data":{"note":"pending"}}', 2),
	('acme', '01a2034a-94de-7157-97cd-698565fb9bc5', 'invoice.paid', '{"id":"01a2034a-94de-7157-97cd-698565fb9bc5","event":"invoice.paid","created_at":"2026-11-22T12:45:49.150Z","data":{"note":"held"}}', 3);


--
-- Data for Name: events_20261123; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261124; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261125; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261126; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261127; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261128; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_20261129; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: events_default; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: heartbeats; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.heartbeats VALUES
	('50d75a4b-bd2a-4353-bd1d-4105a37787ca', 'api+worker', '2026-11-22 12:45:46.299528+00', '2026-11-22 12:45:46.299528+00'),
	('663e945f-ff82-4cfa-9b95-805a660428a0', 'api', '2026-11-22 12:45:48.182487+00', '2026-11-22 12:45:48.182487+00'),
	('82d4255f-31dd-4ca8-bee3-dea8fe185ab1', 'api', '2026-11-22 12:45:49.106263+00', '2026-11-22 12:45:49.106263+00');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: log_watches; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: outbox; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.outbox VALUES
	('01a2034a-9128-7354-8130-b3b9644ec8b8', 'acme', 'invoice.paid', '{"id":"01a2034a-9128-7354-8130-b3b9644ec8b8","event":"invoice.paid","created_at":"2026-11-22T12:45:48.200Z","data":{"note": "from SQL"}}');


--
-- Data for Name: person_sends; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: portal_sessions; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: replays; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: schema_functions; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_functions OVERRIDING SYSTEM VALUE VALUES
	(1, 'functions/attach_staged.sql', '1320185bbac7b13f03189c49d23cd1a128389eec4497a981488f856aaf364c36', '2026-11-22 12:45:46.030494+00'),
	(2, 'functions/content_fingerprint.sql', '509dbdd1fa6e5c86284d162576369533dba7f20d9611bb432491c61d58db7077', '2026-11-22 12:45:46.031775+00'),
	(3, 'functions/copy_staged_rows.sql', '947b8cc6dd0b437f6a8dad3e8a83a3d550aeccfed7a44024014fbd7b26d40b8e', '2026-11-22 12:45:46.032506+00'),
	(4, 'functions/copy_to_staged.sql', '42d4bc58c1265463becd46388c9a5f1134ae0bc67edc355c0c31b33834290280', '2026-11-22 12:45:46.033282+00'),
	(5, 'functions/count_tenant_rows.sql', '20ef136ad04b9d99498b6841a938addaa40abaf46eee569bab2f584f08a6519e', '2026-11-22 12:45:46.034101+00'),
	(6, 'functions/current_tenant.sql', 'a5b3c5f7e7766ea60bb0ae554c056c775ba76857b205ed5325c8e2258610e166', '2026-11-22 12:45:46.034878+00'),
	(7, 'functions/day_of_id.sql', '0fede9f1ac3419f8923f1c847820c7893d96e94801ff992c405b72c2fc17b66e', '2026-11-22 12:45:46.035305+00'),
	(8, 'functions/drop_old_partitions.sql', '0ee6b931ade7b7df8c977f37e670d17e104100fd1039bd83ce65468829bab83e', '2026-11-22 12:45:46.036027+00'),
	(9, 'functions/drop_past_partitions.sql', 'bfa2ef0dfbd68aee9fc0ce8230ce3879bc3f45f878f8a1dec5556346e1c18b24', '2026-11-22 12:45:46.036624+00'),
	(10, 'functions/ensure_partitions.sql', '03efe27cbb8f2d5018478e94d04f0f2815a83a61863b62d2aae2a5147260d3ab', '2026-11-22 12:45:46.037803+00'),
	(11, 'functions/erase_tenant_rows.sql', '06b83ab5d09f8c0491ea17c496ca80df73d161340c48ddce1c0978fdf30a2a42', '2026-11-22 12:45:46.03899+00'),
	(12, 'functions/forget_deleted_endpoints.sql', '1da50189e0f7da82c71b4b3154091043efa62a50902d647d7c1525f6ca9277ac', '2026-11-22 12:45:46.039674+00'),
	(13, 'functions/forget_old_audit.sql', '41a6ce7ae4d46c66de21b4bb2cb23513609e9539215989262f03822ade4d1b09', '2026-11-22 12:45:46.040298+00'),
	(14, 'functions/forget_old_storage.sql', '371f23508345dde9061aae1edb84bb5c83d343df636b04bc119bd349fd30b355', '2026-11-22 12:45:46.04132+00'),
	(15, 'functions/list_tenants.sql', '1b868947a6a0691b0a797c905cc7690ef3c506df8ad882ff25165b36123b3e03', '2026-11-22 12:45:46.042379+00'),
	(16, 'functions/log_added.sql', '74ed5894de733c0e08fcc612bb43f495f04f1adb1d9495a9a69ab70d6bee485a', '2026-11-22 12:45:46.043391+00'),
	(17, 'functions/lowest_id_at.sql', '1f59c9b90640bc974694463a77b33dc6d4884ec5a1d294eee28f5ccd52e0a2fa', '2026-11-22 12:45:46.044748+00'),
	(18, 'functions/publish.sql', '01001372432fbd619a7840574f98d68b0d5944a5580b8d8106b5cab77412084b', '2026-11-22 12:45:46.046527+00'),
	(19, 'functions/stage_partitions.sql', '453e38a475afbbd678a934c00f2edb0ae4e69b298e9a1ed29e14f74fbbc36270', '2026-11-22 12:45:46.047439+00'),
	(20, 'functions/tables_of_tenants.sql', '6c30782b3c064058d6bd633fcf46374f8f4c3e8f218db44fa35ebe88d56ab8b9', '2026-11-22 12:45:46.04858+00'),
	(21, 'functions/uuid_v7.sql', 'a63ec3c017e1caa535e3a99b7ba125a3203538b3847ff17499917c3623783f1d', '2026-11-22 12:45:46.049744+00');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_migrations VALUES
	(1, 'webhooks', '19cb3dc5787135119ce0a093a9e0573888667270217897621a3c7b6d11254881', '2026-11-22 12:45:45.852147+00'),
	(2, 'publish_from_sql', 'a6e3f829d9b254054833816cf6d0a297759b52fbcde97ccf8bd307ef074d52ab', '2026-11-22 12:45:45.908498+00'),
	(3, 'limit_published_size', '6a64076d1ea328b19362ed3c429946f1a7c479d18beac6c5bbb2af3aa5b342fd', '2026-11-22 12:45:45.912654+00'),
	(4, 'roles_and_row_security', 'ef65547691b45ee596be9f41a658bde564c8d0503712c0d299f7d422c1582964', '2026-11-22 12:45:45.914034+00'),
	(5, 'storage', 'aafec681132e165530145a15d48bd6d54ee64bbae27e65ef336b7358fa7052b6', '2026-11-22 12:45:45.919712+00'),
	(6, 'audit_log', '2ab73b397af656f3c44604b8b7c49e5eb8e5c488acfdf37cbc967c5884dfd5fb', '2026-11-22 12:45:45.935514+00'),
	(7, 'exports', '050921e2e53c4e0b07fe3251e2fc3e57fc2fc8cb9b2b27d836c0cb3268ae16a0', '2026-11-22 12:45:45.938812+00'),
	(8, 'floor_under_the_log', '6761ca13d1a22d3019b7046aaa97b08c0ef23b66fd1ba26aec13e99ab0d6fc03', '2026-11-22 12:45:45.939633+00'),
	(9, 'dispatches_follow_in_slices', 'de5263a867cd5e702128570bc114f9f9be98d9f744396f2dc8c5cf7e24477ed7', '2026-11-22 12:45:45.941343+00'),
	(10, 'forget_old_storage', '1a1fcb9c5759bfd31100de26b75825733ac7505eefcd6d8ed406e8daca40c03f', '2026-11-22 12:45:45.943784+00'),
	(11, 'indexes_of_the_log', 'ad0028239c6b7ba4d6b81b7949668574dbd5f84d8a9c62d2c0cc5b569fb75f30', '2026-11-22 12:45:45.946243+00'),
	(12, 'when_an_attempt_was_sent', '69c8c73569f87f3959db1347b907ce5fab60b6d8db05e6f63dc62cd0f9e5c0b1', '2026-11-22 12:45:45.967853+00'),
	(13, 'heartbeats', 'ef4bd9999b8baaece7d1744b08fe8a8cb69482214dd03dedcaef6a716abd1ce1', '2026-11-22 12:45:45.969301+00'),
	(14, 'person_sends', '7fceac120dc5c3cffd5f94311159c496760a7c78f9512fee96437ea037774598', '2026-11-22 12:45:45.972074+00'),
	(15, 'parked_dispatches', '271e9459704d65713cc366a1fbd73aaf62510f5d721d2e44e89077a00f0e0b18', '2026-11-22 12:45:45.975362+00'),
	(16, 'workers', '4bfb7f0d7a530b0d59425a6bfd681974b33876aebf3e3534aae03f676247ba68', '2026-11-22 12:45:45.978363+00'),
	(17, 'own_events_in_the_outbox', '3e82f58bfba9ccf9733c4cad49104eb177bd14589c0b7e157f26c7d742f6fe3c', '2026-11-22 12:45:45.980248+00'),
	(18, 'storage_buckets', '8af31e77d9c8e980a02cfb5fe493abbae990b7bb0e424636e1d886ed316d9d7c', '2026-11-22 12:45:45.9809+00'),
	(19, 'objects_by_digest', 'd067f4c96f19351a8182db0c16e1eddb750d9d16cfe182f3a1ac48d27533cd8a', '2026-11-22 12:45:45.987265+00'),
	(20, 'masked_headers', 'f45ac583b0e2f8fda097151f0aefffe6464aa5a63873df37a04132d7a9d9fc9c', '2026-11-22 12:45:45.987762+00'),
	(21, 'deleted_endpoints', '13d1f9ee8a1be52d4067a3624e7ff91a2f405b96856cbd957d14461ffe19813d', '2026-11-22 12:45:45.990207+00'),
	(22, 'export_filters', '2713f222a15cd3c88e344c0401074b0e14ae1f230686b16ff28f764dcc65b62c', '2026-11-22 12:45:45.990596+00'),
	(23, 'bodies_to_keep', '5a7ae7ba07c2d41100316d99e9fbf27f3d6e8d488e69803c7dca10b88316b3e8', '2026-11-22 12:45:45.992074+00'),
	(24, 'events_of_tenant', 'e2253da60146c4bad3fda23ad200927fe342aedd8ef5d197590c5a9b4c9f39e8', '2026-11-22 12:45:45.99559+00'),
	(25, 'dispatches_made_once', 'e33f3ac062a6af871ffbbc41bf196a10af3e1aea8dcddf8810422d2b5e23a18c', '2026-11-22 12:45:46.000972+00'),
	(26, 'replays', '631a65733fceee3db068dbfb9f0ba1bf463a41ebd63c7cca0bcf47afc546f03f', '2026-11-22 12:45:46.001919+00'),
	(27, 'delivery_statistics', 'db18ddc9b899015d6ba2dd796a2d8731727e93a2b0f5aa6bb0761801d21a1d57', '2026-11-22 12:45:46.017144+00'),
	(28, 'portal_sessions', '1f815cecfc5a093644caa4b9bdafa88b415a66e5343427a1fdcb405f62409fb7', '2026-11-22 12:45:46.021756+00'),
	(29, 'tenant_erasures', 'bc35d1e40e0283037377fc54d42d2f94f4e5abda9cec588105eff98840cd1d49', '2026-11-22 12:45:46.024715+00'),
	(30, 'log_watches', '481ce9e69fcd6be2d7af7c1dfba77bdca745a63ebeffd87fd290fe90e201597b', '2026-11-22 12:45:46.028341+00');


--
-- Data for Name: storage_buckets; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.storage_buckets VALUES
	('artifacts', 'ac084f8a-3ba6-4718-8507-942c02ef679a', 1, '2026-11-22 12:45:46.095+00', NULL, NULL);


--
-- Data for Name: storage_cursor; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_destroyed; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_events; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_exports; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.storage_exports VALUES
	('acme', '01a2034a-8ac0-7197-bc68-db10a18b51fd', 'ada', '2026-11-22 11:45:46.556+00', '2026-11-22 12:45:46.556+00', NULL, 'ready', 1, 8, 8, 4707, '01a2034a-8a08-72a6-87e9-fd382a07d110', '01a2034a-8ab9-7084-9537-27efeb6b75ef', '[]', NULL, NULL, 'f2350cf5-356e-48bd-b5fb-9ac8e899ecbe', NULL, '2026-11-22 12:45:46.561+00', '2026-11-22 12:45:47.407+00', 1, NULL, NULL, '{ndjson,csv}');


--
-- Data for Name: storage_grants; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_marks; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: stored_objects; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.stored_objects VALUES
	('acme', '2f5cef29-ffb0-417f-a356-ffa9458aac5e', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a42-7192-bbbc-92f368acb902', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a42-7192-bbbc-92f368acb902/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:45:46.737+00', '2026-11-22 12:45:46.737+00', '2036-11-19 12:45:46.737+00', false, 3),
	('acme', '6af56b2b-fb8b-47d4-a443-86a36fd525dd', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a26-7f84-afd1-dfede4b5fd10', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a26-7f84-afd1-dfede4b5fd10/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:45:46.712+00', '2026-11-22 12:45:46.712+00', '2036-11-19 12:45:46.712+00', false, 3),
	('acme', '8318551b-63dc-4901-963c-5323fc32c96b', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a26-7f84-afd1-dfede4b5fd10', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a26-7f84-afd1-dfede4b5fd10/a/1/request_body.json', 133, '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', 'application/json', '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', 'available', '2026-11-22 12:45:46.713+00', '2026-11-22 12:45:46.713+00', '2036-11-19 12:45:46.713+00', false, 3),
	('acme', 'd992cead-2e9d-4f7c-aab2-f03f866b02e7', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a26-7076-b354-13ba65c03fd9', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a26-7076-b354-13ba65c03fd9/a/1/request_body.json', 133, '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', 'application/json', '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', '70f78b63989f7b0c18b8dde677c4c2a7965a1e7340af2e158e4d5a26b81f4797', 'available', '2026-11-22 12:45:46.597+00', '2026-11-22 12:45:46.597+00', '2036-11-19 12:45:46.597+00', false, 3),
	('acme', 'e1690cd7-28d2-45cc-bca4-f563ccd52f38', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a32-7e9a-927e-5251a00bb0cd', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a32-7e9a-927e-5251a00bb0cd/a/1/request_body.json', 133, '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', 'application/json', '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', 'available', '2026-11-22 12:45:46.61+00', '2026-11-22 12:45:46.61+00', '2036-11-19 12:45:46.61+00', false, 3),
	('acme', '5d07edca-a391-43bd-bb9d-23892a7f7abb', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a26-7076-b354-13ba65c03fd9', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a26-7076-b354-13ba65c03fd9/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:45:46.607+00', '2026-11-22 12:45:46.607+00', '2036-11-19 12:45:46.607+00', false, 3),
	('acme', '8337f0ba-83fe-4578-b0db-365dabe56fa1', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a32-7e9a-927e-5251a00bb0cd', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a32-7e9a-927e-5251a00bb0cd/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:45:46.613+00', '2026-11-22 12:45:46.613+00', '2036-11-19 12:45:46.613+00', false, 3),
	('acme', '47aac2a1-4c91-423d-b1cb-f75751db594e', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8aac-710e-b4aa-d2e718f62414', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8aac-710e-b4aa-d2e718f62414/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:45:46.762+00', '2026-11-22 12:45:46.762+00', '2036-11-19 12:45:46.762+00', false, 3),
	('acme', '89b088cd-b33b-43d1-9ed7-45293d8e3baa', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a32-7026-91f7-de84fc6d43e6', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a32-7026-91f7-de84fc6d43e6/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:45:46.714+00', '2026-11-22 12:45:46.714+00', '2036-11-19 12:45:46.714+00', false, 3),
	('acme', '1c36af63-2867-4ec9-ba46-756f7df20343', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a32-7026-91f7-de84fc6d43e6', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a32-7026-91f7-de84fc6d43e6/a/1/request_body.json', 133, '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', 'application/json', '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', '50d25deb5a838c4ea7371c215578514cbb34f4db12c7db313988c53ba08c5937', 'available', '2026-11-22 12:45:46.717+00', '2026-11-22 12:45:46.717+00', '2036-11-19 12:45:46.717+00', false, 3),
	('acme', '5709c892-1585-4952-83bc-d0b735fd0b35', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a42-78b6-8add-b03360178672', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a42-78b6-8add-b03360178672/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:45:46.733+00', '2026-11-22 12:45:46.733+00', '2036-11-19 12:45:46.733+00', false, 3),
	('acme', '182d6e4f-1609-4c5d-878c-3ca0bda8c52b', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a42-78b6-8add-b03360178672', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a42-78b6-8add-b03360178672/a/1/request_body.json', 133, '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'application/json', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'available', '2026-11-22 12:45:46.737+00', '2026-11-22 12:45:46.737+00', '2036-11-19 12:45:46.737+00', false, 3),
	('acme', '0b55ef9d-46d2-403b-a30b-06c7d4744227', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8a42-7192-bbbc-92f368acb902', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8a42-7192-bbbc-92f368acb902/a/1/request_body.json', 133, '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'application/json', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'available', '2026-11-22 12:45:46.739+00', '2026-11-22 12:45:46.739+00', '2036-11-19 12:45:46.739+00', false, 3),
	('acme', '5816b30a-0e24-4448-958a-ee917cc39f60', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8aac-710e-b4aa-d2e718f62414', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8aac-710e-b4aa-d2e718f62414/a/1/request_body.json', 162, 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'application/json', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'available', '2026-11-22 12:45:46.765+00', '2026-11-22 12:45:46.765+00', '2036-11-19 12:45:46.765+00', false, 3),
	('acme', '48178dca-2ac4-49f3-a84d-96832f30cdbb', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8ab9-7084-9537-27efeb6b75ef', 2, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8ab9-7084-9537-27efeb6b75ef/a/2/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:45:46.77+00', '2026-11-22 12:45:46.77+00', '2036-11-19 12:45:46.77+00', false, 3),
	('acme', 'd4ac62cb-0c03-4676-beb7-b7596517c160', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8ab9-7084-9537-27efeb6b75ef', 2, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8ab9-7084-9537-27efeb6b75ef/a/2/request_body.json', 133, '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'application/json', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', '65db19210df32f7e9b208664b772319ac06a749ad697a38beac5b3af3a2aa1f9', 'available', '2026-11-22 12:45:46.77+00', '2026-11-22 12:45:46.77+00', '2036-11-19 12:45:46.77+00', false, 3),
	('acme', 'f2350cf5-356e-48bd-b5fb-9ac8e899ecbe', '625751c1-5301-59d5-a848-5097cccc65f1', '01a2034a-8ac0-7197-bc68-db10a18b51fd', 1, 'export', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a2034a-8ac0-7197-bc68-db10a18b51fd/a/1/export.zip', 4707, 'c895e400bdb92d89cb81c152af5ccd869b441c96e86d0756e4bb8652ce3c9dcf', 'application/zip', 'c895e400bdb92d89cb81c152af5ccd869b441c96e86d0756e4bb8652ce3c9dcf', 'c895e400bdb92d89cb81c152af5ccd869b441c96e86d0756e4bb8652ce3c9dcf', 'available', '2026-11-22 12:45:47.384+00', '2026-11-22 12:45:47.384+00', '2036-11-19 12:45:47.384+00', false, 3);


--
-- Data for Name: tenant_erasures; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: tenant_settings; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.tenant_settings VALUES
	('acme', true, true, NULL, '2026-11-22 12:45:46.342+00');


--
-- Data for Name: workers; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Name: schema_functions_id_seq; Type: SEQUENCE SET; Schema: postern; Owner: -
--

SELECT pg_catalog.setval('postern.schema_functions_id_seq', 21, true);


--
-- Name: audit_log audit_log_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);


--
-- Name: bodies_to_keep bodies_to_keep_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.bodies_to_keep
    ADD CONSTRAINT bodies_to_keep_pkey PRIMARY KEY (tenant_id, delivery_id, kind);


--
-- Name: deliveries deliveries_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261121 deliveries_20261121_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261121
    ADD CONSTRAINT deliveries_20261121_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261122 deliveries_20261122_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261122
    ADD CONSTRAINT deliveries_20261122_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261123 deliveries_20261123_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261123
    ADD CONSTRAINT deliveries_20261123_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261124 deliveries_20261124_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261124
    ADD CONSTRAINT deliveries_20261124_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261125 deliveries_20261125_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261125
    ADD CONSTRAINT deliveries_20261125_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261126 deliveries_20261126_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261126
    ADD CONSTRAINT deliveries_20261126_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261127 deliveries_20261127_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261127
    ADD CONSTRAINT deliveries_20261127_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261128 deliveries_20261128_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261128
    ADD CONSTRAINT deliveries_20261128_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_20261129 deliveries_20261129_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_20261129
    ADD CONSTRAINT deliveries_20261129_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: deliveries_default deliveries_default_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.deliveries_default
    ADD CONSTRAINT deliveries_default_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: delivery_stats delivery_stats_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.delivery_stats
    ADD CONSTRAINT delivery_stats_pkey PRIMARY KEY (tenant_id, endpoint_id, grain, at, cause);


--
-- Name: dispatches dispatches_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.dispatches
    ADD CONSTRAINT dispatches_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: endpoints endpoints_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: event_types event_types_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.event_types
    ADD CONSTRAINT event_types_pkey PRIMARY KEY (type);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


--
-- Name: events_20261121 events_20261121_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261121
    ADD CONSTRAINT events_20261121_pkey PRIMARY KEY (id);


--
-- Name: events_20261122 events_20261122_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261122
    ADD CONSTRAINT events_20261122_pkey PRIMARY KEY (id);


--
-- Name: events_20261123 events_20261123_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261123
    ADD CONSTRAINT events_20261123_pkey PRIMARY KEY (id);


--
-- Name: events_20261124 events_20261124_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261124
    ADD CONSTRAINT events_20261124_pkey PRIMARY KEY (id);


--
-- Name: events_20261125 events_20261125_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261125
    ADD CONSTRAINT events_20261125_pkey PRIMARY KEY (id);


--
-- Name: events_20261126 events_20261126_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261126
    ADD CONSTRAINT events_20261126_pkey PRIMARY KEY (id);


--
-- Name: events_20261127 events_20261127_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261127
    ADD CONSTRAINT events_20261127_pkey PRIMARY KEY (id);


--
-- Name: events_20261128 events_20261128_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261128
    ADD CONSTRAINT events_20261128_pkey PRIMARY KEY (id);


--
-- Name: events_20261129 events_20261129_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_20261129
    ADD CONSTRAINT events_20261129_pkey PRIMARY KEY (id);


--
-- Name: events_default events_default_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (id);


--
-- Name: heartbeats heartbeats_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (process_id);


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key);


--
-- Name: log_watches log_watches_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.log_watches
    ADD CONSTRAINT log_watches_pkey PRIMARY KEY (tenant_id, watcher);


--
-- Name: outbox outbox_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);


--
-- Name: person_sends person_sends_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.person_sends
    ADD CONSTRAINT person_sends_pkey PRIMARY KEY (tenant_id, endpoint_id, id);


--
-- Name: portal_sessions portal_sessions_code_hash_key; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.portal_sessions
    ADD CONSTRAINT portal_sessions_code_hash_key UNIQUE (code_hash);


--
-- Name: portal_sessions portal_sessions_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.portal_sessions
    ADD CONSTRAINT portal_sessions_pkey PRIMARY KEY (id);


--
-- Name: replays replays_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: schema_functions schema_functions_file_sha256_key; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.schema_functions
    ADD CONSTRAINT schema_functions_file_sha256_key UNIQUE (file, sha256);


--
-- Name: schema_functions schema_functions_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: storage_buckets storage_buckets_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_buckets
    ADD CONSTRAINT storage_buckets_pkey PRIMARY KEY (bucket);


--
-- Name: storage_cursor storage_cursor_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_cursor
    ADD CONSTRAINT storage_cursor_pkey PRIMARY KEY (bucket);


--
-- Name: storage_destroyed storage_destroyed_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_destroyed
    ADD CONSTRAINT storage_destroyed_pkey PRIMARY KEY (bucket, at, run_id);


--
-- Name: storage_events storage_events_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_events
    ADD CONSTRAINT storage_events_pkey PRIMARY KEY (sequence);


--
-- Name: storage_exports storage_exports_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_exports
    ADD CONSTRAINT storage_exports_pkey PRIMARY KEY (id);


--
-- Name: storage_grants storage_grants_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_grants
    ADD CONSTRAINT storage_grants_pkey PRIMARY KEY (id);


--
-- Name: storage_marks storage_marks_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_marks
    ADD CONSTRAINT storage_marks_pkey PRIMARY KEY (bucket, key);


--
-- Name: stored_objects stored_objects_bucket_key_key; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.stored_objects
    ADD CONSTRAINT stored_objects_bucket_key_key UNIQUE (bucket, key);


--
-- Name: stored_objects stored_objects_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.stored_objects
    ADD CONSTRAINT stored_objects_pkey PRIMARY KEY (id);


--
-- Name: tenant_erasures tenant_erasures_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.tenant_erasures
    ADD CONSTRAINT tenant_erasures_pkey PRIMARY KEY (tenant_id);


--
-- Name: tenant_settings tenant_settings_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.tenant_settings
    ADD CONSTRAINT tenant_settings_pkey PRIMARY KEY (tenant_id);


--
-- Name: workers workers_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (first_lease_id);


--
-- Name: audit_log_by_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX audit_log_by_tenant ON postern.audit_log USING btree (tenant_id, id);


--
-- Name: bodies_to_keep_due; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX bodies_to_keep_due ON postern.bodies_to_keep USING btree (due_at);


--
-- Name: deliveries_of_event; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_of_event ON ONLY postern.deliveries USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261121_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_event_id_tenant_id_idx ON postern.deliveries_20261121 USING btree (event_id, tenant_id);


--
-- Name: deliveries_of_replay; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_of_replay ON ONLY postern.deliveries USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261121_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_replay_id_event_id_idx ON postern.deliveries_20261121 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_failed; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_failed ON ONLY postern.deliveries USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261121_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261121 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_undelivered; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_undelivered ON ONLY postern.deliveries USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261121_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261121 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_of_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_of_tenant ON ONLY postern.deliveries USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261121_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_tenant_id_id_idx ON postern.deliveries_20261121 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_of_tenant_undelivered; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_of_tenant_undelivered ON ONLY postern.deliveries USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261121_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_tenant_id_status_id_idx ON postern.deliveries_20261121 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261122_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_event_id_tenant_id_idx ON postern.deliveries_20261122 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261122_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_replay_id_event_id_idx ON postern.deliveries_20261122 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261122_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261122 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261122_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261122 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261122_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_tenant_id_id_idx ON postern.deliveries_20261122 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261122_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261122_tenant_id_status_id_idx ON postern.deliveries_20261122 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261123_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_event_id_tenant_id_idx ON postern.deliveries_20261123 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261123_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_replay_id_event_id_idx ON postern.deliveries_20261123 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261123_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261123 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261123_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261123 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261123_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_tenant_id_id_idx ON postern.deliveries_20261123 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261123_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261123_tenant_id_status_id_idx ON postern.deliveries_20261123 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261124_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_event_id_tenant_id_idx ON postern.deliveries_20261124 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261124_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_replay_id_event_id_idx ON postern.deliveries_20261124 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261124_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261124 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261124_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261124 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261124_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_tenant_id_id_idx ON postern.deliveries_20261124 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261124_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261124_tenant_id_status_id_idx ON postern.deliveries_20261124 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261125_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_event_id_tenant_id_idx ON postern.deliveries_20261125 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261125_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_replay_id_event_id_idx ON postern.deliveries_20261125 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261125_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261125 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261125_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261125 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261125_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_tenant_id_id_idx ON postern.deliveries_20261125 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261125_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261125_tenant_id_status_id_idx ON postern.deliveries_20261125 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261126_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_event_id_tenant_id_idx ON postern.deliveries_20261126 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261126_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_replay_id_event_id_idx ON postern.deliveries_20261126 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261126_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261126 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261126_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261126 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261126_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_tenant_id_id_idx ON postern.deliveries_20261126 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261126_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261126_tenant_id_status_id_idx ON postern.deliveries_20261126 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261127_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_event_id_tenant_id_idx ON postern.deliveries_20261127 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261127_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_replay_id_event_id_idx ON postern.deliveries_20261127 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261127_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261127 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261127_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261127 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261127_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_tenant_id_id_idx ON postern.deliveries_20261127 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261127_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261127_tenant_id_status_id_idx ON postern.deliveries_20261127 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261128_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_event_id_tenant_id_idx ON postern.deliveries_20261128 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261128_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_replay_id_event_id_idx ON postern.deliveries_20261128 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261128_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261128 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261128_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261128 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261128_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_tenant_id_id_idx ON postern.deliveries_20261128 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261128_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261128_tenant_id_status_id_idx ON postern.deliveries_20261128 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261129_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_event_id_tenant_id_idx ON postern.deliveries_20261129 USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261129_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_replay_id_event_id_idx ON postern.deliveries_20261129 USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_20261129_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_20261129 USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_20261129_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_20261129 USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_20261129_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_tenant_id_id_idx ON postern.deliveries_20261129 USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_20261129_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261129_tenant_id_status_id_idx ON postern.deliveries_20261129 USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_default_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_event_id_tenant_id_idx ON postern.deliveries_default USING btree (event_id, tenant_id);


--
-- Name: deliveries_default_replay_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_replay_id_event_id_idx ON postern.deliveries_default USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: deliveries_default_tenant_id_endpoint_id_event_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_tenant_id_endpoint_id_event_id_idx ON postern.deliveries_default USING btree (tenant_id, endpoint_id, event_id) WHERE (status = 'failed'::text);


--
-- Name: deliveries_default_tenant_id_endpoint_id_status_id_idx1; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_tenant_id_endpoint_id_status_id_idx1 ON postern.deliveries_default USING btree (tenant_id, endpoint_id, status, id) WHERE (status <> 'delivered'::text);


--
-- Name: deliveries_default_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_tenant_id_id_idx ON postern.deliveries_default USING btree (tenant_id COLLATE "C", id);


--
-- Name: deliveries_default_tenant_id_status_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_default_tenant_id_status_id_idx ON postern.deliveries_default USING btree (tenant_id COLLATE "C", status, id) WHERE (status <> 'delivered'::text);


--
-- Name: delivery_counts_of_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX delivery_counts_of_tenant ON postern.delivery_counts USING btree (tenant_id, at);


--
-- Name: delivery_stats_oldest; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX delivery_stats_oldest ON postern.delivery_stats USING btree (at);


--
-- Name: dispatches_claimable; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_claimable ON postern.dispatches USING btree (claimable_at) WHERE ((NOT held) AND (NOT parked));


--
-- Name: dispatches_of_replay; Type: INDEX; Schema: postern; Owner: -
--

CREATE UNIQUE INDEX dispatches_of_replay ON postern.dispatches USING btree (replay_id, event_id) WHERE (replay_id IS NOT NULL);


--
-- Name: dispatches_parked; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_parked ON postern.dispatches USING btree (tenant_id, endpoint_id, replay_id NULLS FIRST, due_at, event_id) WHERE (parked AND (NOT held));


--
-- Name: dispatches_superseded; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_superseded ON postern.dispatches USING btree (claimable_at) WHERE superseded;


--
-- Name: endpoints_deleted; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX endpoints_deleted ON postern.endpoints USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


--
-- Name: endpoints_of_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX endpoints_of_tenant ON postern.endpoints USING btree (tenant_id COLLATE "C");


--
-- Name: endpoints_unsettled; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX endpoints_unsettled ON postern.endpoints USING btree (tenant_id, id) WHERE unsettled;


--
-- Name: events_of_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_of_tenant ON ONLY postern.events USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261121_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261121_tenant_id_id_idx ON postern.events_20261121 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261122_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261122_tenant_id_id_idx ON postern.events_20261122 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261123_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261123_tenant_id_id_idx ON postern.events_20261123 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261124_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261124_tenant_id_id_idx ON postern.events_20261124 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261125_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261125_tenant_id_id_idx ON postern.events_20261125 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261126_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261126_tenant_id_id_idx ON postern.events_20261126 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261127_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261127_tenant_id_id_idx ON postern.events_20261127 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261128_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261128_tenant_id_id_idx ON postern.events_20261128 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_20261129_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_20261129_tenant_id_id_idx ON postern.events_20261129 USING btree (tenant_id COLLATE "C", id);


--
-- Name: events_default_tenant_id_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX events_default_tenant_id_id_idx ON postern.events_default USING btree (tenant_id COLLATE "C", id);


--
-- Name: idempotency_keys_created_at; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX idempotency_keys_created_at ON postern.idempotency_keys USING btree (created_at);


--
-- Name: portal_sessions_until; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX portal_sessions_until ON postern.portal_sessions USING btree (until);


--
-- Name: replays_running; Type: INDEX; Schema: postern; Owner: -
--

CREATE UNIQUE INDEX replays_running ON postern.replays USING btree (tenant_id, endpoint_id) WHERE (status = 'running'::text);


--
-- Name: replays_waiting; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX replays_waiting ON postern.replays USING btree (lease_until) WHERE (status = 'running'::text);


--
-- Name: storage_exports_by_tenant; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX storage_exports_by_tenant ON postern.storage_exports USING btree (tenant_id, id);


--
-- Name: storage_exports_unfinished; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX storage_exports_unfinished ON postern.storage_exports USING btree (created_at) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));


--
-- Name: storage_grants_by_end; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX storage_grants_by_end ON postern.storage_grants USING btree (expires_at);


--
-- Name: stored_objects_attempts; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_attempts ON postern.stored_objects USING btree (tenant_id, delivery_id, kind, attempt);


--
-- Name: stored_objects_by_digest; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_by_digest ON postern.stored_objects USING btree (sha256) WHERE (state = ANY (ARRAY['pending'::text, 'available'::text, 'missing'::text]));


--
-- Name: stored_objects_due; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_due ON postern.stored_objects USING btree (deadline) WHERE ((state = ANY (ARRAY['available'::text, 'missing'::text])) AND (NOT hold));


--
-- Name: stored_objects_library; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_library ON postern.stored_objects USING btree (tenant_id, available_at DESC, id) WHERE ((available_at IS NOT NULL) AND (state = ANY (ARRAY['available'::text, 'missing'::text, 'expired'::text])));


--
-- Name: stored_objects_over; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_over ON postern.stored_objects USING btree (state_since) WHERE ((state = 'purged'::text) OR ((state = 'missing'::text) AND (available_at IS NULL)));


--
-- Name: stored_objects_unopened_exports; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX stored_objects_unopened_exports ON postern.stored_objects USING btree (delivery_id) WHERE ((kind = 'export'::text) AND (available_at IS NULL));


--
-- Name: tenant_erasures_waiting; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX tenant_erasures_waiting ON postern.tenant_erasures USING btree (lease_until) WHERE (status = 'running'::text);


--
-- Name: deliveries_20261121_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261121_event_id_tenant_id_idx;


--
-- Name: deliveries_20261121_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261121_pkey;


--
-- Name: deliveries_20261121_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261121_replay_id_event_id_idx;


--
-- Name: deliveries_20261121_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261121_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261121_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261121_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261121_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261121_tenant_id_id_idx;


--
-- Name: deliveries_20261121_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261121_tenant_id_status_id_idx;


--
-- Name: deliveries_20261122_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261122_event_id_tenant_id_idx;


--
-- Name: deliveries_20261122_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261122_pkey;


--
-- Name: deliveries_20261122_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261122_replay_id_event_id_idx;


--
-- Name: deliveries_20261122_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261122_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261122_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261122_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261122_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261122_tenant_id_id_idx;


--
-- Name: deliveries_20261122_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261122_tenant_id_status_id_idx;


--
-- Name: deliveries_20261123_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261123_event_id_tenant_id_idx;


--
-- Name: deliveries_20261123_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261123_pkey;


--
-- Name: deliveries_20261123_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261123_replay_id_event_id_idx;


--
-- Name: deliveries_20261123_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261123_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261123_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261123_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261123_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261123_tenant_id_id_idx;


--
-- Name: deliveries_20261123_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261123_tenant_id_status_id_idx;


--
-- Name: deliveries_20261124_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261124_event_id_tenant_id_idx;


--
-- Name: deliveries_20261124_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261124_pkey;


--
-- Name: deliveries_20261124_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261124_replay_id_event_id_idx;


--
-- Name: deliveries_20261124_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261124_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261124_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261124_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261124_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261124_tenant_id_id_idx;


--
-- Name: deliveries_20261124_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261124_tenant_id_status_id_idx;


--
-- Name: deliveries_20261125_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261125_event_id_tenant_id_idx;


--
-- Name: deliveries_20261125_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261125_pkey;


--
-- Name: deliveries_20261125_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261125_replay_id_event_id_idx;


--
-- Name: deliveries_20261125_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261125_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261125_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261125_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261125_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261125_tenant_id_id_idx;


--
-- Name: deliveries_20261125_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261125_tenant_id_status_id_idx;


--
-- Name: deliveries_20261126_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261126_event_id_tenant_id_idx;


--
-- Name: deliveries_20261126_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261126_pkey;


--
-- Name: deliveries_20261126_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261126_replay_id_event_id_idx;


--
-- Name: deliveries_20261126_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261126_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261126_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261126_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261126_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261126_tenant_id_id_idx;


--
-- Name: deliveries_20261126_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261126_tenant_id_status_id_idx;


--
-- Name: deliveries_20261127_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261127_event_id_tenant_id_idx;


--
-- Name: deliveries_20261127_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261127_pkey;


--
-- Name: deliveries_20261127_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261127_replay_id_event_id_idx;


--
-- Name: deliveries_20261127_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261127_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261127_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261127_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261127_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261127_tenant_id_id_idx;


--
-- Name: deliveries_20261127_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261127_tenant_id_status_id_idx;


--
-- Name: deliveries_20261128_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261128_event_id_tenant_id_idx;


--
-- Name: deliveries_20261128_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261128_pkey;


--
-- Name: deliveries_20261128_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261128_replay_id_event_id_idx;


--
-- Name: deliveries_20261128_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261128_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261128_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261128_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261128_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261128_tenant_id_id_idx;


--
-- Name: deliveries_20261128_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261128_tenant_id_status_id_idx;


--
-- Name: deliveries_20261129_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261129_event_id_tenant_id_idx;


--
-- Name: deliveries_20261129_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261129_pkey;


--
-- Name: deliveries_20261129_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_20261129_replay_id_event_id_idx;


--
-- Name: deliveries_20261129_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_20261129_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_20261129_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_20261129_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_20261129_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_20261129_tenant_id_id_idx;


--
-- Name: deliveries_20261129_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_20261129_tenant_id_status_id_idx;


--
-- Name: deliveries_default_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_default_event_id_tenant_id_idx;


--
-- Name: deliveries_default_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_default_pkey;


--
-- Name: deliveries_default_replay_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_replay ATTACH PARTITION postern.deliveries_default_replay_id_event_id_idx;


--
-- Name: deliveries_default_tenant_id_endpoint_id_event_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_failed ATTACH PARTITION postern.deliveries_default_tenant_id_endpoint_id_event_id_idx;


--
-- Name: deliveries_default_tenant_id_endpoint_id_status_id_idx1; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_undelivered ATTACH PARTITION postern.deliveries_default_tenant_id_endpoint_id_status_id_idx1;


--
-- Name: deliveries_default_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant ATTACH PARTITION postern.deliveries_default_tenant_id_id_idx;


--
-- Name: deliveries_default_tenant_id_status_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_tenant_undelivered ATTACH PARTITION postern.deliveries_default_tenant_id_status_id_idx;


--
-- Name: events_20261121_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261121_pkey;


--
-- Name: events_20261121_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261121_tenant_id_id_idx;


--
-- Name: events_20261122_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261122_pkey;


--
-- Name: events_20261122_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261122_tenant_id_id_idx;


--
-- Name: events_20261123_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261123_pkey;


--
-- Name: events_20261123_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261123_tenant_id_id_idx;


--
-- Name: events_20261124_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261124_pkey;


--
-- Name: events_20261124_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261124_tenant_id_id_idx;


--
-- Name: events_20261125_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261125_pkey;


--
-- Name: events_20261125_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261125_tenant_id_id_idx;


--
-- Name: events_20261126_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261126_pkey;


--
-- Name: events_20261126_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261126_tenant_id_id_idx;


--
-- Name: events_20261127_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261127_pkey;


--
-- Name: events_20261127_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261127_tenant_id_id_idx;


--
-- Name: events_20261128_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261128_pkey;


--
-- Name: events_20261128_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261128_tenant_id_id_idx;


--
-- Name: events_20261129_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261129_pkey;


--
-- Name: events_20261129_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_20261129_tenant_id_id_idx;


--
-- Name: events_default_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_default_pkey;


--
-- Name: events_default_tenant_id_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_of_tenant ATTACH PARTITION postern.events_default_tenant_id_id_idx;


--
-- Name: deliveries log_added; Type: TRIGGER; Schema: postern; Owner: -
--

CREATE TRIGGER log_added AFTER INSERT ON postern.deliveries REFERENCING NEW TABLE AS logged FOR EACH STATEMENT EXECUTE FUNCTION postern.log_added();


--
-- Name: dispatches accept_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_add ON postern.dispatches FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);


--
-- Name: events accept_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_add ON postern.events FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);


--
-- Name: idempotency_keys accept_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_add ON postern.idempotency_keys FOR INSERT TO postern_publisher, postern_worker WITH CHECK (true);


--
-- Name: endpoints accept_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_read ON postern.endpoints FOR SELECT TO postern_publisher, postern_worker USING (true);


--
-- Name: events accept_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_read ON postern.events FOR SELECT TO postern_publisher, postern_worker USING (true);


--
-- Name: idempotency_keys accept_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY accept_read ON postern.idempotency_keys FOR SELECT TO postern_publisher, postern_worker USING (true);


--
-- Name: audit_log; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.audit_log ENABLE ROW LEVEL SECURITY;

--
-- Name: bodies_to_keep; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.bodies_to_keep ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261121; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261121 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261122; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261122 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261123; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261123 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261124; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261124 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261125; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261125 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261126; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261126 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261127; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261127 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261128; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261128 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_20261129; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_20261129 ENABLE ROW LEVEL SECURITY;

--
-- Name: deliveries_default; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.deliveries_default ENABLE ROW LEVEL SECURITY;

--
-- Name: delivery_counts; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.delivery_counts ENABLE ROW LEVEL SECURITY;

--
-- Name: delivery_stats; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.delivery_stats ENABLE ROW LEVEL SECURITY;

--
-- Name: dispatches; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.dispatches ENABLE ROW LEVEL SECURITY;

--
-- Name: endpoints; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.endpoints ENABLE ROW LEVEL SECURITY;

--
-- Name: events; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261121; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261121 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261122; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261122 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261123; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261123 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261124; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261124 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261125; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261125 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261126; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261126 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261127; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261127 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261128; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261128 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_20261129; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_20261129 ENABLE ROW LEVEL SECURITY;

--
-- Name: events_default; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.events_default ENABLE ROW LEVEL SECURITY;

--
-- Name: idempotency_keys; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.idempotency_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: log_watches; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.log_watches ENABLE ROW LEVEL SECURITY;

--
-- Name: outbox; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.outbox ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_log owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.audit_log TO postern_owner USING (true);


--
-- Name: bodies_to_keep owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.bodies_to_keep TO postern_owner USING (true);


--
-- Name: deliveries owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.deliveries TO postern_owner USING (true);


--
-- Name: delivery_counts owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.delivery_counts TO postern_owner USING (true);


--
-- Name: delivery_stats owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.delivery_stats TO postern_owner USING (true);


--
-- Name: dispatches owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.dispatches TO postern_owner USING (true);


--
-- Name: endpoints owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.endpoints TO postern_owner USING (true);


--
-- Name: events owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.events TO postern_owner USING (true);


--
-- Name: idempotency_keys owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.idempotency_keys TO postern_owner USING (true);


--
-- Name: log_watches owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.log_watches TO postern_owner USING (true);


--
-- Name: outbox owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.outbox TO postern_owner USING (true);


--
-- Name: person_sends owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.person_sends TO postern_owner USING (true);


--
-- Name: portal_sessions owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.portal_sessions TO postern_owner USING (true);


--
-- Name: replays owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.replays TO postern_owner USING (true);


--
-- Name: storage_events owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.storage_events TO postern_owner USING (true);


--
-- Name: storage_exports owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.storage_exports TO postern_owner USING (true);


--
-- Name: storage_grants owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.storage_grants TO postern_owner USING (true);


--
-- Name: storage_marks owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.storage_marks TO postern_owner USING (true);


--
-- Name: stored_objects owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.stored_objects TO postern_owner USING (true);


--
-- Name: tenant_erasures owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.tenant_erasures TO postern_owner USING (true);


--
-- Name: tenant_settings owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.tenant_settings TO postern_owner USING (true);


--
-- Name: person_sends; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.person_sends ENABLE ROW LEVEL SECURITY;

--
-- Name: portal_sessions; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.portal_sessions ENABLE ROW LEVEL SECURITY;

--
-- Name: portal_sessions publisher; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY publisher ON postern.portal_sessions TO postern_publisher USING (true);


--
-- Name: tenant_erasures publisher; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY publisher ON postern.tenant_erasures TO postern_publisher USING (true);


--
-- Name: audit_log publisher_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY publisher_add ON postern.audit_log FOR INSERT TO postern_publisher WITH CHECK (true);


--
-- Name: replays; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.replays ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_events; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.storage_events ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_exports; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.storage_exports ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_grants; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.storage_grants ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_marks; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.storage_marks ENABLE ROW LEVEL SECURITY;

--
-- Name: stored_objects; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.stored_objects ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_log tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.audit_log TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: bodies_to_keep tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.bodies_to_keep TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: deliveries tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.deliveries TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: delivery_counts tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.delivery_counts TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: delivery_stats tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.delivery_stats TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: dispatches tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.dispatches TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: endpoints tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.endpoints TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: events tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.events TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: log_watches tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.log_watches TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: person_sends tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.person_sends TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: replays tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.replays TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: storage_exports tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.storage_exports TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: storage_grants tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.storage_grants TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: stored_objects tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.stored_objects TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: tenant_settings tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.tenant_settings TO postern_tenant USING ((tenant_id = postern.current_tenant()));


--
-- Name: tenant_erasures; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.tenant_erasures ENABLE ROW LEVEL SECURITY;

--
-- Name: tenant_settings; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.tenant_settings ENABLE ROW LEVEL SECURITY;

--
-- Name: bodies_to_keep worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.bodies_to_keep TO postern_worker USING (true);


--
-- Name: delivery_counts worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.delivery_counts TO postern_worker USING (true);


--
-- Name: delivery_stats worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.delivery_stats TO postern_worker USING (true);


--
-- Name: log_watches worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.log_watches TO postern_worker USING (true);


--
-- Name: storage_marks worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.storage_marks TO postern_worker USING (true);


--
-- Name: audit_log worker_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_add ON postern.audit_log FOR INSERT TO postern_worker WITH CHECK (true);


--
-- Name: deliveries worker_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_add ON postern.deliveries FOR INSERT TO postern_worker WITH CHECK (true);


--
-- Name: outbox worker_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_add ON postern.outbox FOR INSERT TO postern_worker WITH CHECK (true);


--
-- Name: storage_events worker_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_add ON postern.storage_events FOR INSERT TO postern_worker WITH CHECK (true);


--
-- Name: stored_objects worker_add; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_add ON postern.stored_objects FOR INSERT TO postern_worker WITH CHECK (true);


--
-- Name: dispatches worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.dispatches FOR UPDATE TO postern_worker USING (true);


--
-- Name: endpoints worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.endpoints FOR UPDATE TO postern_worker USING (true);


--
-- Name: replays worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.replays FOR UPDATE TO postern_worker USING (true);


--
-- Name: storage_exports worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.storage_exports FOR UPDATE TO postern_worker USING (true);


--
-- Name: stored_objects worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.stored_objects FOR UPDATE TO postern_worker USING (true);


--
-- Name: tenant_erasures worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.tenant_erasures FOR UPDATE TO postern_worker USING (true);


--
-- Name: outbox worker_lock; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_lock ON postern.outbox FOR UPDATE TO postern_worker USING (true);


--
-- Name: dispatches worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.dispatches FOR SELECT TO postern_worker USING (true);


--
-- Name: outbox worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.outbox FOR SELECT TO postern_worker USING (true);


--
-- Name: person_sends worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.person_sends FOR SELECT TO postern_worker USING (true);


--
-- Name: portal_sessions worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.portal_sessions FOR SELECT TO postern_worker USING (true);


--
-- Name: replays worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.replays FOR SELECT TO postern_worker USING (true);


--
-- Name: storage_events worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.storage_events FOR SELECT TO postern_worker USING (true);


--
-- Name: storage_exports worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.storage_exports FOR SELECT TO postern_worker USING (true);


--
-- Name: stored_objects worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.stored_objects FOR SELECT TO postern_worker USING (true);


--
-- Name: tenant_erasures worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.tenant_erasures FOR SELECT TO postern_worker USING (true);


--
-- Name: tenant_settings worker_read; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_read ON postern.tenant_settings FOR SELECT TO postern_worker USING (true);


--
-- Name: dispatches worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.dispatches FOR DELETE TO postern_worker USING (true);


--
-- Name: idempotency_keys worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.idempotency_keys FOR DELETE TO postern_worker USING (true);


--
-- Name: outbox worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.outbox FOR DELETE TO postern_worker USING (true);


--
-- Name: person_sends worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.person_sends FOR DELETE TO postern_worker USING (true);


--
-- Name: portal_sessions worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.portal_sessions FOR DELETE TO postern_worker USING (true);


--
-- Name: replays worker_remove; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_remove ON postern.replays FOR DELETE TO postern_worker USING (true);


--
-- Name: SCHEMA postern; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA postern TO postern_tenant;
GRANT USAGE ON SCHEMA postern TO postern_publisher;
GRANT USAGE ON SCHEMA postern TO postern_worker;
GRANT USAGE ON SCHEMA postern TO postern_producer;


--
-- Name: FUNCTION attach_staged(parent text); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.attach_staged(parent text) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.attach_staged(parent text) TO postern_worker;


--
-- Name: FUNCTION content_fingerprint(type text, body text); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.content_fingerprint(type text, body text) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.content_fingerprint(type text, body text) TO postern_publisher;
GRANT ALL ON FUNCTION postern.content_fingerprint(type text, body text) TO postern_worker;


--
-- Name: FUNCTION copy_staged_rows(parent text, from_page bigint, to_page bigint); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.copy_staged_rows(parent text, from_page bigint, to_page bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.copy_staged_rows(parent text, from_page bigint, to_page bigint) TO postern_worker;


--
-- Name: FUNCTION copy_to_staged(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.copy_to_staged() FROM PUBLIC;


--
-- Name: FUNCTION count_tenant_rows(counted_tenant text, most integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.count_tenant_rows(counted_tenant text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.count_tenant_rows(counted_tenant text, most integer) TO postern_publisher;


--
-- Name: FUNCTION current_tenant(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.current_tenant() FROM PUBLIC;
GRANT ALL ON FUNCTION postern.current_tenant() TO postern_tenant;


--
-- Name: FUNCTION day_of_id(id uuid); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.day_of_id(id uuid) FROM PUBLIC;


--
-- Name: FUNCTION drop_old_partitions(retention_days integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.drop_old_partitions(retention_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.drop_old_partitions(retention_days integer) TO postern_worker;


--
-- Name: FUNCTION drop_past_partitions(retention_days integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.drop_past_partitions(retention_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.drop_past_partitions(retention_days integer) TO postern_worker;


--
-- Name: FUNCTION ensure_partitions(from_day date, to_day date); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.ensure_partitions(from_day date, to_day date) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.ensure_partitions(from_day date, to_day date) TO postern_worker;


--
-- Name: FUNCTION erase_tenant_rows(erased_tenant text, most integer, with_objects boolean); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.erase_tenant_rows(erased_tenant text, most integer, with_objects boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.erase_tenant_rows(erased_tenant text, most integer, with_objects boolean) TO postern_worker;


--
-- Name: FUNCTION forget_deleted_endpoints(retention_days integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.forget_deleted_endpoints(retention_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.forget_deleted_endpoints(retention_days integer) TO postern_worker;


--
-- Name: FUNCTION forget_old_audit(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.forget_old_audit() FROM PUBLIC;
GRANT ALL ON FUNCTION postern.forget_old_audit() TO postern_worker;


--
-- Name: FUNCTION forget_old_storage(retention_days integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.forget_old_storage(retention_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.forget_old_storage(retention_days integer) TO postern_worker;


--
-- Name: FUNCTION list_tenants(prefix text, after text, most integer); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.list_tenants(prefix text, after text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.list_tenants(prefix text, after text, most integer) TO postern_publisher;


--
-- Name: FUNCTION log_added(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.log_added() FROM PUBLIC;


--
-- Name: FUNCTION lowest_id_at(at timestamp with time zone); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.lowest_id_at(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.lowest_id_at(at timestamp with time zone) TO postern_worker;


--
-- Name: FUNCTION publish(tenant_id text, type text, data jsonb, id text); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.publish(tenant_id text, type text, data jsonb, id text) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.publish(tenant_id text, type text, data jsonb, id text) TO postern_producer;


--
-- Name: FUNCTION stage_partitions(parent text, from_day date, to_day date); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.stage_partitions(parent text, from_day date, to_day date) FROM PUBLIC;
GRANT ALL ON FUNCTION postern.stage_partitions(parent text, from_day date, to_day date) TO postern_worker;


--
-- Name: FUNCTION tables_of_tenants(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.tables_of_tenants() FROM PUBLIC;


--
-- Name: FUNCTION uuid_v7(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.uuid_v7() FROM PUBLIC;
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_publisher;
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_worker;
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_tenant;


--
-- Name: TABLE audit_log; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.audit_log TO postern_tenant;
GRANT INSERT ON TABLE postern.audit_log TO postern_worker;
GRANT INSERT ON TABLE postern.audit_log TO postern_publisher;


--
-- Name: TABLE bodies_to_keep; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT ON TABLE postern.bodies_to_keep TO postern_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE postern.bodies_to_keep TO postern_worker;


--
-- Name: COLUMN bodies_to_keep.due_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(due_at) ON TABLE postern.bodies_to_keep TO postern_worker;


--
-- Name: COLUMN bodies_to_keep.tries; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(tries) ON TABLE postern.bodies_to_keep TO postern_worker;


--
-- Name: TABLE deliveries; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.deliveries TO postern_tenant;
GRANT INSERT ON TABLE postern.deliveries TO postern_worker;


--
-- Name: TABLE delivery_counts; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.delivery_counts TO postern_tenant;
GRANT SELECT,DELETE ON TABLE postern.delivery_counts TO postern_worker;


--
-- Name: COLUMN delivery_counts.count; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(count) ON TABLE postern.delivery_counts TO postern_worker;


--
-- Name: TABLE delivery_stats; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.delivery_stats TO postern_tenant;
GRANT SELECT,INSERT,DELETE ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.count; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(count) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.sent; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(sent) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.latency_sum_ms; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(latency_sum_ms) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.latency_max_ms; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(latency_max_ms) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.first_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(first_id) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: COLUMN delivery_stats.last_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(last_id) ON TABLE postern.delivery_stats TO postern_worker;


--
-- Name: TABLE dispatches; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,DELETE ON TABLE postern.dispatches TO postern_tenant;
GRANT INSERT ON TABLE postern.dispatches TO postern_publisher;
GRANT SELECT,INSERT,DELETE ON TABLE postern.dispatches TO postern_worker;


--
-- Name: COLUMN dispatches.tenant_id; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(tenant_id) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.endpoint_id; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(endpoint_id) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.id; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(id) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.event_id; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(event_id) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.event_type; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(event_type) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.attempt; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(attempt) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.due_at; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(due_at) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.claimable_at; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(claimable_at),UPDATE(claimable_at) ON TABLE postern.dispatches TO postern_tenant;
GRANT UPDATE(claimable_at) ON TABLE postern.dispatches TO postern_worker;


--
-- Name: COLUMN dispatches.lease_owner; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_owner) ON TABLE postern.dispatches TO postern_worker;


--
-- Name: COLUMN dispatches.held; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(held) ON TABLE postern.dispatches TO postern_tenant;
GRANT UPDATE(held) ON TABLE postern.dispatches TO postern_worker;


--
-- Name: COLUMN dispatches.superseded; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(superseded) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.parked; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(parked) ON TABLE postern.dispatches TO postern_worker;
GRANT INSERT(parked) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.once; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(once) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: COLUMN dispatches.replay_id; Type: ACL; Schema: postern; Owner: -
--

GRANT INSERT(replay_id) ON TABLE postern.dispatches TO postern_tenant;


--
-- Name: TABLE endpoints; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.endpoints TO postern_tenant;


--
-- Name: COLUMN endpoints.tenant_id; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(tenant_id) ON TABLE postern.endpoints TO postern_publisher;
GRANT SELECT(tenant_id) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.id; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(id) ON TABLE postern.endpoints TO postern_publisher;
GRANT SELECT(id) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.url; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(url) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(url) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.events; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(events) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(events) ON TABLE postern.endpoints TO postern_publisher;
GRANT SELECT(events) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.description; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(description) ON TABLE postern.endpoints TO postern_tenant;


--
-- Name: COLUMN endpoints.enabled; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(enabled) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(enabled) ON TABLE postern.endpoints TO postern_publisher;
GRANT SELECT(enabled),UPDATE(enabled) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.disabled_reason; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(disabled_reason) ON TABLE postern.endpoints TO postern_tenant;
GRANT UPDATE(disabled_reason) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.rate_limit; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(rate_limit) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(rate_limit) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.headers; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(headers) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(headers) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.metadata; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(metadata) ON TABLE postern.endpoints TO postern_tenant;


--
-- Name: COLUMN endpoints.secret; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(secret) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(secret) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.previous_secret; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(previous_secret) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(previous_secret) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.previous_secret_until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(previous_secret_until) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(previous_secret_until) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.failing_since; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(failing_since) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(failing_since),UPDATE(failing_since) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.updated_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(updated_at) ON TABLE postern.endpoints TO postern_tenant;
GRANT UPDATE(updated_at) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.deleted_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(deleted_at) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(deleted_at) ON TABLE postern.endpoints TO postern_publisher;
GRANT SELECT(deleted_at) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.unsettled; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(unsettled) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(unsettled),UPDATE(unsettled) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.masked_headers; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(masked_headers) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(masked_headers) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: COLUMN endpoints.sealed_headers; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(sealed_headers) ON TABLE postern.endpoints TO postern_tenant;
GRANT SELECT(sealed_headers) ON TABLE postern.endpoints TO postern_worker;


--
-- Name: TABLE event_types; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.event_types TO postern_worker;


--
-- Name: TABLE events; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.events TO postern_tenant;
GRANT INSERT ON TABLE postern.events TO postern_publisher;
GRANT SELECT,INSERT ON TABLE postern.events TO postern_worker;


--
-- Name: COLUMN events.tenant_id; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(tenant_id) ON TABLE postern.events TO postern_publisher;


--
-- Name: COLUMN events.id; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(id) ON TABLE postern.events TO postern_publisher;


--
-- Name: COLUMN events.dispatch_count; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(dispatch_count) ON TABLE postern.events TO postern_publisher;


--
-- Name: TABLE heartbeats; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.heartbeats TO postern_worker;


--
-- Name: COLUMN heartbeats.seen_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(seen_at) ON TABLE postern.heartbeats TO postern_worker;


--
-- Name: TABLE idempotency_keys; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.idempotency_keys TO postern_publisher;
GRANT SELECT,INSERT,DELETE ON TABLE postern.idempotency_keys TO postern_worker;


--
-- Name: TABLE log_watches; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.log_watches TO postern_tenant;
GRANT SELECT,DELETE ON TABLE postern.log_watches TO postern_worker;


--
-- Name: COLUMN log_watches.until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(until) ON TABLE postern.log_watches TO postern_tenant;


--
-- Name: TABLE outbox; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.outbox TO postern_worker;


--
-- Name: COLUMN outbox.id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(id) ON TABLE postern.outbox TO postern_worker;


--
-- Name: TABLE person_sends; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.person_sends TO postern_tenant;
GRANT SELECT,DELETE ON TABLE postern.person_sends TO postern_worker;


--
-- Name: TABLE portal_sessions; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.portal_sessions TO postern_publisher;
GRANT DELETE ON TABLE postern.portal_sessions TO postern_worker;


--
-- Name: COLUMN portal_sessions.id; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT(id) ON TABLE postern.portal_sessions TO postern_worker;


--
-- Name: COLUMN portal_sessions.code_hash; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(code_hash) ON TABLE postern.portal_sessions TO postern_publisher;


--
-- Name: COLUMN portal_sessions.until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(until) ON TABLE postern.portal_sessions TO postern_publisher;
GRANT SELECT(until) ON TABLE postern.portal_sessions TO postern_worker;


--
-- Name: TABLE replays; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.replays TO postern_tenant;
GRANT SELECT,DELETE ON TABLE postern.replays TO postern_worker;


--
-- Name: COLUMN replays.status; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(status) ON TABLE postern.replays TO postern_tenant;
GRANT UPDATE(status) ON TABLE postern.replays TO postern_worker;


--
-- Name: COLUMN replays.error; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(error) ON TABLE postern.replays TO postern_worker;


--
-- Name: COLUMN replays.sent; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(sent) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.skipped; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(skipped) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.after_event_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(after_event_id) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.is_fed; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(is_fed) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.delivered; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(delivered) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.failed; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(failed) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.counted_to; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(counted_to) ON TABLE postern.replays TO postern_tenant;


--
-- Name: COLUMN replays.lease_owner; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_owner) ON TABLE postern.replays TO postern_worker;


--
-- Name: COLUMN replays.lease_until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_until) ON TABLE postern.replays TO postern_tenant;
GRANT UPDATE(lease_until) ON TABLE postern.replays TO postern_worker;


--
-- Name: COLUMN replays.finished_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(finished_at) ON TABLE postern.replays TO postern_tenant;
GRANT UPDATE(finished_at) ON TABLE postern.replays TO postern_worker;


--
-- Name: TABLE schema_functions; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.schema_functions TO postern_worker;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.schema_migrations TO postern_worker;


--
-- Name: TABLE storage_buckets; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,UPDATE ON TABLE postern.storage_buckets TO postern_worker;


--
-- Name: TABLE storage_cursor; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,UPDATE ON TABLE postern.storage_cursor TO postern_worker;


--
-- Name: TABLE storage_destroyed; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.storage_destroyed TO postern_worker;


--
-- Name: TABLE storage_events; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.storage_events TO postern_worker;


--
-- Name: TABLE storage_exports; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.storage_exports TO postern_tenant;
GRANT SELECT ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.status; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(status) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.attempt; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(attempt) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.rows_total; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(rows_total) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.rows_done; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(rows_done) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.bytes; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(bytes) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.after_endpoint_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(after_endpoint_id) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.after_delivery_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(after_delivery_id) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.parts; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(parts) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.lease_owner; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_owner) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.lease_until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_until) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.object_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(object_id) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.error; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(error) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.updated_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(updated_at) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: COLUMN storage_exports.fruitless_runs; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(fruitless_runs) ON TABLE postern.storage_exports TO postern_worker;


--
-- Name: TABLE storage_grants; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.storage_grants TO postern_tenant;


--
-- Name: TABLE storage_marks; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.storage_marks TO postern_worker;


--
-- Name: COLUMN storage_marks.first_seen_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(first_seen_at) ON TABLE postern.storage_marks TO postern_worker;


--
-- Name: TABLE stored_objects; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.stored_objects TO postern_tenant;
GRANT SELECT,INSERT ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.version_id; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(version_id) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(version_id) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.etag; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(etag) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(etag) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.state; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(state) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(state) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.state_since; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(state_since) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(state_since) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.available_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(available_at) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(available_at) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.deadline; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(deadline) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(deadline) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.hold; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(hold) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(hold) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: COLUMN stored_objects.revision; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(revision) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(revision) ON TABLE postern.stored_objects TO postern_worker;


--
-- Name: TABLE tenant_erasures; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT SELECT ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.status; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(status) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(status) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.rows_erased; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(rows_erased) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(rows_erased) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.objects_erased; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(objects_erased) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(objects_erased) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.trouble; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(trouble) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(trouble) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.lease_owner; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_owner) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(lease_owner) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.lease_until; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(lease_until) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(lease_until) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: COLUMN tenant_erasures.requested_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(requested_at) ON TABLE postern.tenant_erasures TO postern_publisher;


--
-- Name: COLUMN tenant_erasures.finished_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(finished_at) ON TABLE postern.tenant_erasures TO postern_publisher;
GRANT UPDATE(finished_at) ON TABLE postern.tenant_erasures TO postern_worker;


--
-- Name: TABLE tenant_settings; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,UPDATE ON TABLE postern.tenant_settings TO postern_tenant;
GRANT SELECT ON TABLE postern.tenant_settings TO postern_worker;


--
-- Name: TABLE workers; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE postern.workers TO postern_worker;


--
-- Name: COLUMN workers.seen_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(seen_at) ON TABLE postern.workers TO postern_worker;


--
-- Name: COLUMN workers.is_dead; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(is_dead) ON TABLE postern.workers TO postern_worker;


--
-- PostgreSQL database dump complete
--


