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
	('acme', '01a20311-938c-70d6-b438-875f2640d364', '2026-11-22 11:43:33.26+00', 'user', 'ada', 'storage_settings.updated', NULL, 'done', '{"artifact_days": null, "keep_request_bodies": true, "keep_response_bodies": true}', '486462f5-cb64-4f81-91b0-48867b5a2263', '127.0.0.1'),
	('acme', '01a20311-93a0-73a3-a60f-f655489e815e', '2026-11-22 11:43:33.28+00', 'user', 'ada', 'endpoint.created', '01a20311-939b-718c-8bb4-e67d4baea32a', 'done', '{"url": "https://127.0.0.1:41413/works", "events": ["invoice.*"], "enabled": true}', 'f0b41fb8-dd67-415b-8142-0d7963f916d3', '127.0.0.1'),
	('acme', '01a20311-93b8-7376-aa10-1994cd2f92d1', '2026-11-22 11:43:33.304+00', 'user', 'ada', 'endpoint.created', '01a20311-93af-72b2-88b8-fe671cab571e', 'done', '{"url": "https://127.0.0.1:41413/fails", "events": ["invoice.*"], "enabled": true}', 'd59eb241-28eb-430c-b813-2ee441d834da', '127.0.0.1'),
	('acme', '01a20311-93c9-70b3-a1e6-a40eb8369bff', '2026-11-22 11:43:33.321+00', 'user', 'ada', 'secret.rotated', '01a20311-939b-718c-8bb4-e67d4baea32a', 'done', '{"grace_seconds": 3600}', 'fb11aadd-9d2b-4a8a-abb1-475e2add594f', '127.0.0.1'),
	('acme', '01a20311-9478-70d0-a5b0-5fc19e6ff741', '2026-11-22 11:43:33.496+00', 'user', 'ada', 'endpoint.tested', '01a20311-939b-718c-8bb4-e67d4baea32a', 'done', '{"status": "test", "event_type": "invoice.paid", "delivery_id": "01a20311-9473-7000-b43c-71520f74be5c"}', '9ca58f51-3b70-4422-8746-ca0db38c7e36', '127.0.0.1'),
	('acme', '01a20311-9493-7393-a824-989e0fde4c85', '2026-11-22 11:43:33.523+00', 'user', 'ada', 'delivery.retried', '01a20311-93af-72b2-88b8-fe671cab571e', 'done', '{"status": "failed", "retry_id": "01a20311-9481-72cf-882d-52b421704e48", "delivery_id": "01a20311-9415-7b73-8d7e-e1c36f329c84"}', '7eef8d5a-d27b-4e82-b9a3-b5f3f34bf2ba', '127.0.0.1'),
	('acme', '01a20311-949b-714b-86c6-f8c01d477740', '2026-11-22 11:43:33.531+00', 'user', 'ada', 'export.requested', NULL, 'done', '{"to": "2026-11-22T11:43:33.525Z", "from": "2026-11-22T10:43:33.525Z", "formats": ["ndjson", "csv"], "export_id": "01a20311-9499-715f-9c4b-df8f26a26365", "event_type": null, "delivery_status": null}', 'e4166413-7077-4941-9cf8-e8dcaace5678', '127.0.0.1'),
	('acme', '01a20311-9d67-70e1-b954-c9c2768ae548', '2026-11-22 11:43:35.783+00', 'user', 'ada', 'endpoint.created', '01a20311-9d5c-7388-81be-137830013105', 'done', '{"url": "https://127.0.0.1:41413/held", "events": ["invoice.*"], "enabled": true}', '9594eefa-2302-42d9-b46f-4503d236c4fb', '127.0.0.1'),
	('acme', '01a20311-9d7b-70c5-90f9-14990f889336', '2026-11-22 11:43:35.803+00', 'user', 'ada', 'endpoint.disabled', '01a20311-9d5c-7388-81be-137830013105', 'done', '{"reason": "manual"}', '15a1077e-4e67-45cb-b8ff-8d244c1d0271', '127.0.0.1');


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
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-93ea-72c7-90bc-ba27e39884f7', '01a20311-93df-71cb-85ec-48d029f5b195', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=b0f184021eb8b3e6efea8d308741b04dfe844cf8deac12cfc5b29ca6ca173083","X-Service-Timestamp":"1795347813","webhook-signature":"v1,ho2/yzl3JIz3pjlhjR3rBdAq7bozUiXkdtwgPo+QLog= v1,f1fkystOvAjwGNlO+KRWCZh7NanHr05QxeWEfpUdzEk=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 19, NULL, '2026-11-22 11:43:33.367+00'),
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-9400-75fb-b4dd-4dd8c2683ae6', '01a20311-93fa-7136-b98d-d5b18c6fe312', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=1822a035af39d8de0b57c8f878f999e1c3e4a78ba93e7ad1655305773427a71c","X-Service-Timestamp":"1795347813","webhook-signature":"v1,5aMFSuONqPrxUsAB75DcVrkIjFeBgAMkiGHsFDrr9VQ= v1,950W3L1MZUeWny6A6YeHlyd9h2j9hANVZGKpjwtJ6Ao=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 15, NULL, '2026-11-22 11:43:33.387+00'),
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-9415-7dfb-81fb-e26bcd36bb83', '01a20311-9413-7303-b07b-709cf52a09fa', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=66c32ba01bb12397748e880d457fd6da7a455bf9285fb4f7e98eab3102b1af08","X-Service-Timestamp":"1795347813","webhook-signature":"v1,xm/s4Z/TsvJWJJ0n19ZS/cbqnZ7yVf/HhqSdxpLb8qc= v1,A95URCakwnJBLC7kuERjRGnSppcXAP/v3MuOTTzA3Uc=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 8, NULL, '2026-11-22 11:43:33.402+00'),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-93ea-727d-82e6-f3561ed2b038', '01a20311-93df-71cb-85ec-48d029f5b195', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=41fc100ad3ddc232232b435ff60f241a0b535516eebe581444fa19b3e8ea7996","X-Service-Timestamp":"1795347813","webhook-signature":"v1,cWmQB3ga1XHgikcZOpyIuk/MgMJr9SSqrNhZRsDAwEY=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 19, NULL, '2026-11-22 11:43:33.367+00'),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9400-7e70-8d25-c77c945310cd', '01a20311-93fa-7136-b98d-d5b18c6fe312', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=8ae59be73f3de5dafc9ff4eaa6768647a4ca43b2923b3e247cfa98961adc36bd","X-Service-Timestamp":"1795347813","webhook-signature":"v1,wFwpbhtAQYZ1GL5Jwd04pYQveBABaEae/xoc9YpaqtM=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 14, NULL, '2026-11-22 11:43:33.387+00'),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9415-7b73-8d7e-e1c36f329c84', '01a20311-9413-7303-b07b-709cf52a09fa', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=7db22e6d063ceab438ba0d63aa3074bdd77bad806720fde480b608cb2b781b7c","X-Service-Timestamp":"1795347813","webhook-signature":"v1,iL6lcaztVv9l3awm3pFNfIO8ycJy3NNAVYWSFeA3pLk=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 8, NULL, '2026-11-22 11:43:33.402+00'),
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-9473-7000-b43c-71520f74be5c', NULL, '01a20311-9473-7000-b43c-71520f74be5c', 'invoice.paid', 'test', 'test', 1, '{"event":"invoice.paid","data":{"invoice_id":"inv_1042","customer_id":"cus_77","amount":12900,"currency":"EUR","paid_at":"2026-01-31T09:30:00.000Z"},"_test":true}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=603f7aa5802d69b4a098fb8d7e3bdebf7212bcec72facc282be1d1827f66840c","X-Service-Timestamp":"1795347813","X-Service-Event":"invoice.paid","X-Service-Delivery":"test-1795347813491","webhook-id":"01a20311-9473-7000-b43c-71520f74be5c","webhook-timestamp":"1795347813","webhook-signature":"v1,dFsrKBkdw08amjnZZR8dgkE137QCmzhri/GK8pvW61Q= v1,XZ7OqlsGar6TOh7XAXs9sF/zr9+mbSqxM98T5CX7kMU=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 3, NULL, '2026-11-22 11:43:33.491+00'),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9481-72cf-882d-52b421704e48', '01a20311-9413-7303-b07b-709cf52a09fa', NULL, 'invoice.paid', 'retry', 'failed', 2, '{"id":"01a20311-9413-7303-b07b-709cf52a09fa","event":"invoice.paid","created_at":"2026-11-22T11:43:33.395Z","data":{"note":"over 2"}}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=7db22e6d063ceab438ba0d63aa3074bdd77bad806720fde480b608cb2b781b7c","X-Service-Timestamp":"1795347813","X-Service-Event":"invoice.paid","X-Service-Delivery":"01a20311-9415-7b73-8d7e-e1c36f329c84","webhook-id":"01a20311-9413-7303-b07b-709cf52a09fa","webhook-timestamp":"1795347813","webhook-signature":"v1,iL6lcaztVv9l3awm3pFNfIO8ycJy3NNAVYWSFeA3pLk=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 11:43:33 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 9, NULL, '2026-11-22 11:43:33.505+00');


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
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-944d-7a56-924a-c802da2b3917', '01a20311-93df-71cb-85ec-48d029f5b195', 'invoice.paid', 2, '2026-11-22 12:47:40.428396+00', '2026-11-22 12:47:40.428396+00', NULL, false, false, false),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-944e-7e25-a188-7934090fa762', '01a20311-93fa-7136-b98d-d5b18c6fe312', 'invoice.paid', 2, '2026-11-22 12:45:26.936396+00', '2026-11-22 12:45:26.936396+00', NULL, false, false, false),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-944e-7cd7-b027-d9cad9417db6', '01a20311-9413-7303-b07b-709cf52a09fa', 'invoice.paid', 2, '2026-11-22 12:49:08.499396+00', '2026-11-22 12:49:08.499396+00', NULL, false, false, false),
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-9a94-7326-a2b9-1a8d120f7225', '01a20311-9a79-70fd-87c7-1c1fd1ea6bb8', 'invoice.paid', 1, '2026-11-22 11:43:35.056713+00', '2026-11-22 11:43:35.056713+00', NULL, false, false, false),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9a94-76b0-af19-6a5e80ad5609', '01a20311-9a79-70fd-87c7-1c1fd1ea6bb8', 'invoice.paid', 1, '2026-11-22 11:43:35.056713+00', '2026-11-22 11:43:35.056713+00', NULL, false, false, false),
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', '01a20311-9d75-7a19-99d8-c7ee7ac45781', '01a20311-9d6f-7140-939a-60663eea9b0b', 'invoice.paid', 1, '2026-11-22 11:43:35.794836+00', '2026-11-22 11:43:35.794836+00', NULL, false, false, false),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9d75-7b2a-8d74-e58b4358a3a9', '01a20311-9d6f-7140-939a-60663eea9b0b', 'invoice.paid', 1, '2026-11-22 11:43:35.794836+00', '2026-11-22 11:43:35.794836+00', NULL, false, false, false),
	('acme', '01a20311-9d5c-7388-81be-137830013105', '01a20311-9d75-74eb-9f50-67f0a6038428', '01a20311-9d6f-7140-939a-60663eea9b0b', 'invoice.paid', 1, '2026-11-22 11:43:35.794836+00', '2026-11-22 11:43:35.794836+00', NULL, true, false, false);


--
-- Data for Name: endpoints; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.endpoints VALUES
	('acme', '01a20311-939b-718c-8bb4-e67d4baea32a', 'https://127.0.0.1:41413/works', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x0177f8a1e2cb0911600f658d0eb5bb1f70e16d643cda2d4dc51818bd7733d6e0692532f921f6b71f0d445f966056705189dbcea4cc42041d198b8d766dcb70282518d0bb08d714704b5ef0e4134aded70a4f08', '\x0177f8a1e2cdcc6b4846757d9d249f4549e3dc9391f2787174d603645d37de66ce444ebf6703fc17782680430d195bee8e03ebdd16672ff0a82ce18fa2ac651e576452d378d79365e6a5cfd799dcf4e10516f7', '2026-11-22 12:43:33.319042+00', NULL, '2026-11-22 11:43:33.276+00', '2026-11-22 11:43:33.319+00', NULL, false, '{}', '\x0177f8a1e21d79e9a43a8ea799f710f8a7aeee553b5529bfdc093c847566c344ca5109a4a71363506df9df25c63bc5818e9ddb2bac16b55fa6902175e9c799b00cff82e5'),
	('acme', '01a20311-93af-72b2-88b8-fe671cab571e', 'https://127.0.0.1:41413/fails', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x0177f8a1e2f4040638d07f369f128fbffbeff02d9a472a92ad1b2fd573b576c148a2ad5b35d7735921e16d7bd4d7f98ed19c49a4449f756cca68ff34f7824ff84d4f38a4310c1b619c1687a6519cac7801cddc', NULL, NULL, '2026-11-22 11:43:33.391481+00', '2026-11-22 11:43:33.295+00', '2026-11-22 11:43:33.295+00', NULL, false, '{}', '\x0177f8a1e2bee6b1eee45c6673cc34d6ac43a419299acb3dd1878b988a00d76fe0c5e9706232b2a8604a57444b66ed653e57d8e79bf13d2c19df4e58cb8b2fc164203575'),
	('acme', '01a20311-9d5c-7388-81be-137830013105', 'https://127.0.0.1:41413/held', '{invoice.*}', NULL, false, 'manual', NULL, '{"authorization":"[masked]"}', '{}', '\x0177f8a1e2b3c35951973de78c806d04512978fe088c5b8ab7e82729fd238d7b676b99c84fa8a26bc1ae8f0c66f67fc9acb118f3c44c2975477a7929fc9a2d6e2c46f87765a39fc635302ef367266d36a1f9ec', NULL, NULL, NULL, '2026-11-22 11:43:35.778+00', '2026-11-22 11:43:35.802+00', NULL, false, '{}', '\x0177f8a1e2b4625770876e0382d95dfca480eb00a564e3b82cdc45d6d7fc475cfa43047ab47874a8ef539fbc8e0cc7362d5a31c1838f9de06f0d227aabdfe80a3b6969');


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
	('acme', '01a20311-93df-71cb-85ec-48d029f5b195', 'invoice.paid', '{"id":"01a20311-93df-71cb-85ec-48d029f5b195","event":"invoice.paid","created_at":"2026-11-22T11:43:33.343Z","data":{"note":"over 0"}}', 2),
	('acme', '01a20311-93fa-7136-b98d-d5b18c6fe312', 'invoice.paid', '{"id":"01a20311-93fa-7136-b98d-d5b18c6fe312","event":"invoice.paid","created_at":"2026-11-22T11:43:33.370Z","data":{"note":"over 1"}}', 2),
	('acme', '01a20311-9413-7303-b07b-709cf52a09fa', 'invoice.paid', '{"id":"01a20311-9413-7303-b07b-709cf52a09fa","event":"invoice.paid","created_at":"2026-11-22T11:43:33.395Z","data":{"note":"over 2"}}', 2),
	('acme', '01a20311-97a3-7146-921d-b363ab43351c', 'storage.export.ready', '{"id":"01a20311-97a3-7146-921d-b363ab43351c","event":"storage.export.ready","created_at":"2026-11-22T11:43:34.307Z","data":{"export_id":"01a20311-9499-715f-9c4b-df8f26a26365","object_id":"91e76564-f9eb-4b51-bacb-90d464e9f430","expires_at":"2036-11-19T11:43:34.291Z"}}', 0),
	('acme', '01a20311-9a79-70fd-87c7-1c1fd1ea6bb8', 'invoice.paid', '{"id":"01a20311-9a79-70fd-87c7-1c1fd1ea6bb8","event":"invoice.paid","created_at":"2026-11-22T11:43:35.033Z","data":{"note":"pending"}}', 2),
	('acme', '01a20311-9d6f-7140-939a-60663eea9b0b', 'invoice.paid', '{"id":"01a20311-9d6f-7140-939a-60663eea9b0b","event":"invoice.paid","created_at":"2026-11-22T11:43:35.791Z","data":{"note":"held"}}', 3);


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
	('c54098db-c661-4132-b34a-5fafde8430d9', 'api+worker', '2026-11-22 11:43:33.226378+00', '2026-11-22 11:43:33.226378+00'),
	('7d1ca46e-b6c2-44f8-b658-d49977d3468b', 'api', '2026-11-22 11:43:35.006842+00', '2026-11-22 11:43:35.006842+00'),
	('801d0d00-1f8f-4c12-99c5-a8121fe9366d', 'api', '2026-11-22 11:43:35.751726+00', '2026-11-22 11:43:35.751726+00');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: outbox; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.outbox VALUES
	('01a20311-9aa2-7758-81ed-38ab761ecb89', 'acme', 'invoice.paid', '{"id":"01a20311-9aa2-7758-81ed-38ab761ecb89","event":"invoice.paid","created_at":"2026-11-22T11:43:35.074Z","data":{"note": "from SQL"}}');


--
-- Data for Name: person_sends; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: schema_functions; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_functions OVERRIDING SYSTEM VALUE VALUES
	(1, 'functions/attach_staged.sql', '1320185bbac7b13f03189c49d23cd1a128389eec4497a981488f856aaf364c36', '2026-11-22 11:43:32.853538+00'),
	(2, 'functions/content_fingerprint.sql', '509dbdd1fa6e5c86284d162576369533dba7f20d9611bb432491c61d58db7077', '2026-11-22 11:43:32.858063+00'),
	(3, 'functions/copy_staged_rows.sql', '947b8cc6dd0b437f6a8dad3e8a83a3d550aeccfed7a44024014fbd7b26d40b8e', '2026-11-22 11:43:32.862046+00'),
	(4, 'functions/copy_to_staged.sql', '42d4bc58c1265463becd46388c9a5f1134ae0bc67edc355c0c31b33834290280', '2026-11-22 11:43:32.866054+00'),
	(5, 'functions/current_tenant.sql', 'a5b3c5f7e7766ea60bb0ae554c056c775ba76857b205ed5325c8e2258610e166', '2026-11-22 11:43:32.870039+00'),
	(6, 'functions/day_of_id.sql', '0fede9f1ac3419f8923f1c847820c7893d96e94801ff992c405b72c2fc17b66e', '2026-11-22 11:43:32.874028+00'),
	(7, 'functions/drop_old_partitions.sql', '0ee6b931ade7b7df8c977f37e670d17e104100fd1039bd83ce65468829bab83e', '2026-11-22 11:43:32.876484+00'),
	(8, 'functions/drop_past_partitions.sql', 'bfa2ef0dfbd68aee9fc0ce8230ce3879bc3f45f878f8a1dec5556346e1c18b24', '2026-11-22 11:43:32.881925+00'),
	(9, 'functions/ensure_partitions.sql', '03efe27cbb8f2d5018478e94d04f0f2815a83a61863b62d2aae2a5147260d3ab', '2026-11-22 11:43:32.885144+00'),
	(10, 'functions/forget_deleted_endpoints.sql', '1da50189e0f7da82c71b4b3154091043efa62a50902d647d7c1525f6ca9277ac', '2026-11-22 11:43:32.886391+00'),
	(11, 'functions/forget_old_audit.sql', '41a6ce7ae4d46c66de21b4bb2cb23513609e9539215989262f03822ade4d1b09', '2026-11-22 11:43:32.890008+00'),
	(12, 'functions/forget_old_storage.sql', '371f23508345dde9061aae1edb84bb5c83d343df636b04bc119bd349fd30b355', '2026-11-22 11:43:32.893306+00'),
	(13, 'functions/lowest_id_at.sql', '1f59c9b90640bc974694463a77b33dc6d4884ec5a1d294eee28f5ccd52e0a2fa', '2026-11-22 11:43:32.897995+00'),
	(14, 'functions/publish.sql', '01001372432fbd619a7840574f98d68b0d5944a5580b8d8106b5cab77412084b', '2026-11-22 11:43:32.901983+00'),
	(15, 'functions/stage_partitions.sql', '453e38a475afbbd678a934c00f2edb0ae4e69b298e9a1ed29e14f74fbbc36270', '2026-11-22 11:43:32.902886+00'),
	(16, 'functions/uuid_v7.sql', '2a94cfdb4f7dce54c788de4f3969d979c4bbf001e47e2ea28f556fbac944fdd8', '2026-11-22 11:43:32.903544+00');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_migrations VALUES
	(1, 'webhooks', '19cb3dc5787135119ce0a093a9e0573888667270217897621a3c7b6d11254881', '2026-11-22 11:43:32.593092+00'),
	(2, 'publish_from_sql', 'a6e3f829d9b254054833816cf6d0a297759b52fbcde97ccf8bd307ef074d52ab', '2026-11-22 11:43:32.640231+00'),
	(3, 'limit_published_size', '6a64076d1ea328b19362ed3c429946f1a7c479d18beac6c5bbb2af3aa5b342fd', '2026-11-22 11:43:32.644573+00'),
	(4, 'roles_and_row_security', 'ef65547691b45ee596be9f41a658bde564c8d0503712c0d299f7d422c1582964', '2026-11-22 11:43:32.646745+00'),
	(5, 'storage', 'aafec681132e165530145a15d48bd6d54ee64bbae27e65ef336b7358fa7052b6', '2026-11-22 11:43:32.653799+00'),
	(6, 'audit_log', '2ab73b397af656f3c44604b8b7c49e5eb8e5c488acfdf37cbc967c5884dfd5fb', '2026-11-22 11:43:32.670195+00'),
	(7, 'exports', '050921e2e53c4e0b07fe3251e2fc3e57fc2fc8cb9b2b27d836c0cb3268ae16a0', '2026-11-22 11:43:32.678957+00'),
	(8, 'floor_under_the_log', '6761ca13d1a22d3019b7046aaa97b08c0ef23b66fd1ba26aec13e99ab0d6fc03', '2026-11-22 11:43:32.68223+00'),
	(9, 'dispatches_follow_in_slices', 'de5263a867cd5e702128570bc114f9f9be98d9f744396f2dc8c5cf7e24477ed7', '2026-11-22 11:43:32.690215+00'),
	(10, 'forget_old_storage', '1a1fcb9c5759bfd31100de26b75825733ac7505eefcd6d8ed406e8daca40c03f', '2026-11-22 11:43:32.694474+00'),
	(11, 'indexes_of_the_log', 'ad0028239c6b7ba4d6b81b7949668574dbd5f84d8a9c62d2c0cc5b569fb75f30', '2026-11-22 11:43:32.697008+00'),
	(12, 'when_an_attempt_was_sent', '69c8c73569f87f3959db1347b907ce5fab60b6d8db05e6f63dc62cd0f9e5c0b1', '2026-11-22 11:43:32.734254+00'),
	(13, 'heartbeats', 'ef4bd9999b8baaece7d1744b08fe8a8cb69482214dd03dedcaef6a716abd1ce1', '2026-11-22 11:43:32.738267+00'),
	(14, 'person_sends', '7fceac120dc5c3cffd5f94311159c496760a7c78f9512fee96437ea037774598', '2026-11-22 11:43:32.746123+00'),
	(15, 'parked_dispatches', '271e9459704d65713cc366a1fbd73aaf62510f5d721d2e44e89077a00f0e0b18', '2026-11-22 11:43:32.758096+00'),
	(16, 'workers', '4bfb7f0d7a530b0d59425a6bfd681974b33876aebf3e3534aae03f676247ba68', '2026-11-22 11:43:32.774227+00'),
	(17, 'own_events_in_the_outbox', '3e82f58bfba9ccf9733c4cad49104eb177bd14589c0b7e157f26c7d742f6fe3c', '2026-11-22 11:43:32.782176+00'),
	(18, 'storage_buckets', '8af31e77d9c8e980a02cfb5fe493abbae990b7bb0e424636e1d886ed316d9d7c', '2026-11-22 11:43:32.786127+00'),
	(19, 'objects_by_digest', 'd067f4c96f19351a8182db0c16e1eddb750d9d16cfe182f3a1ac48d27533cd8a', '2026-11-22 11:43:32.821934+00'),
	(20, 'masked_headers', 'f45ac583b0e2f8fda097151f0aefffe6464aa5a63873df37a04132d7a9d9fc9c', '2026-11-22 11:43:32.824487+00'),
	(21, 'deleted_endpoints', '13d1f9ee8a1be52d4067a3624e7ff91a2f405b96856cbd957d14461ffe19813d', '2026-11-22 11:43:32.834444+00'),
	(22, 'export_filters', '2713f222a15cd3c88e344c0401074b0e14ae1f230686b16ff28f764dcc65b62c', '2026-11-22 11:43:32.83658+00'),
	(23, 'bodies_to_keep', '5a7ae7ba07c2d41100316d99e9fbf27f3d6e8d488e69803c7dca10b88316b3e8', '2026-11-22 11:43:32.842082+00');


--
-- Data for Name: storage_buckets; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.storage_buckets VALUES
	('artifacts', 'c00648ce-cfca-4f89-9984-894dbefe9b11', 1, '2026-11-22 11:43:32.957+00', NULL, NULL);


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
	('acme', '01a20311-9499-715f-9c4b-df8f26a26365', 'ada', '2026-11-22 10:43:33.525+00', '2026-11-22 11:43:33.525+00', NULL, 'ready', 1, 8, 8, 4725, '01a20311-93af-72b2-88b8-fe671cab571e', '01a20311-9481-72cf-882d-52b421704e48', '[]', NULL, NULL, '91e76564-f9eb-4b51-bacb-90d464e9f430', NULL, '2026-11-22 11:43:33.529+00', '2026-11-22 11:43:34.306+00', 1, NULL, NULL, '{ndjson,csv}');


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
	('acme', '24de1ab9-1e64-49b6-bd8b-2ce74e38976b', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9415-7b73-8d7e-e1c36f329c84', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9415-7b73-8d7e-e1c36f329c84/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:43:33.711+00', '2026-11-22 11:43:33.711+00', '2036-11-19 11:43:33.711+00', false, 3),
	('acme', 'ca19ee30-103d-40f3-a0e8-b10e225f938c', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9400-75fb-b4dd-4dd8c2683ae6', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9400-75fb-b4dd-4dd8c2683ae6/a/1/request_body.json', 133, '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', 'application/json', '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', 'available', '2026-11-22 11:43:33.547+00', '2026-11-22 11:43:33.547+00', '2036-11-19 11:43:33.547+00', false, 3),
	('acme', '79f0612b-80a7-4eb1-9f24-8020e910c693', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-93ea-72c7-90bc-ba27e39884f7', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-93ea-72c7-90bc-ba27e39884f7/a/1/request_body.json', 133, '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', 'application/json', '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', 'available', '2026-11-22 11:43:33.537+00', '2026-11-22 11:43:33.537+00', '2036-11-19 11:43:33.537+00', false, 3),
	('acme', '7a40179c-474f-4e30-a7b3-cc4477d8def9', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9400-75fb-b4dd-4dd8c2683ae6', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9400-75fb-b4dd-4dd8c2683ae6/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:43:33.553+00', '2026-11-22 11:43:33.553+00', '2036-11-19 11:43:33.553+00', false, 3),
	('acme', '6d477d99-c140-458f-b2f2-e703648733ff', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-93ea-72c7-90bc-ba27e39884f7', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-93ea-72c7-90bc-ba27e39884f7/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:43:33.564+00', '2026-11-22 11:43:33.564+00', '2036-11-19 11:43:33.564+00', false, 3),
	('acme', '63dd0eb9-9230-4a03-ac36-9306437c8db5', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9400-7e70-8d25-c77c945310cd', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9400-7e70-8d25-c77c945310cd/a/1/request_body.json', 133, '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', 'application/json', '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', '6f894c250dec2f0e010cc69a0f481accd83f931ee64c5287a6903b96c09da3db', 'available', '2026-11-22 11:43:33.691+00', '2026-11-22 11:43:33.691+00', '2036-11-19 11:43:33.691+00', false, 3),
	('acme', '88e9e092-ccf8-4a03-828f-bf63310dad3f', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9400-7e70-8d25-c77c945310cd', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9400-7e70-8d25-c77c945310cd/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:43:33.693+00', '2026-11-22 11:43:33.693+00', '2036-11-19 11:43:33.693+00', false, 3),
	('acme', '4078c0f5-14cd-4fb1-b212-eaf2a69a513b', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9415-7dfb-81fb-e26bcd36bb83', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9415-7dfb-81fb-e26bcd36bb83/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:43:33.638+00', '2026-11-22 11:43:33.638+00', '2036-11-19 11:43:33.638+00', false, 3),
	('acme', '2ac0816f-217f-4682-a93d-28100d2a2622', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9415-7dfb-81fb-e26bcd36bb83', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9415-7dfb-81fb-e26bcd36bb83/a/1/request_body.json', 133, 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'application/json', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'available', '2026-11-22 11:43:33.64+00', '2026-11-22 11:43:33.64+00', '2036-11-19 11:43:33.64+00', false, 3),
	('acme', '8aa00387-9147-4d1c-b903-3e758a903e78', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-93ea-727d-82e6-f3561ed2b038', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-93ea-727d-82e6-f3561ed2b038/a/1/request_body.json', 133, '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', 'application/json', '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', '81f7271c1879c1810d608c9b95d904198b5b96144ecdcbaab6edf1cec489e12b', 'available', '2026-11-22 11:43:33.648+00', '2026-11-22 11:43:33.648+00', '2036-11-19 11:43:33.648+00', false, 3),
	('acme', '5fad13a4-eea3-4353-9824-2efbeaf7f18a', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-93ea-727d-82e6-f3561ed2b038', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-93ea-727d-82e6-f3561ed2b038/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:43:33.674+00', '2026-11-22 11:43:33.674+00', '2036-11-19 11:43:33.674+00', false, 3),
	('acme', '63e5d861-1886-422c-aca5-8b286161816a', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9481-72cf-882d-52b421704e48', 2, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9481-72cf-882d-52b421704e48/a/2/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 11:43:33.757+00', '2026-11-22 11:43:33.757+00', '2036-11-19 11:43:33.757+00', false, 3),
	('acme', '361675aa-af28-4ba2-949d-4344113d0bd6', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9473-7000-b43c-71520f74be5c', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9473-7000-b43c-71520f74be5c/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 11:43:33.726+00', '2026-11-22 11:43:33.726+00', '2036-11-19 11:43:33.726+00', false, 3),
	('acme', '0a064cb1-541a-4804-9c33-439ef958c647', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9415-7b73-8d7e-e1c36f329c84', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9415-7b73-8d7e-e1c36f329c84/a/1/request_body.json', 133, 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'application/json', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'available', '2026-11-22 11:43:33.711+00', '2026-11-22 11:43:33.711+00', '2036-11-19 11:43:33.711+00', false, 3),
	('acme', '9bad58eb-5b2b-4709-ac4d-5ee168ad6b95', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9473-7000-b43c-71520f74be5c', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9473-7000-b43c-71520f74be5c/a/1/request_body.json', 162, 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'application/json', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'available', '2026-11-22 11:43:33.726+00', '2026-11-22 11:43:33.726+00', '2036-11-19 11:43:33.726+00', false, 3),
	('acme', '54ebf61b-1a7e-46c1-970b-54cda3222991', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9481-72cf-882d-52b421704e48', 2, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9481-72cf-882d-52b421704e48/a/2/request_body.json', 133, 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'application/json', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'e81e28d918fc7af1a17b8845cdc866a9ab77d6b317b3e18387dff4b6090021dc', 'available', '2026-11-22 11:43:33.756+00', '2026-11-22 11:43:33.756+00', '2036-11-19 11:43:33.756+00', false, 3),
	('acme', '91e76564-f9eb-4b51-bacb-90d464e9f430', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20311-9499-715f-9c4b-df8f26a26365', 1, 'export', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20311-9499-715f-9c4b-df8f26a26365/a/1/export.zip', 4725, 'f47ef220d8dafcc31c24258fe11fb0a756d92bc5ba8b42eb33d2705faa25c1c4', 'application/zip', 'f47ef220d8dafcc31c24258fe11fb0a756d92bc5ba8b42eb33d2705faa25c1c4', 'f47ef220d8dafcc31c24258fe11fb0a756d92bc5ba8b42eb33d2705faa25c1c4', 'available', '2026-11-22 11:43:34.291+00', '2026-11-22 11:43:34.291+00', '2036-11-19 11:43:34.291+00', false, 3);


--
-- Data for Name: tenant_settings; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.tenant_settings VALUES
	('acme', true, true, NULL, '2026-11-22 11:43:33.259+00');


--
-- Data for Name: workers; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Name: schema_functions_id_seq; Type: SEQUENCE SET; Schema: postern; Owner: -
--

SELECT pg_catalog.setval('postern.schema_functions_id_seq', 16, true);


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
-- Name: endpoints_deleted; Type: INDEX; Schema: postern; Owner: -
--

CREATE INDEX endpoints_deleted ON postern.endpoints USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


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
-- Name: bodies_to_keep owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.bodies_to_keep TO postern_owner USING (true);


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
-- Name: bodies_to_keep tenant; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY tenant ON postern.bodies_to_keep TO postern_tenant USING ((tenant_id = postern.current_tenant()));


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
-- Name: bodies_to_keep worker; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY worker ON postern.bodies_to_keep TO postern_worker USING (true);


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


