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
-- Name: count_deliveries(); Type: FUNCTION; Schema: postern; Owner: -
--

CREATE FUNCTION postern.count_deliveries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
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
	('acme', '01a20321-7860-7046-bd30-e553a3187b0c', '2026-11-22 12:00:54.88+00', 'user', 'ada', 'storage_settings.updated', NULL, 'done', '{"artifact_days": null, "keep_request_bodies": true, "keep_response_bodies": true}', 'b71fe214-76c1-4459-9d44-2aec59e2b416', '127.0.0.1'),
	('acme', '01a20321-787c-733d-bf42-2a033f26dae9', '2026-11-22 12:00:54.908+00', 'user', 'ada', 'endpoint.created', '01a20321-7878-71dc-a079-e4f485fdfb74', 'done', '{"url": "https://127.0.0.1:44713/works", "events": ["invoice.*"], "enabled": true}', '51d02798-4881-46f6-b4ba-db9f46ab3560', '127.0.0.1'),
	('acme', '01a20321-789e-7262-9472-413ffc67ccf3', '2026-11-22 12:00:54.942+00', 'user', 'ada', 'endpoint.created', '01a20321-788c-7017-808a-338f5398417f', 'done', '{"url": "https://127.0.0.1:44713/fails", "events": ["invoice.*"], "enabled": true}', 'b167d666-8eae-4e2d-9b6c-14561bcebbf3', '127.0.0.1'),
	('acme', '01a20321-78b4-73f5-8139-cec771d11201', '2026-11-22 12:00:54.964+00', 'user', 'ada', 'secret.rotated', '01a20321-7878-71dc-a079-e4f485fdfb74', 'done', '{"grace_seconds": 3600}', '639212c8-1069-4766-ac30-a633fd006104', '127.0.0.1'),
	('acme', '01a20321-795a-71c8-b722-7b4ec4ac4059', '2026-11-22 12:00:55.13+00', 'user', 'ada', 'endpoint.tested', '01a20321-7878-71dc-a079-e4f485fdfb74', 'done', '{"status": "test", "event_type": "invoice.paid", "delivery_id": "01a20321-7941-70e4-bec5-193612eda415"}', '1f86a4d9-6b0d-4cc0-bb82-ed44db6701ee', '127.0.0.1'),
	('acme', '01a20321-796d-72b8-8e7b-65c24c1aec84', '2026-11-22 12:00:55.149+00', 'user', 'ada', 'delivery.retried', '01a20321-788c-7017-808a-338f5398417f', 'done', '{"status": "failed", "retry_id": "01a20321-7968-70fe-bdca-2f627500163e", "delivery_id": "01a20321-78f4-75d2-bfab-e59aa49cbd52"}', 'e72e7124-d6f5-4964-8283-b5ab9266ad09', '127.0.0.1'),
	('acme', '01a20321-7983-7260-82f7-5fd176f89994', '2026-11-22 12:00:55.171+00', 'user', 'ada', 'export.requested', NULL, 'done', '{"to": "2026-11-22T12:00:55.154Z", "from": "2026-11-22T11:00:55.154Z", "formats": ["ndjson", "csv"], "export_id": "01a20321-7976-738c-85b2-b96ecfaed64d", "event_type": null, "delivery_status": null}', 'bd3b5f48-9975-491c-83a6-7dd84e0eef7d', '127.0.0.1'),
	('acme', '01a20321-81f9-73cb-bc6c-e5597d4b66cd', '2026-11-22 12:00:57.337+00', 'user', 'ada', 'endpoint.created', '01a20321-81ee-73f0-8ca3-9e23dadf0883', 'done', '{"url": "https://127.0.0.1:44713/held", "events": ["invoice.*"], "enabled": true}', '048f936e-b6a1-4a39-a8ad-d159a503b536', '127.0.0.1'),
	('acme', '01a20321-8211-72f5-a01f-c9cc5b6d8943', '2026-11-22 12:00:57.361+00', 'user', 'ada', 'endpoint.disabled', '01a20321-81ee-73f0-8ca3-9e23dadf0883', 'done', '{"reason": "manual"}', '800995a6-327f-4a17-894d-714cb3c1ff9e', '127.0.0.1');


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
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-78cf-7763-9d92-5dd640acee9c', '01a20321-78c7-7006-a7f4-0155bb58dc4a', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=bb149892f4a0552638035a8304c9f49b09f64a838841db223793febed6cf70cd","X-Service-Timestamp":"1795348854","webhook-signature":"v1,P2+YBkku8pk6Gtxw19+8cj9CgX6e4U0tq27ugkxk6II= v1,5Jkzz+vf0J/PmCAJs238QshSb3zXaQAOFB7zZRyJlvU=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 22, NULL, '2026-11-22 12:00:54.997+00', NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-78cf-79e6-b953-4741c27e5b90', '01a20321-78c7-7006-a7f4-0155bb58dc4a', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=c6e4f353fc3efdc20e6f0b28253141cb57542942cc6401b04c0747cfcf3b5c1a","X-Service-Timestamp":"1795348854","webhook-signature":"v1,0higDB8KS3YR/nE5a7ccOxrBR1k+3v8t+XQbuSU5hKw=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 20, NULL, '2026-11-22 12:00:54.997+00', NULL),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-78dc-7ac3-ba01-77ba92b4e322', '01a20321-78d9-7277-945d-da4114aec4b4', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=39bd7d1838b1cfe68b1c4a5c9ed36c017157cc694ee9a0f5dc9fea7ed0a7d632","X-Service-Timestamp":"1795348855","webhook-signature":"v1,vR5oTojnMy7mxOhcAUcL30Ifqr0UttYzrYa5Gs3DHfI= v1,rjL7uLePIs5qZf1D/+Gv4l7EESP5tCQMfjyIjajuBoE=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 19, NULL, '2026-11-22 12:00:55.009+00', NULL),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-78f4-70e9-8d68-532e092494b1', '01a20321-78f0-71c3-a135-cf150176ec4e', NULL, 'invoice.paid', 'event', 'delivered', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=3525207bd04f45d13016d281c269b6f02ca24ba1412feb7d05678fb63162820a","X-Service-Timestamp":"1795348855","webhook-signature":"v1,0vitcIvdidLl7vh8MEouKn7ieFI8F5q08ZPyuh1IFT0= v1,3P311sgOb8el17lPXBqBgzPJI+iY6cYmHaLoxxHuk+0=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 5, NULL, '2026-11-22 12:00:55.03+00', NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-78dc-7021-99c7-de948ee22377', '01a20321-78d9-7277-945d-da4114aec4b4', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=ca5214e69a344de11e7a5cad4676c7aae60d6a7241a22baad9c7453dac4751ae","X-Service-Timestamp":"1795348855","webhook-signature":"v1,p59dy4T+TTWmsElKv5V31aIT+c9VoDGMV78Td/zg+is=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 19, NULL, '2026-11-22 12:00:55.009+00', NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-78f4-75d2-bfab-e59aa49cbd52', '01a20321-78f0-71c3-a135-cf150176ec4e', NULL, 'invoice.paid', 'event', 'failed', 1, NULL, '{"User-Agent":"Postern/0.2.0","X-Service-Signature":"sha256=d3f667eecc2957096858a58fb73735a531022d3019864bc361338f0481da9abe","X-Service-Timestamp":"1795348855","webhook-signature":"v1,O1P+4QkKXVxpqjm51ARpCij69bEKav81kkv8/MPPxoc=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 2, NULL, '2026-11-22 12:00:55.03+00', NULL),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-7941-70e4-bec5-193612eda415', NULL, '01a20321-7941-70e4-bec5-193612eda415', 'invoice.paid', 'test', 'test', 1, '{"event":"invoice.paid","data":{"invoice_id":"inv_1042","customer_id":"cus_77","amount":12900,"currency":"EUR","paid_at":"2026-01-31T09:30:00.000Z"},"_test":true}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=569f681be18133c6f40546d4c1b8bfdfe3d1483dcfd11035e03d8d0426a80a10","X-Service-Timestamp":"1795348855","X-Service-Event":"invoice.paid","X-Service-Delivery":"test-1795348855105","webhook-id":"01a20321-7941-70e4-bec5-193612eda415","webhook-timestamp":"1795348855","webhook-signature":"v1,NesXfh1n/UuF/kF8UUUFpRtxMBkF32XLMeTPg710ijE= v1,0evpMgS8SgAvyeqiqzrWH6/vq3dOg/8ptOd1t6FnuE8=","authorization":"[masked]"}', 200, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /works answer of /wor', 7, NULL, '2026-11-22 12:00:55.105+00', NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-7968-70fe-bdca-2f627500163e', '01a20321-78f0-71c3-a135-cf150176ec4e', NULL, 'invoice.paid', 'retry', 'failed', 2, '{"id":"01a20321-78f0-71c3-a135-cf150176ec4e","event":"invoice.paid","created_at":"2026-11-22T12:00:55.024Z","data":{"note":"over 2"}}', '{"Content-Type":"application/json","User-Agent":"Postern/0.2.0","Accept-Encoding":"identity","X-Service-Signature":"sha256=d3f667eecc2957096858a58fb73735a531022d3019864bc361338f0481da9abe","X-Service-Timestamp":"1795348855","X-Service-Event":"invoice.paid","X-Service-Delivery":"01a20321-78f4-75d2-bfab-e59aa49cbd52","webhook-id":"01a20321-78f0-71c3-a135-cf150176ec4e","webhook-timestamp":"1795348855","webhook-signature":"v1,O1P+4QkKXVxpqjm51ARpCij69bEKav81kkv8/MPPxoc=","authorization":"[masked]"}', 500, '{"date":"Sun, 22 Nov 2026 12:00:55 GMT","connection":"keep-alive","keep-alive":"timeout=5","transfer-encoding":"chunked"}', 'answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fails answer of /fai', 3, NULL, '2026-11-22 12:00:55.144+00', NULL);


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
	('acme', '01a20321-788c-7017-808a-338f5398417f', '2026-11-22 12:00:00+00', 'http_500', 1, 1, 20, 20, '01a20321-78cf-79e6-b953-4741c27e5b90', '01a20321-78cf-79e6-b953-4741c27e5b90'),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '2026-11-22 12:00:00+00', '', 1, 1, 22, 22, '01a20321-78cf-7763-9d92-5dd640acee9c', '01a20321-78cf-7763-9d92-5dd640acee9c'),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '2026-11-22 12:00:00+00', 'http_500', 2, 2, 21, 19, '01a20321-78dc-7021-99c7-de948ee22377', '01a20321-78f4-75d2-bfab-e59aa49cbd52'),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '2026-11-22 12:00:00+00', '', 2, 2, 24, 19, '01a20321-78dc-7ac3-ba01-77ba92b4e322', '01a20321-78f4-70e9-8d68-532e092494b1'),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '2026-11-22 12:00:00+00', 'http_500', 1, 1, 3, 3, '01a20321-7968-70fe-bdca-2f627500163e', '01a20321-7968-70fe-bdca-2f627500163e');


--
-- Data for Name: delivery_stats; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: dispatches; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.dispatches VALUES
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-78f3-7f7f-9a01-8073a00a2203', '01a20321-78c7-7006-a7f4-0155bb58dc4a', 'invoice.paid', 2, '2026-11-22 13:01:55.428291+00', '2026-11-22 13:01:55.428291+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-792b-71fe-9bb7-8e3c732a6275', '01a20321-78d9-7277-945d-da4114aec4b4', 'invoice.paid', 2, '2026-11-22 13:05:29.724359+00', '2026-11-22 13:05:29.724359+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-792b-771a-9801-859ea4bb5713', '01a20321-78f0-71c3-a135-cf150176ec4e', 'invoice.paid', 2, '2026-11-22 13:05:37.088359+00', '2026-11-22 13:05:37.088359+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-7f56-7c9d-87c9-ccf5a3ff2630', '01a20321-7f4d-71fd-b33f-5a97a1d24509', 'invoice.paid', 1, '2026-11-22 12:00:56.658923+00', '2026-11-22 12:00:56.658923+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-7f56-7485-adea-d76e01b27d43', '01a20321-7f4d-71fd-b33f-5a97a1d24509', 'invoice.paid', 1, '2026-11-22 12:00:56.658923+00', '2026-11-22 12:00:56.658923+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', '01a20321-8206-79ed-a499-21571ba745a3', '01a20321-8200-7104-bd90-7f25d9453b26', 'invoice.paid', 1, '2026-11-22 12:00:57.347911+00', '2026-11-22 12:00:57.347911+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-788c-7017-808a-338f5398417f', '01a20321-8206-75a3-91d7-049519e425da', '01a20321-8200-7104-bd90-7f25d9453b26', 'invoice.paid', 1, '2026-11-22 12:00:57.347911+00', '2026-11-22 12:00:57.347911+00', NULL, false, false, false, false, NULL),
	('acme', '01a20321-81ee-73f0-8ca3-9e23dadf0883', '01a20321-8206-7bc2-b752-a91872870d74', '01a20321-8200-7104-bd90-7f25d9453b26', 'invoice.paid', 1, '2026-11-22 12:00:57.347911+00', '2026-11-22 12:00:57.347911+00', NULL, true, false, false, false, NULL);


--
-- Data for Name: endpoints; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.endpoints VALUES
	('acme', '01a20321-7878-71dc-a079-e4f485fdfb74', 'https://127.0.0.1:44713/works', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x01af37eba88261a6f99c5da54a9923a499d7e0cec9c7ccf7227f08b2eb3cc542437349cefe0ec09da77d1ab51599f183fb48d7002f54a17b6ba40f2a86c920bb05439c95a211fb664f2a566b987ddfd0838545', '\x01af37eba8e94c0aa2c9e6e0fd8191d36d0dbf96c71c75c28d47e64e4b99a5017d326a18d3d5f9f99c916f695938f6fe68842908dc22944d0723a6728b8978b9aba21d1554d8c0ae56a01833d184afe55fd499', '2026-11-22 13:00:54.957985+00', NULL, '2026-11-22 12:00:54.905+00', '2026-11-22 12:00:54.957+00', NULL, false, '{}', '\x01af37eba8af63e912e6f1e1b61d58b93dc9978b61485480c826eec506fe7c200343dc6ae737fd5174f2fd7c392d22959ec75f5209e6a43080325560ff9c956a50ba56ac'),
	('acme', '01a20321-788c-7017-808a-338f5398417f', 'https://127.0.0.1:44713/fails', '{invoice.*}', NULL, true, NULL, NULL, '{"authorization":"[masked]"}', '{}', '\x01af37eba8ebf8fe78386b6bcdafd9c069ec5e53b62734e79eab23d30e21c8d4d164825a19810136799efa810342db98bc724f4cc0b0825d9599a9f65b3295790b4b5e0e135bc70c47e0d4fa323fcbe549fb6d', NULL, NULL, '2026-11-22 12:00:55.019344+00', '2026-11-22 12:00:54.925+00', '2026-11-22 12:00:54.925+00', NULL, false, '{}', '\x01af37eba811159cb2381f5befaa5162b4f25b9bd47817de29d342563999fb32b6cafb95a3d0dc76bbceb2e75889866eb7820c3203504ee134e6c8076f47e4ae415ce327'),
	('acme', '01a20321-81ee-73f0-8ca3-9e23dadf0883', 'https://127.0.0.1:44713/held', '{invoice.*}', NULL, false, 'manual', NULL, '{"authorization":"[masked]"}', '{}', '\x01af37eba87b28f00f28668ef6a22415810acca5f3093321380982b8bfd608adda9c3050226bfd098ad9ddc4a5fbad65f5d5760ca8e585c074d73192f71c3c72d3ad66c49c154979389cfb1c8a20b5e11f089b', NULL, NULL, NULL, '2026-11-22 12:00:57.333+00', '2026-11-22 12:00:57.357+00', NULL, false, '{}', '\x01af37eba8acf2c5592ce6a5ff57034bc22113935559441f36ad73008b4777f338af76170f4db9cf17f961d10fcdce4fddb1644f8ee7e1dab856f250fb9f5db19776a9');


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
	('acme', '01a20321-78c7-7006-a7f4-0155bb58dc4a', 'invoice.paid', '{"id":"01a20321-78c7-7006-a7f4-0155bb58dc4a","event":"invoice.paid","created_at":"2026-11-22T12:00:54.983Z","data":{"note":"over 0"}}', 2),
	('acme', '01a20321-78d9-7277-945d-da4114aec4b4', 'invoice.paid', '{"id":"01a20321-78d9-7277-945d-da4114aec4b4","event":"invoice.paid","created_at":"2026-11-22T12:00:55.001Z","data":{"note":"over 1"}}', 2),
	('acme', '01a20321-78f0-71c3-a135-cf150176ec4e', 'invoice.paid', '{"id":"01a20321-78f0-71c3-a135-cf150176ec4e","event":"invoice.paid","created_at":"2026-11-22T12:00:55.024Z","data":{"note":"over 2"}}', 2),
	('acme', '01a20321-7c72-7064-8501-1bbcdbf2ccd9', 'storage.export.ready', '{"id":"01a20321-7c72-7064-8501-1bbcdbf2ccd9","event":"storage.export.ready","created_at":"2026-11-22T12:00:55.922Z","data":{"export_id":"01a20321-7976-738c-85b2-b96ecfaed64d","object_id":"2ad8c28a-6e5d-4afb-ad78-5d8e66b0d516","expires_at":"2036-11-19T12:00:55.906Z"}}', 0),
	('acme', '01a20321-7f4d-71fd-b33f-5a97a1d24509', 'invoice.paid', '{"id":"01a20321-7f4d-71fd-b33f-5a97a1d24509","event":"invoice.paid","created_at":"2026-11-22T12:00:56.653Z","data":{"note":"pending"}}', 2),
	('acme', '01a20321-8200-7104-bd90-7f25d9453b26', 'invoice.paid', '{"id":"01a20321-8200-7104-bd90-7f25d9453b26","event":"invoice.paid","created_at":"2026-11-22T12:00:57.344Z","data":{"note":"held"}}', 3);


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
	('24475745-bb2c-4926-a779-c0e704fe0da0', 'api+worker', '2026-11-22 12:00:54.832001+00', '2026-11-22 12:00:54.832001+00'),
	('33e7dfc0-83e2-4408-bc4a-8547c213ed4c', 'api', '2026-11-22 12:00:56.642571+00', '2026-11-22 12:00:56.642571+00'),
	('c7964be3-ef6c-4199-a449-515a4768f42d', 'api', '2026-11-22 12:00:57.310603+00', '2026-11-22 12:00:57.310603+00');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: outbox; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.outbox VALUES
	('01a20321-7f5f-7ae5-949a-75f69aa207f0', 'acme', 'invoice.paid', '{"id":"01a20321-7f5f-7ae5-949a-75f69aa207f0","event":"invoice.paid","created_at":"2026-11-22T12:00:56.671Z","data":{"note": "from SQL"}}');


--
-- Data for Name: person_sends; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: replays; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Data for Name: schema_functions; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_functions OVERRIDING SYSTEM VALUE VALUES
	(1, 'functions/attach_staged.sql', '1320185bbac7b13f03189c49d23cd1a128389eec4497a981488f856aaf364c36', '2026-11-22 12:00:54.586892+00'),
	(2, 'functions/content_fingerprint.sql', '509dbdd1fa6e5c86284d162576369533dba7f20d9611bb432491c61d58db7077', '2026-11-22 12:00:54.587894+00'),
	(3, 'functions/copy_staged_rows.sql', '947b8cc6dd0b437f6a8dad3e8a83a3d550aeccfed7a44024014fbd7b26d40b8e', '2026-11-22 12:00:54.588572+00'),
	(4, 'functions/copy_to_staged.sql', '42d4bc58c1265463becd46388c9a5f1134ae0bc67edc355c0c31b33834290280', '2026-11-22 12:00:54.589174+00'),
	(5, 'functions/count_deliveries.sql', '1a21da2357df90c193e0f4809003a74406410bc2d6262aca56e237c12829ec47', '2026-11-22 12:00:54.589736+00'),
	(6, 'functions/current_tenant.sql', 'a5b3c5f7e7766ea60bb0ae554c056c775ba76857b205ed5325c8e2258610e166', '2026-11-22 12:00:54.590312+00'),
	(7, 'functions/day_of_id.sql', '0fede9f1ac3419f8923f1c847820c7893d96e94801ff992c405b72c2fc17b66e', '2026-11-22 12:00:54.590745+00'),
	(8, 'functions/drop_old_partitions.sql', '0ee6b931ade7b7df8c977f37e670d17e104100fd1039bd83ce65468829bab83e', '2026-11-22 12:00:54.591468+00'),
	(9, 'functions/drop_past_partitions.sql', 'bfa2ef0dfbd68aee9fc0ce8230ce3879bc3f45f878f8a1dec5556346e1c18b24', '2026-11-22 12:00:54.592046+00'),
	(10, 'functions/ensure_partitions.sql', '03efe27cbb8f2d5018478e94d04f0f2815a83a61863b62d2aae2a5147260d3ab', '2026-11-22 12:00:54.592897+00'),
	(11, 'functions/forget_deleted_endpoints.sql', '1da50189e0f7da82c71b4b3154091043efa62a50902d647d7c1525f6ca9277ac', '2026-11-22 12:00:54.593808+00'),
	(12, 'functions/forget_old_audit.sql', '41a6ce7ae4d46c66de21b4bb2cb23513609e9539215989262f03822ade4d1b09', '2026-11-22 12:00:54.59441+00'),
	(13, 'functions/forget_old_storage.sql', '371f23508345dde9061aae1edb84bb5c83d343df636b04bc119bd349fd30b355', '2026-11-22 12:00:54.596368+00'),
	(14, 'functions/lowest_id_at.sql', '1f59c9b90640bc974694463a77b33dc6d4884ec5a1d294eee28f5ccd52e0a2fa', '2026-11-22 12:00:54.597603+00'),
	(15, 'functions/publish.sql', '01001372432fbd619a7840574f98d68b0d5944a5580b8d8106b5cab77412084b', '2026-11-22 12:00:54.59847+00'),
	(16, 'functions/stage_partitions.sql', '453e38a475afbbd678a934c00f2edb0ae4e69b298e9a1ed29e14f74fbbc36270', '2026-11-22 12:00:54.599187+00'),
	(17, 'functions/uuid_v7.sql', 'a63ec3c017e1caa535e3a99b7ba125a3203538b3847ff17499917c3623783f1d', '2026-11-22 12:00:54.599775+00');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.schema_migrations VALUES
	(1, 'webhooks', '19cb3dc5787135119ce0a093a9e0573888667270217897621a3c7b6d11254881', '2026-11-22 12:00:54.385463+00'),
	(2, 'publish_from_sql', 'a6e3f829d9b254054833816cf6d0a297759b52fbcde97ccf8bd307ef074d52ab', '2026-11-22 12:00:54.445538+00'),
	(3, 'limit_published_size', '6a64076d1ea328b19362ed3c429946f1a7c479d18beac6c5bbb2af3aa5b342fd', '2026-11-22 12:00:54.449213+00'),
	(4, 'roles_and_row_security', 'ef65547691b45ee596be9f41a658bde564c8d0503712c0d299f7d422c1582964', '2026-11-22 12:00:54.451918+00'),
	(5, 'storage', 'aafec681132e165530145a15d48bd6d54ee64bbae27e65ef336b7358fa7052b6', '2026-11-22 12:00:54.462029+00'),
	(6, 'audit_log', '2ab73b397af656f3c44604b8b7c49e5eb8e5c488acfdf37cbc967c5884dfd5fb', '2026-11-22 12:00:54.484989+00'),
	(7, 'exports', '050921e2e53c4e0b07fe3251e2fc3e57fc2fc8cb9b2b27d836c0cb3268ae16a0', '2026-11-22 12:00:54.48835+00'),
	(8, 'floor_under_the_log', '6761ca13d1a22d3019b7046aaa97b08c0ef23b66fd1ba26aec13e99ab0d6fc03', '2026-11-22 12:00:54.489129+00'),
	(9, 'dispatches_follow_in_slices', 'de5263a867cd5e702128570bc114f9f9be98d9f744396f2dc8c5cf7e24477ed7', '2026-11-22 12:00:54.491056+00'),
	(10, 'forget_old_storage', '1a1fcb9c5759bfd31100de26b75825733ac7505eefcd6d8ed406e8daca40c03f', '2026-11-22 12:00:54.492875+00'),
	(11, 'indexes_of_the_log', 'ad0028239c6b7ba4d6b81b7949668574dbd5f84d8a9c62d2c0cc5b569fb75f30', '2026-11-22 12:00:54.495678+00'),
	(12, 'when_an_attempt_was_sent', '69c8c73569f87f3959db1347b907ce5fab60b6d8db05e6f63dc62cd0f9e5c0b1', '2026-11-22 12:00:54.522111+00'),
	(13, 'heartbeats', 'ef4bd9999b8baaece7d1744b08fe8a8cb69482214dd03dedcaef6a716abd1ce1', '2026-11-22 12:00:54.523181+00'),
	(14, 'person_sends', '7fceac120dc5c3cffd5f94311159c496760a7c78f9512fee96437ea037774598', '2026-11-22 12:00:54.525684+00'),
	(15, 'parked_dispatches', '271e9459704d65713cc366a1fbd73aaf62510f5d721d2e44e89077a00f0e0b18', '2026-11-22 12:00:54.529064+00'),
	(16, 'workers', '4bfb7f0d7a530b0d59425a6bfd681974b33876aebf3e3534aae03f676247ba68', '2026-11-22 12:00:54.533276+00'),
	(17, 'own_events_in_the_outbox', '3e82f58bfba9ccf9733c4cad49104eb177bd14589c0b7e157f26c7d742f6fe3c', '2026-11-22 12:00:54.535228+00'),
	(18, 'storage_buckets', '8af31e77d9c8e980a02cfb5fe493abbae990b7bb0e424636e1d886ed316d9d7c', '2026-11-22 12:00:54.535694+00'),
	(19, 'objects_by_digest', 'd067f4c96f19351a8182db0c16e1eddb750d9d16cfe182f3a1ac48d27533cd8a', '2026-11-22 12:00:54.542239+00'),
	(20, 'masked_headers', 'f45ac583b0e2f8fda097151f0aefffe6464aa5a63873df37a04132d7a9d9fc9c', '2026-11-22 12:00:54.542555+00'),
	(21, 'deleted_endpoints', '13d1f9ee8a1be52d4067a3624e7ff91a2f405b96856cbd957d14461ffe19813d', '2026-11-22 12:00:54.544438+00'),
	(22, 'export_filters', '2713f222a15cd3c88e344c0401074b0e14ae1f230686b16ff28f764dcc65b62c', '2026-11-22 12:00:54.5446+00'),
	(23, 'bodies_to_keep', '5a7ae7ba07c2d41100316d99e9fbf27f3d6e8d488e69803c7dca10b88316b3e8', '2026-11-22 12:00:54.545748+00'),
	(24, 'events_of_tenant', 'e2253da60146c4bad3fda23ad200927fe342aedd8ef5d197590c5a9b4c9f39e8', '2026-11-22 12:00:54.550062+00'),
	(25, 'dispatches_made_once', 'e33f3ac062a6af871ffbbc41bf196a10af3e1aea8dcddf8810422d2b5e23a18c', '2026-11-22 12:00:54.557203+00'),
	(26, 'replays', '631a65733fceee3db068dbfb9f0ba1bf463a41ebd63c7cca0bcf47afc546f03f', '2026-11-22 12:00:54.558031+00'),
	(27, 'delivery_statistics', 'f58e7b46cbc3d940d4997b003bff0f69c8cf5802c8a03c51bf0805a690fb8144', '2026-11-22 12:00:54.580482+00');


--
-- Data for Name: storage_buckets; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.storage_buckets VALUES
	('artifacts', '8174c414-a245-438c-8774-cb2fb30ab61a', 1, '2026-11-22 12:00:54.642+00', NULL, NULL);


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
	('acme', '01a20321-7976-738c-85b2-b96ecfaed64d', 'ada', '2026-11-22 11:00:55.154+00', '2026-11-22 12:00:55.154+00', NULL, 'ready', 1, 8, 8, 4747, '01a20321-788c-7017-808a-338f5398417f', '01a20321-7968-70fe-bdca-2f627500163e', '[]', NULL, NULL, '2ad8c28a-6e5d-4afb-ad78-5d8e66b0d516', NULL, '2026-11-22 12:00:55.159+00', '2026-11-22 12:00:55.921+00', 1, NULL, NULL, '{ndjson,csv}');


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
	('acme', '3460477e-7ce5-4cc6-a557-9617f0322c43', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78dc-7ac3-ba01-77ba92b4e322', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78dc-7ac3-ba01-77ba92b4e322/a/1/request_body.json', 133, '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', 'application/json', '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', 'available', '2026-11-22 12:00:55.33+00', '2026-11-22 12:00:55.33+00', '2036-11-19 12:00:55.33+00', false, 3),
	('acme', '5ddbfacd-c14c-47a1-ad45-ad19b55f9cb8', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-7941-70e4-bec5-193612eda415', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-7941-70e4-bec5-193612eda415/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:00:55.398+00', '2026-11-22 12:00:55.398+00', '2036-11-19 12:00:55.398+00', false, 3),
	('acme', 'd1d9291d-d4ec-4cfe-b04d-94c5a0531623', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78f4-75d2-bfab-e59aa49cbd52', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78f4-75d2-bfab-e59aa49cbd52/a/1/request_body.json', 133, 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'application/json', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'available', '2026-11-22 12:00:55.375+00', '2026-11-22 12:00:55.375+00', '2036-11-19 12:00:55.375+00', false, 3),
	('acme', '810925d5-c20e-4b73-9d5b-ea7fa7c94381', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78cf-79e6-b953-4741c27e5b90', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78cf-79e6-b953-4741c27e5b90/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:00:55.158+00', '2026-11-22 12:00:55.158+00', '2036-11-19 12:00:55.158+00', false, 3),
	('acme', 'd712d8bc-3006-4f4d-9e6a-d96e293b94e9', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78cf-7763-9d92-5dd640acee9c', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78cf-7763-9d92-5dd640acee9c/a/1/request_body.json', 133, 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'application/json', 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'available', '2026-11-22 12:00:55.177+00', '2026-11-22 12:00:55.177+00', '2036-11-19 12:00:55.177+00', false, 3),
	('acme', 'e8160712-2810-40e5-bdf2-f33ef52b0929', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78cf-7763-9d92-5dd640acee9c', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78cf-7763-9d92-5dd640acee9c/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:00:55.169+00', '2026-11-22 12:00:55.169+00', '2036-11-19 12:00:55.169+00', false, 3),
	('acme', 'f7702e3b-06a8-4a58-bbce-c16cbb519ccd', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78cf-79e6-b953-4741c27e5b90', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78cf-79e6-b953-4741c27e5b90/a/1/request_body.json', 133, 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'application/json', 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'b88c8e4dd143458a18d338367468eaf0fd6bb18a2fc77fac0781778454c935bd', 'available', '2026-11-22 12:00:55.187+00', '2026-11-22 12:00:55.187+00', '2036-11-19 12:00:55.187+00', false, 3),
	('acme', '1a9cdbee-bef2-4ed4-ab4f-43d029edab0c', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78dc-7021-99c7-de948ee22377', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78dc-7021-99c7-de948ee22377/a/1/request_body.json', 133, '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', 'application/json', '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', '4bb41f775db681b891c63cf672681f8e389bf95eb9b71263e23cce4b6bb047cb', 'available', '2026-11-22 12:00:55.362+00', '2026-11-22 12:00:55.362+00', '2036-11-19 12:00:55.362+00', false, 3),
	('acme', 'c0dedb96-8a5b-42f8-a7ea-0fe5eaf11889', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78dc-7021-99c7-de948ee22377', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78dc-7021-99c7-de948ee22377/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:00:55.36+00', '2026-11-22 12:00:55.36+00', '2036-11-19 12:00:55.36+00', false, 3),
	('acme', '50ed3997-983f-48fd-939c-2eebaf62a18f', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78dc-7ac3-ba01-77ba92b4e322', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78dc-7ac3-ba01-77ba92b4e322/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:00:55.332+00', '2026-11-22 12:00:55.332+00', '2036-11-19 12:00:55.332+00', false, 3),
	('acme', '343361f3-7949-4a6c-9feb-3fac1291deb8', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78f4-70e9-8d68-532e092494b1', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78f4-70e9-8d68-532e092494b1/a/1/request_body.json', 133, 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'application/json', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'available', '2026-11-22 12:00:55.338+00', '2026-11-22 12:00:55.338+00', '2036-11-19 12:00:55.338+00', false, 3),
	('acme', 'd153aaaa-da38-4e2d-ba3b-0c1dd717be92', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78f4-70e9-8d68-532e092494b1', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78f4-70e9-8d68-532e092494b1/a/1/response_body.txt', 1700, '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'text/plain', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', '0a929d45d5d848392f40752e2242066ea10900f07f55ca18e84261b25c0e110a', 'available', '2026-11-22 12:00:55.337+00', '2026-11-22 12:00:55.337+00', '2036-11-19 12:00:55.337+00', false, 3),
	('acme', 'a5e3d912-ee6f-4d45-b504-81873336d527', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-7968-70fe-bdca-2f627500163e', 2, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-7968-70fe-bdca-2f627500163e/a/2/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:00:55.401+00', '2026-11-22 12:00:55.401+00', '2036-11-19 12:00:55.401+00', false, 3),
	('acme', '334a38c2-cf7b-4dca-b54a-5aadaa11129a', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-78f4-75d2-bfab-e59aa49cbd52', 1, 'response_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-78f4-75d2-bfab-e59aa49cbd52/a/1/response_body.txt', 1700, 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'text/plain', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'dfedad7008c2393c996c871a9a4fb057aa8e0a4b6631d522a4b47b34d41d8634', 'available', '2026-11-22 12:00:55.376+00', '2026-11-22 12:00:55.376+00', '2036-11-19 12:00:55.376+00', false, 3),
	('acme', '09f93c3d-998e-4e21-8070-fa01ad55bc54', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-7941-70e4-bec5-193612eda415', 1, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-7941-70e4-bec5-193612eda415/a/1/request_body.json', 162, 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'application/json', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'fcc0c4a8be4999e512d30acde67f5482609b737fc1e8f3f2fa46e5fff3c5b481', 'available', '2026-11-22 12:00:55.394+00', '2026-11-22 12:00:55.394+00', '2036-11-19 12:00:55.394+00', false, 3),
	('acme', '6686c4c9-4595-4c57-a1e4-6763f30f7f49', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-7968-70fe-bdca-2f627500163e', 2, 'request_body', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-7968-70fe-bdca-2f627500163e/a/2/request_body.json', 133, 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'application/json', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'e42a76e82176d520fe8f417a93076bebc39def8fbc1476436379fd391afc600d', 'available', '2026-11-22 12:00:55.402+00', '2026-11-22 12:00:55.402+00', '2036-11-19 12:00:55.402+00', false, 3),
	('acme', '2ad8c28a-6e5d-4afb-ad78-5d8e66b0d516', '625751c1-5301-59d5-a848-5097cccc65f1', '01a20321-7976-738c-85b2-b96ecfaed64d', 1, 'export', 'artifacts', 'v1/t/625751c1-5301-59d5-a848-5097cccc65f1/d/01a20321-7976-738c-85b2-b96ecfaed64d/a/1/export.zip', 4747, '872aeaeae786a265c8ba7e092db6dc930535834abbc476637b804b50d9d0539e', 'application/zip', '872aeaeae786a265c8ba7e092db6dc930535834abbc476637b804b50d9d0539e', '872aeaeae786a265c8ba7e092db6dc930535834abbc476637b804b50d9d0539e', 'available', '2026-11-22 12:00:55.906+00', '2026-11-22 12:00:55.906+00', '2036-11-19 12:00:55.906+00', false, 3);


--
-- Data for Name: tenant_settings; Type: TABLE DATA; Schema: postern; Owner: -
--

INSERT INTO postern.tenant_settings VALUES
	('acme', true, true, NULL, '2026-11-22 12:00:54.879+00');


--
-- Data for Name: workers; Type: TABLE DATA; Schema: postern; Owner: -
--



--
-- Name: schema_functions_id_seq; Type: SEQUENCE SET; Schema: postern; Owner: -
--

SELECT pg_catalog.setval('postern.schema_functions_id_seq', 17, true);


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
-- Name: deliveries count_deliveries; Type: TRIGGER; Schema: postern; Owner: -
--

CREATE TRIGGER count_deliveries AFTER INSERT ON postern.deliveries REFERENCING NEW TABLE AS logged FOR EACH STATEMENT EXECUTE FUNCTION postern.count_deliveries();


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
-- Name: outbox owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.outbox TO postern_owner USING (true);


--
-- Name: person_sends owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.person_sends TO postern_owner USING (true);


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
-- Name: tenant_settings owner; Type: POLICY; Schema: postern; Owner: -
--

CREATE POLICY owner ON postern.tenant_settings TO postern_owner USING (true);


--
-- Name: person_sends; Type: ROW SECURITY; Schema: postern; Owner: -
--

ALTER TABLE postern.person_sends ENABLE ROW LEVEL SECURITY;

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
-- Name: FUNCTION count_deliveries(); Type: ACL; Schema: postern; Owner: -
--

REVOKE ALL ON FUNCTION postern.count_deliveries() FROM PUBLIC;


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
GRANT ALL ON FUNCTION postern.uuid_v7() TO postern_tenant;


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


