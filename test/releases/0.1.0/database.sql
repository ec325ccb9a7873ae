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
    CONSTRAINT deliveries_check CHECK ((num_nonnulls(event_id, test_id) = 1)),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text, 'test'::text]))),
    CONSTRAINT deliveries_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'retry'::text, 'auto_retry'::text, 'test'::text])))
);


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
    parked boolean DEFAULT false NOT NULL
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
-- Name: storage_cursor; Type: TABLE; Schema: postern; Owner: -
--

CREATE TABLE postern.storage_cursor (
    bucket text NOT NULL,
    run_id uuid NOT NULL,
    after_key text,
    halted_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL
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
    CONSTRAINT storage_exports_attempt_check CHECK (((attempt >= 0) AND (attempt <= 999))),
    CONSTRAINT storage_exports_check CHECK ((from_at < to_at)),
    CONSTRAINT storage_exports_check1 CHECK (((after_endpoint_id IS NULL) = (after_delivery_id IS NULL))),
    CONSTRAINT storage_exports_check2 CHECK (((lease_owner IS NULL) = (lease_until IS NULL))),
    CONSTRAINT storage_exports_check3 CHECK (((status <> 'ready'::text) OR (object_id IS NOT NULL))),
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
	('acme', '01a20310-5074-73a9-92c0-e7b5caf9f6e5', '2026-11-22 11:42:10.548+00', 'user', 'ada', 'storage_settings.updated', NULL, 'done', '{"artifact_days": null, "keep_request_bodies": true, "keep_response_bodies": true}', 'c65a63c8-20de-4ab7-9c42-97a182fa5a3f', '127.0.0.1'),
	('acme', '01a20310-5084-70de-ae50-d6d654c848b0', '2026-11-22 11:42:10.564+00', 'user', 'ada', 'endpoint.created', '01a20310-5081-70b7-909c-859a2553e77b', 'done', '{"url": "https://127.0.0.1:37455/works", "events": ["invoice.*"], "enabled": true}', '686b89a0-13eb-4ce2-aeff-cbb64d0c1c7f', '127.0.0.1'),
	('acme', '01a20310-509f-7236-ab36-e4025a5e99bd', '2026-11-22 11:42:10.591+00', 'user', 'ada', 'endpoint.created', '01a20310-5094-73ae-85ac-18a6f425add4', 'done', '{"url": "https://127.0.0.1:37455/fails", "events": ["invoice.*"], "enabled": true}', 'f20073fd-179c-44c0-b2a8-76f16bea22ea', '127.0.0.1'),
	('acme', '01a20310-50ae-717b-951d-2014bad45b5f', '2026-11-22 11:42:10.606+00', 'user', 'ada', 'secret.rotated', '01a20310-5081-70b7-909c-859a2553e77b', 'done', '{"grace_seconds": 3600}', '9b55a679-caa3-46e9-9138-4e6d94010283', '127.0.0.1'),
	('acme', '01a20310-519d-72ec-a1df-bfac9cea354d', '2026-11-22 11:42:10.845+00', 'user', 'ada', 'endpoint.tested', '01a20310-5081-70b7-909c-859a2553e77b', 'done', '{"status": "test", "event_type": "invoice.paid", "delivery_id": "01a20310-518f-728f-8498-4765a0ab99bb"}', 'f990c052-c6db-4d65-82c4-9dee1821b36f', '127.0.0.1'),
	('acme', '01a20310-51bf-7016-b56f-914541bfb13b', '2026-11-22 11:42:10.879+00', 'user', 'ada', 'delivery.retried', '01a20310-5094-73ae-85ac-18a6f425add4', 'done', '{"status": "failed", "retry_id": "01a20310-51b4-7188-806c-4406d53d311c", "delivery_id": "01a20310-50de-7d1c-8cb2-fdca49f08bc9"}', '1f732649-bfc9-4dda-bc9c-3dd3c19cd450', '127.0.0.1'),
	('acme', '01a20310-51d3-721f-ba86-46da75082c09', '2026-11-22 11:42:10.899+00', 'user', 'ada', 'export.requested', NULL, 'done', '{"to": "2026-11-22T11:42:10.883Z", "from": "2026-11-22T10:42:10.883Z", "export_id": "01a20310-51cb-7077-94ac-113beb8e89fc"}', 'e8445c3d-3ae9-4027-a1bd-a5b66181d540', '127.0.0.1'),
	('acme', '01a20310-5af7-704b-b961-1fdfe766ed49', '2026-11-22 11:42:13.239+00', 'user', 'ada', 'endpoint.created', '01a20310-5aee-718a-84f5-db49a5b8bd80', 'done', '{"url": "https://127.0.0.1:37455/held", "events": ["invoice.*"], "enabled": true}', '91cba1fc-69d2-4d02-b46b-aecfce7b6c68', '127.0.0.1'),
	('acme', '01a20310-5b20-72f3-b8ab-fde8e363d418', '2026-11-22 11:42:13.28+00', 'user', 'ada', 'endpoint.disabled', '01a20310-5aee-718a-84f5-db49a5b8bd80', 'done', '{"reason": "manual"}', '10c4bc9f-0ede-4290-a61b-286467811f41', '127.0.0.1');


--
-- Data for Name: deliveries_20261121; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: deliveries_20261122; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.deliveries_20261122 VALUES
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-50c2-7b1d-b959-c534a75358e2', '01a20310-50b8-73a8-8e8b-72fcddfdae90', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=4c1d464d221e80dce467602acaec8dddeefd8c35c3c29bac8e675e9ce10a6abd","X-Service-Timestamp":"1795347730","webhook-signature":"v1,XWIECaUP1+NGEZMrYuIXQjwEOTx64L/mAHcMeSwLW5o= v1,1iE8cqquy7l6scYeuQzuYlIdMa4Ho21sLGqroosw6+Q=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 19, NULL, '2026-11-22 11:42:10.635+00'),
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-50cb-77aa-8310-6f909eb2b655', '01a20310-50ca-7344-b159-6537b8f407b5', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=9dc85fafe64be43e950de0aadcb3c64c053d820be55995ac9cf643087e517d2d","X-Service-Timestamp":"1795347730","webhook-signature":"v1,zvAFC7awqi9hO7fNVb5jMnwNT7X0XzR08zz8+ebLsS4= v1,AsU4aMMOJITITd91axs6FYc6OyC/tlwgFxTKBOOvmk0=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 18, NULL, '2026-11-22 11:42:10.639+00'),
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-50de-7e7c-91e7-fc173ccba16e', '01a20310-50da-70b4-a099-7c135e018fd7', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=dfb34564817a7300d5fd6f7150c49fddb2dc765aa9702b978a1fdd3580c86cc8","X-Service-Timestamp":"1795347730","webhook-signature":"v1,vnmnF9wwhYIw7e/Kk9RJx/Zn/VEFwzQ/s6pwY2SRI4U= v1,6EN8ln7bSRjHXuu12o/mIZMJbqeWH5lrHCpq7o7Nv5A=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 3, NULL, '2026-11-22 11:42:10.666+00'),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-50c2-75c9-979b-846f0c9f420f', '01a20310-50b8-73a8-8e8b-72fcddfdae90', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=93c81f6402257955f27eea1c9091e94843d2f3e7eeb55d005a627a37121a093e","X-Service-Timestamp":"1795347730","webhook-signature":"v1,RlAdRfI/t0uKjNtAIwveXQils13PEu6uUnCIZaUnqug=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 20, NULL, '2026-11-22 11:42:10.636+00'),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-50cb-7a28-98fc-bc874370785a', '01a20310-50ca-7344-b159-6537b8f407b5', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=f497086c52769f8b42117da7dd0d4b82a59e6dd7899c424de90757968835810c","X-Service-Timestamp":"1795347730","webhook-signature":"v1,D+IjNJBIibsv4bHkBylqxYrA61J9/T3ElWb5wpuf+vM=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 19, NULL, '2026-11-22 11:42:10.639+00'),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-50de-7d1c-8cb2-fdca49f08bc9', '01a20310-50da-70b4-a099-7c135e018fd7', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.1.0","X-Service-Signature":"sha256=84c85fe66d5d14247ef70cbf163908c7384fdcd8c9c2b0ddf1595a5a00498831","X-Service-Timestamp":"1795347730","webhook-signature":"v1,s3LiLrc+Gy9iZwFhzcWHixTo6lU8AfEmmZZ0s6vTTEU=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 7, NULL, '2026-11-22 11:42:10.667+00'),
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-518f-728f-8498-4765a0ab99bb', NULL, '01a20310-518f-728f-8498-4765a0ab99bb', 'invoice.paid', 'test', 'test', 1, '{"event":"invoice.paid","data":{"invoice_id":"inv_1042","customer_id":"cus_77","amount":12900,"currency":"EUR","paid_at":"2026-01-31T09:30:00.000Z"},"_test":true}', '{"Content-Type":"application/json","User-Agent":"Postern/0.1.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=3476b49b3258411ad0e1103ec5b373b621719fb679f466f6218acc7b52057316","X-Service-Timestamp":"1795347730","X-Service-Event":"invoice.paid","X-Service-Delivery":"test-1795347730831","webhook-id":"01a20310-518f-728f-8498-4765a0ab99bb","webhook-timestamp":"1795347730","webhook-signature":"v1,gVNHCtaLLrLX/26rq9Ngg9IbCY+jQL2e/CGzR++COoo= v1,KKz8nUc0S2TMCC+xUDewxf0l23hgpfJPHTs9zmBjZJE=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 8, NULL, '2026-11-22 11:42:10.831+00'),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-51b4-7188-806c-4406d53d311c', '01a20310-50da-70b4-a099-7c135e018fd7', NULL, 'invoice.paid', 'retry', 'failed', 2, '{"id":"01a20310-50da-70b4-a099-7c135e018fd7","event":"invoice.paid","created_at":"2026-11-22T11:42:10.650Z","data":{"note":"over 2"}}', '{"Content-Type":"application/json","User-Agent":"Postern/0.1.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=84c85fe66d5d14247ef70cbf163908c7384fdcd8c9c2b0ddf1595a5a00498831","X-Service-Timestamp":"1795347730","X-Service-Event":"invoice.paid","X-Service-Delivery":"01a20310-50de-7d1c-8cb2-fdca49f08bc9","webhook-id":"01a20310-50da-70b4-a099-7c135e018fd7","webhook-timestamp":"1795347730","webhook-signature":"v1,s3LiLrc+Gy9iZwFhzcWHixTo6lU8AfEmmZZ0s6vTTEU=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:42:10 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 7, NULL, '2026-11-22 11:42:10.868+00');


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
-- Data for Name: dispatches; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.dispatches VALUES
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-5108-7e5c-bb96-c82d911ac9ed', '01a20310-50b8-73a8-8e8b-72fcddfdae90', 'invoice.paid', 2, '2026-11-22 12:43:50.989695+00', '2026-11-22 12:43:50.989695+00', NULL, false, false, false),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-5108-7e37-b7eb-e3f9cb0f4d51', '01a20310-50ca-7344-b159-6537b8f407b5', 'invoice.paid', 2, '2026-11-22 12:42:42.707695+00', '2026-11-22 12:42:42.707695+00', NULL, false, false, false),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-5108-7b89-ac72-7a379aa6bdf2', '01a20310-50da-70b4-a099-7c135e018fd7', 'invoice.paid', 2, '2026-11-22 12:42:27.864695+00', '2026-11-22 12:42:27.864695+00', NULL, false, false, false),
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-583e-75e4-ab40-c71a3d6ab97a', '01a20310-582d-701f-baec-174960af41ba', 'invoice.paid', 1, '2026-11-22 11:42:12.538598+00', '2026-11-22 11:42:12.538598+00', NULL, false, false, false),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-583e-7ee5-859d-fd7dcaac331b', '01a20310-582d-701f-baec-174960af41ba', 'invoice.paid', 1, '2026-11-22 11:42:12.538598+00', '2026-11-22 11:42:12.538598+00', NULL, false, false, false),
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', '01a20310-5b12-73d8-93a6-422b9b20cb48', '01a20310-5b03-71fd-b384-6d7d79cdcdec', 'invoice.paid', 1, '2026-11-22 11:42:13.263339+00', '2026-11-22 11:42:13.263339+00', NULL, false, false, false),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-5b12-776a-8075-bd47cf2479d6', '01a20310-5b03-71fd-b384-6d7d79cdcdec', 'invoice.paid', 1, '2026-11-22 11:42:13.263339+00', '2026-11-22 11:42:13.263339+00', NULL, false, false, false),
	('acme', '01a20310-5aee-718a-84f5-db49a5b8bd80', '01a20310-5b12-759b-afd2-64bee8c9a617', '01a20310-5b03-71fd-b384-6d7d79cdcdec', 'invoice.paid', 1, '2026-11-22 11:42:13.263339+00', '2026-11-22 11:42:13.263339+00', NULL, true, false, false);


--
-- Data for Name: endpoints; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.endpoints VALUES
	('acme', '01a20310-5081-70b7-909c-859a2553e77b', 'https://127.0.0.1:37455/works', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"Bearer of-works"}', '{}', '\x01018d2a126489878d29c148f158eac6bfcfa1e39e304104d7af91999c46fa126b93bd1c9cd4ea30cc71a6a00a2322b984ae09ab35bf8dba4f71a224f542dd0c7e354c56a8175a906be58a9a0dc50c6fae3aaf', '\x01018d2a12e87a8f8079a93a7a9709bb268192ba0fd12f09eb410ec3451fdc5ac7fcbaf579628851412ddbfcfca9ca2166334587edfe89f6546b7e77413953dcfc98e3035ef2c7efe6734b5c34d81423ccf9ba', '2026-11-22 12:42:10.603051+00', NULL, '2026-11-22 11:42:10.561+00', '2026-11-22 11:42:10.603+00', NULL, false),
	('acme', '01a20310-5094-73ae-85ac-18a6f425add4', 'https://127.0.0.1:37455/fails', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"Bearer of-fails"}', '{}', '\x01018d2a12cdb51c32bb7b0f73a5774105528676d815745ba3141e7c559a4edfd69e022fe50640bd66539a1a1592e1343e86afa6c2444019abd66388ae59dde3fdb71f340ad838516f0dfa8a39b6efb71232ef', NULL, NULL, '2026-11-22 11:42:10.667281+00', '2026-11-22 11:42:10.589+00', '2026-11-22 11:42:10.589+00', NULL, false),
	('acme', '01a20310-5aee-718a-84f5-db49a5b8bd80', 'https://127.0.0.1:37455/held', '{invoice.*}', NULL, false, 'manual', NULL, '{"authorization":"Bearer of-held"}', '{}', '\x01018d2a12169c6c4c0553909e0304591f3b23f1c37f435f41ad02f7ba87e7b1d47336b81e0efc14061cae7df76930b04e8cb2011b2d63cd9791dc2d7eb03ae869251062f211c4fec0c6787481e657dfaba2df', NULL, NULL, NULL, '2026-11-22 11:42:13.234+00', '2026-11-22 11:42:13.273+00', NULL, false);


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
	('acme', '01a20310-50b8-73a8-8e8b-72fcddfdae90', 'invoice.paid', '{"id":"01a20310-50b8-73a8-8e8b-72fcddfdae90","event":"invoice.paid","created_at":"2026-11-22T11:42:10.616Z","data":{"note":"over 0"}}', 2),
	('acme', '01a20310-50ca-7344-b159-6537b8f407b5', 'invoice.paid', '{"id":"01a20310-50ca-7344-b159-6537b8f407b5","event":"invoice.paid","created_at":"2026-11-22T11:42:10.634Z","data":{"note":"over 1"}}', 2),
	('acme', '01a20310-50da-70b4-a099-7c135e018fd7', 'invoice.paid', '{"id":"01a20310-50da-70b4-a099-7c135e018fd7","event":"invoice.paid","created_at":"2026-11-22T11:42:10.650Z","data":{"note":"over 2"}}', 2),
	('acme', '01a20310-54a4-7181-88e5-916a714553bb', 'storage.export.ready', '{"id":"01a20310-54a4-7181-88e5-916a714553bb","event":"storage.export.ready","created_at":"2026-11-22T11:42:11.620Z","data":{"export_id":"01a20310-51cb-7077-94ac-113beb8e89fc","object_id":"076a598f-1dd5-4649-ba23-c5af0009e0b1","expires_at":"2036-11-19T11:42:11.605Z"}}', 0),
	('acme', '01a20310-582d-701f-baec-174960af41ba', 'invoice.paid', '{"id":"01a20310-582d-701f-baec-174960af41ba","event":"invoice.paid","created_at":"2026-11-22T11:42:12.525Z","data":{"note":"pending"}}', 2),
	('acme', '01a20310-5b03-71fd-b384-6d7d79cdcdec', 'invoice.paid', '{"id":"01a20310-5b03-71fd-b384-6d7d79cdcdec","event":"invoice.paid","created_at":"2026-11-22T11:42:13.251Z","data":{"note":"held"}}', 3);


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
	('ea7305ce-d612-40a9-9c96-aad719b4e562', 'api+worker', '2026-11-22 11:42:10.494734+00', '2026-11-22 11:42:10.494734+00'),
	('ff19be35-1daa-467a-a84c-026032d43ce7', 'api', '2026-11-22 11:42:12.471613+00', '2026-11-22 11:42:12.471613+00'),
	('70866cce-e611-43b5-8e17-a4c8f7a8797d', 'api', '2026-11-22 11:42:13.209118+00', '2026-11-22 11:42:13.209118+00');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: outbox; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.outbox VALUES
	('01a20310-584c-76c8-be8b-20027506b7bd', 'acme', 'invoice.paid', '{"id":"01a20310-584c-76c8-be8b-20027506b7bd","event":"invoice.paid","created_at":"2026-11-22T11:42:12.556Z","data":{"note": "from SQL"}}');


--
-- Data for Name: person_sends; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: schema_functions; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_functions OVERRIDING SYSTEM VALUE VALUES
	(1, 'functions/attach_staged.sql', '1320185bbac7b13f03189c49d23cd1a128389eec4497a981488f856aaf364c36', '2026-11-22 11:42:10.154105+00'),
	(2, 'functions/content_fingerprint.sql', '509dbdd1fa6e5c86284d162576369533dba7f20d9611bb432491c61d58db7077', '2026-11-22 11:42:10.157499+00'),
	(3, 'functions/copy_staged_rows.sql', '947b8cc6dd0b437f6a8dad3e8a83a3d550aeccfed7a44024014fbd7b26d40b8e', '2026-11-22 11:42:10.163264+00'),
	(4, 'functions/copy_to_staged.sql', '42d4bc58c1265463becd46388c9a5f1134ae0bc67edc355c0c31b33834290280', '2026-11-22 11:42:10.165695+00'),
	(5, 'functions/current_tenant.sql', 'a5b3c5f7e7766ea60bb0ae554c056c775ba76857b205ed5325c8e2258610e166', '2026-11-22 11:42:10.170049+00'),
	(6, 'functions/day_of_id.sql', '0fede9f1ac3419f8923f1c847820c7893d96e94801ff992c405b72c2fc17b66e', '2026-11-22 11:42:10.174028+00'),
	(7, 'functions/drop_old_partitions.sql', '0ee6b931ade7b7df8c977f37e670d17e104100fd1039bd83ce65468829bab83e', '2026-11-22 11:42:10.178033+00'),
	(8, 'functions/drop_past_partitions.sql', 'bfa2ef0dfbd68aee9fc0ce8230ce3879bc3f45f878f8a1dec5556346e1c18b24', '2026-11-22 11:42:10.182212+00'),
	(9, 'functions/ensure_partitions.sql', '03efe27cbb8f2d5018478e94d04f0f2815a83a61863b62d2aae2a5147260d3ab', '2026-11-22 11:42:10.186021+00'),
	(10, 'functions/forget_old_audit.sql', '41a6ce7ae4d46c66de21b4bb2cb23513609e9539215989262f03822ade4d1b09', '2026-11-22 11:42:10.190006+00'),
	(11, 'functions/forget_old_storage.sql', '371f23508345dde9061aae1edb84bb5c83d343df636b04bc119bd349fd30b355', '2026-11-22 11:42:10.194065+00'),
	(12, 'functions/lowest_id_at.sql', '1f59c9b90640bc974694463a77b33dc6d4884ec5a1d294eee28f5ccd52e0a2fa', '2026-11-22 11:42:10.195571+00'),
	(13, 'functions/publish.sql', '01001372432fbd619a7840574f98d68b0d5944a5580b8d8106b5cab77412084b', '2026-11-22 11:42:10.198029+00'),
	(14, 'functions/stage_partitions.sql', '453e38a475afbbd678a934c00f2edb0ae4e69b298e9a1ed29e14f74fbbc36270', '2026-11-22 11:42:10.202034+00'),
	(15, 'functions/uuid_v7.sql', '2a94cfdb4f7dce54c788de4f3969d979c4bbf001e47e2ea28f556fbac944fdd8', '2026-11-22 11:42:10.206147+00');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_migrations VALUES
	(1, 'webhooks', '19cb3dc5787135119ce0a093a9e0573888667270217897621a3c7b6d11254881', '2026-11-22 11:42:09.552783+00'),
	(2, 'publish_from_sql', 'a6e3f829d9b254054833816cf6d0a297759b52fbcde97ccf8bd307ef074d52ab', '2026-11-22 11:42:09.807808+00'),
	(3, 'limit_published_size', '6a64076d1ea328b19362ed3c429946f1a7c479d18beac6c5bbb2af3aa5b342fd', '2026-11-22 11:42:09.821786+00'),
	(4, 'roles_and_row_security', 'ef65547691b45ee596be9f41a658bde564c8d0503712c0d299f7d422c1582964', '2026-11-22 11:42:09.826304+00'),
	(5, 'storage', 'aafec681132e165530145a15d48bd6d54ee64bbae27e65ef336b7358fa7052b6', '2026-11-22 11:42:09.833368+00'),
	(6, 'audit_log', '2ab73b397af656f3c44604b8b7c49e5eb8e5c488acfdf37cbc967c5884dfd5fb', '2026-11-22 11:42:09.906283+00'),
	(7, 'exports', '050921e2e53c4e0b07fe3251e2fc3e57fc2fc8cb9b2b27d836c0cb3268ae16a0', '2026-11-22 11:42:09.915361+00'),
	(8, 'floor_under_the_log', '6761ca13d1a22d3019b7046aaa97b08c0ef23b66fd1ba26aec13e99ab0d6fc03', '2026-11-22 11:42:09.921721+00'),
	(9, 'dispatches_follow_in_slices', 'de5263a867cd5e702128570bc114f9f9be98d9f744396f2dc8c5cf7e24477ed7', '2026-11-22 11:42:09.93016+00'),
	(10, 'forget_old_storage', '1a1fcb9c5759bfd31100de26b75825733ac7505eefcd6d8ed406e8daca40c03f', '2026-11-22 11:42:09.93848+00'),
	(11, 'indexes_of_the_log', 'ad0028239c6b7ba4d6b81b7949668574dbd5f84d8a9c62d2c0cc5b569fb75f30', '2026-11-22 11:42:09.954425+00'),
	(12, 'when_an_attempt_was_sent', '69c8c73569f87f3959db1347b907ce5fab60b6d8db05e6f63dc62cd0f9e5c0b1', '2026-11-22 11:42:10.101928+00'),
	(13, 'heartbeats', 'ef4bd9999b8baaece7d1744b08fe8a8cb69482214dd03dedcaef6a716abd1ce1', '2026-11-22 11:42:10.110616+00'),
	(14, 'person_sends', '7fceac120dc5c3cffd5f94311159c496760a7c78f9512fee96437ea037774598', '2026-11-22 11:42:10.121978+00'),
	(15, 'parked_dispatches', '271e9459704d65713cc366a1fbd73aaf62510f5d721d2e44e89077a00f0e0b18', '2026-11-22 11:42:10.134137+00'),
	(16, 'workers', '4bfb7f0d7a530b0d59425a6bfd681974b33876aebf3e3534aae03f676247ba68', '2026-11-22 11:42:10.146098+00');


--
-- Data for Name: storage_cursor; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_events; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: storage_exports; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.storage_exports VALUES
	('acme', '01a20310-51cb-7077-94ac-113beb8e89fc', 'ada', '2026-11-22 10:42:10.883+00', '2026-11-22 11:42:10.883+00', NULL, 'ready', 1, 8, 8, 4687, '01a20310-5094-73ae-85ac-18a6f425add4', '01a20310-51b4-7188-806c-4406d53d311c', '[]', NULL, NULL, '076a598f-1dd5-4649-ba23-c5af0009e0b1', NULL, '2026-11-22 11:42:10.894+00', '2026-11-22 11:42:11.619+00', 1);


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
	('acme', '9e01578d-8470-4df3-bc21-17ca34a330b3', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50de-7e7c-91e7-fc173ccba16e', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50de-7e7c-91e7-fc173ccba16e/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:42:10.929+00', '2026-11-22 11:42:10.929+00', '2036-11-19 11:42:10.929+00', false, 3),
	('acme', '01f3eaf8-6d29-44c0-a4b5-ca6f33053785', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50cb-7a28-98fc-bc874370785a', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50cb-7a28-98fc-bc874370785a/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:42:10.906+00', '2026-11-22 11:42:10.906+00', '2036-11-19 11:42:10.906+00', false, 3),
	('acme', '2e5277c4-a806-4ae1-9b6b-02acb4093f57', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50cb-7a28-98fc-bc874370785a', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50cb-7a28-98fc-bc874370785a/a/1/request_body.json', 133, '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', 'application/json', '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', 'available', '2026-11-22 11:42:10.89+00', '2026-11-22 11:42:10.89+00', '2036-11-19 11:42:10.89+00', false, 3),
	('acme', 'e35fb644-b1d1-4099-bc34-4d9e3d4c0d30', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50cb-77aa-8310-6f909eb2b655', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50cb-77aa-8310-6f909eb2b655/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:42:10.89+00', '2026-11-22 11:42:10.89+00', '2036-11-19 11:42:10.89+00', false, 3),
	('acme', '0f2f0b06-2017-4023-818a-7964086e1400', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50c2-7b1d-b959-c534a75358e2', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50c2-7b1d-b959-c534a75358e2/a/1/request_body.json', 133, '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', 'application/json', '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', 'available', '2026-11-22 11:42:10.733+00', '2026-11-22 11:42:10.733+00', '2036-11-19 11:42:10.733+00', false, 3),
	('acme', '0269c37f-f64c-41b1-8659-e655389b17e4', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50c2-7b1d-b959-c534a75358e2', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50c2-7b1d-b959-c534a75358e2/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:42:10.74+00', '2026-11-22 11:42:10.74+00', '2036-11-19 11:42:10.74+00', false, 3),
	('acme', 'a537b3cf-0eec-4f0a-971a-16212e1ccf20', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50c2-75c9-979b-846f0c9f420f', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50c2-75c9-979b-846f0c9f420f/a/1/request_body.json', 133, '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', 'application/json', '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', '213734a71fdd0a9286f1ea5376c1ec4790de173226040373e0f07bf1445d422b', 'available', '2026-11-22 11:42:10.733+00', '2026-11-22 11:42:10.733+00', '2036-11-19 11:42:10.733+00', false, 3),
	('acme', '85f15060-686b-4237-9622-590dc719b30c', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50c2-75c9-979b-846f0c9f420f', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50c2-75c9-979b-846f0c9f420f/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:42:10.738+00', '2026-11-22 11:42:10.738+00', '2036-11-19 11:42:10.738+00', false, 3),
	('acme', '2d709cc9-74a2-455b-9d86-488a65390dbb', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-51b4-7188-806c-4406d53d311c', 2, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-51b4-7188-806c-4406d53d311c/a/2/request_body.json', 133, 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'application/json', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'available', '2026-11-22 11:42:10.958+00', '2026-11-22 11:42:10.958+00', '2036-11-19 11:42:10.958+00', false, 3),
	('acme', '345595ad-9f5d-4cf9-b56d-cc1e8dddec4f', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50cb-77aa-8310-6f909eb2b655', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50cb-77aa-8310-6f909eb2b655/a/1/request_body.json', 133, '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', 'application/json', '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', '37c523508216079103e0a0557a9c440fa1547f96cd4d0968cdb254ee0658382c', 'available', '2026-11-22 11:42:10.892+00', '2026-11-22 11:42:10.892+00', '2036-11-19 11:42:10.892+00', false, 3),
	('acme', '84cb754b-d859-4026-b1e4-b11a9ac5c401', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50de-7d1c-8cb2-fdca49f08bc9', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50de-7d1c-8cb2-fdca49f08bc9/a/1/request_body.json', 133, 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'application/json', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'available', '2026-11-22 11:42:10.928+00', '2026-11-22 11:42:10.928+00', '2036-11-19 11:42:10.928+00', false, 3),
	('acme', '749c2ecc-ec62-4921-9be3-0e06bc6cf7ef', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50de-7e7c-91e7-fc173ccba16e', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50de-7e7c-91e7-fc173ccba16e/a/1/request_body.json', 133, 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'application/json', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'e715d20ae1a263f1f6cb0fad1f87efb4bfd9b3f553739edd505d95858a884347', 'available', '2026-11-22 11:42:10.922+00', '2026-11-22 11:42:10.922+00', '2036-11-19 11:42:10.922+00', false, 3),
	('acme', '9476a298-ee03-406a-a9bf-7e35f2ae8c08', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-51b4-7188-806c-4406d53d311c', 2, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-51b4-7188-806c-4406d53d311c/a/2/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:42:10.978+00', '2026-11-22 11:42:10.978+00', '2036-11-19 11:42:10.978+00', false, 3),
	('acme', '15ea067a-f93c-4005-a5d7-25f5cdf2a5e2', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-518f-728f-8498-4765a0ab99bb', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-518f-728f-8498-4765a0ab99bb/a/1/request_body.json', 162, 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'application/json', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'available', '2026-11-22 11:42:10.959+00', '2026-11-22 11:42:10.959+00', '2036-11-19 11:42:10.959+00', false, 3),
	('acme', 'c3f57d6e-e877-4e62-a58c-96ae201fc844', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-50de-7d1c-8cb2-fdca49f08bc9', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-50de-7d1c-8cb2-fdca49f08bc9/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:42:10.952+00', '2026-11-22 11:42:10.952+00', '2036-11-19 11:42:10.952+00', false, 3),
	('acme', '2c791e49-a3ea-4f2c-bff5-a6a46a8ca9fd', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-518f-728f-8498-4765a0ab99bb', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-518f-728f-8498-4765a0ab99bb/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:42:10.958+00', '2026-11-22 11:42:10.958+00', '2036-11-19 11:42:10.958+00', false, 3),
	('acme', '076a598f-1dd5-4649-ba23-c5af0009e0b1', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20310-51cb-7077-94ac-113beb8e89fc', 1, 'export', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20310-51cb-7077-94ac-113beb8e89fc/a/1/export.zip', 4687, '3630bc531e016acd8debcc4bc88a83072ff011a1dd864f98affbbae776991770', 'application/zip', '3630bc531e016acd8debcc4bc88a83072ff011a1dd864f98affbbae776991770', '3630bc531e016acd8debcc4bc88a83072ff011a1dd864f98affbbae776991770', 'available', '2026-11-22 11:42:11.605+00', '2026-11-22 11:42:11.605+00', '2036-11-19 11:42:11.605+00', false, 3);


--
-- Data for Name: tenant_settings; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.tenant_settings VALUES
	('acme', true, true, NULL, '2026-11-22 11:42:10.546+00');


--
-- Data for Name: workers; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Name: schema_functions_id_seq; Type: SEQUENCE SET; Schema: postern; Owner: -
--

SELECT pg_catalog.setval('postern.schema_functions_id_seq', 15, true);


--
-- Name: audit_log audit_log_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);


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
-- Name: storage_cursor storage_cursor_pkey; Type: CONSTRAINT; Schema: postern; Owner: -
--

ALTER TABLE ONLY postern.storage_cursor
    ADD CONSTRAINT storage_cursor_pkey PRIMARY KEY (bucket);


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
-- Name: deliveries_of_event; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_of_event ON ONLY postern.deliveries USING btree (event_id, tenant_id);


--
-- Name: deliveries_20261121_event_id_tenant_id_idx; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX deliveries_20261121_event_id_tenant_id_idx ON postern.deliveries_20261121 USING btree (event_id, tenant_id);


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
-- Name: dispatches_claimable; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_claimable ON postern.dispatches USING btree (claimable_at) WHERE ((NOT held) AND (NOT parked));


--
-- Name: dispatches_parked; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_parked ON postern.dispatches USING btree (tenant_id, endpoint_id, due_at, event_id) WHERE (parked AND (NOT held));


--
-- Name: dispatches_superseded; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX dispatches_superseded ON postern.dispatches USING btree (claimable_at) WHERE superseded;


--
-- Name: endpoints_unsettled; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX endpoints_unsettled ON postern.endpoints USING btree (tenant_id, id) WHERE unsettled;


--
-- Name: idempotency_keys_created_at; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX idempotency_keys_created_at ON postern.idempotency_keys USING btree (created_at);


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
-- Name: deliveries_20261121_event_id_tenant_id_idx; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_of_event ATTACH PARTITION postern.deliveries_20261121_event_id_tenant_id_idx;


--
-- Name: deliveries_20261121_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.deliveries_pkey ATTACH PARTITION postern.deliveries_20261121_pkey;


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
-- Name: events_20261122_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261122_pkey;


--
-- Name: events_20261123_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261123_pkey;


--
-- Name: events_20261124_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261124_pkey;


--
-- Name: events_20261125_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261125_pkey;


--
-- Name: events_20261126_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261126_pkey;


--
-- Name: events_20261127_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261127_pkey;


--
-- Name: events_20261128_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261128_pkey;


--
-- Name: events_20261129_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_20261129_pkey;


--
-- Name: events_default_pkey; Type: INDEX ATTACH; Schema: postern; Owner: -
--

ALTER INDEX postern.events_pkey ATTACH PARTITION postern.events_default_pkey;


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
-- Name: outbox; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.outbox ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_log owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.audit_log TO postern_owner USING (true);


--
-- Name: deliveries owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.deliveries TO postern_owner USING (true);


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
-- Name: outbox owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.outbox TO postern_owner USING (true);


--
-- Name: person_sends owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.person_sends TO postern_owner USING (true);


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
-- Name: tenant_settings owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.tenant_settings TO postern_owner USING (true);


--
-- Name: person_sends; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.person_sends ENABLE ROW LEVEL SECURITY;

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
-- Name: deliveries tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.deliveries TO postern_tenant USING ((tenant_id = postern.current_tenant()));


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
-- Name: person_sends tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.person_sends TO postern_tenant USING ((tenant_id = postern.current_tenant()));


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
-- Name: tenant_settings; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.tenant_settings ENABLE ROW LEVEL SECURITY;

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
-- Name: storage_exports worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.storage_exports FOR UPDATE TO postern_worker USING (true);


--
-- Name: stored_objects worker_change; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker_change ON postern.stored_objects FOR UPDATE TO postern_worker USING (true);


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
-- Name: FUNCTION uuid_v7(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.uuid_v7() FROM PUBLIC;
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_publisher;
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_worker;


--
-- Name: TABLE audit_log; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.audit_log TO postern_tenant;
GRANT INSERT ON TABLE postern.audit_log TO postern_worker;


--
-- Name: TABLE deliveries; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT ON TABLE postern.deliveries TO postern_tenant;
GRANT INSERT ON TABLE postern.deliveries TO postern_worker;


--
-- Name: TABLE dispatches; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,DELETE ON TABLE postern.dispatches TO postern_tenant;
GRANT INSERT ON TABLE postern.dispatches TO postern_publisher;
GRANT SELECT,INSERT,DELETE ON TABLE postern.dispatches TO postern_worker;


--
-- Name: COLUMN dispatches.claimable_at; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(claimable_at) ON TABLE postern.dispatches TO postern_tenant;
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
-- Name: TABLE outbox; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,DELETE ON TABLE postern.outbox TO postern_worker;


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
-- Name: TABLE schema_functions; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.schema_functions TO postern_worker;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT ON TABLE postern.schema_migrations TO postern_worker;


--
-- Name: TABLE storage_cursor; Type: ACL; Schema: postern; Owner: -
--

GRANT SELECT,INSERT,UPDATE ON TABLE postern.storage_cursor TO postern_worker;


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
-- Name: COLUMN stored_objects.revision; Type: ACL; Schema: postern; Owner: -
--

GRANT UPDATE(revision) ON TABLE postern.stored_objects TO postern_tenant;
GRANT UPDATE(revision) ON TABLE postern.stored_objects TO postern_worker;


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


