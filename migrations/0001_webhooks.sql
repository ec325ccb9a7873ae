-- Endpoints, events, dispatches and the delivery log.
-- Ids are UUIDv7: the time inside an id is the row's time, and partitions are
-- ranges of ids, so an id alone leads to its partition.

-- PostgreSQL has uuidv7() only from 18 on.
CREATE FUNCTION postern.uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- The least id whose embedded time is the given one.
CREATE FUNCTION postern.lowest_id_at(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- What makes two events with one idempotency key the same: type and data,
-- the data as jsonb so that neither key order nor spacing counts.
CREATE FUNCTION postern.content_fingerprint(type text, body text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(type || ' ' || (body::jsonb -> 'data')::text, 'UTF8'))
$$;

CREATE TABLE postern.endpoints (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  disabled_reason text CHECK (disabled_reason IN ('manual', 'gone', 'failing')),
  rate_limit integer CHECK (rate_limit BETWEEN 1 AND 1000),
  -- json keeps the order and spelling in which the tenant gave the headers.
  headers json NOT NULL DEFAULT '{}',
  metadata json NOT NULL DEFAULT '{}',
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Since when every automatic attempt has failed; null after a success.
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (tenant_id, id),
  CHECK (enabled = (disabled_reason IS NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- The exact bytes that every attempt of an event sends, stored once.
CREATE TABLE postern.events (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  body text NOT NULL,
  -- How many endpoints were subscribed when the event was accepted.
  dispatch_count integer NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE TABLE postern.events_default PARTITION OF postern.events DEFAULT;

CREATE TABLE postern.idempotency_keys (
  tenant_id text NOT NULL,
  key text NOT NULL,
  event_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_created_at ON postern.idempotency_keys (created_at);

-- What is due or in flight, and nothing else: small and hot.
CREATE TABLE postern.dispatches (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  -- The id that the delivery row of this attempt will have.
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  attempt smallint NOT NULL,
  due_at timestamptz NOT NULL,
  -- No worker may claim it before: the due time, the end of a lease, or a
  -- worker's word that this endpoint has no room yet.
  claimable_at timestamptz NOT NULL,
  lease_owner uuid,
  -- Waiting for its endpoint to be enabled again.
  held boolean NOT NULL DEFAULT false,
  -- A person delivered the event meanwhile: no attempt follows this one.
  superseded boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, endpoint_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX dispatches_claimable ON postern.dispatches (claimable_at) WHERE NOT held;

-- One row an attempt, insert-only.
CREATE TABLE postern.deliveries (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The event, or for a test and its retries the first test's id.
  event_id uuid,
  test_id uuid,
  event_type text NOT NULL,
  trigger text NOT NULL CHECK (trigger IN ('event', 'retry', 'auto_retry', 'test')),
  status text NOT NULL CHECK (status IN ('delivered', 'failed', 'test')),
  attempt integer NOT NULL,
  -- Null for an automatic attempt: the event holds it.
  request_body text,
  request_headers json NOT NULL,
  response_status smallint,
  response_headers json,
  response_body text,
  latency_ms integer NOT NULL,
  error text,
  PRIMARY KEY (tenant_id, endpoint_id, id),
  CHECK (num_nonnulls(event_id, test_id) = 1)
) PARTITION BY RANGE (id);
CREATE INDEX deliveries_by_status ON postern.deliveries (tenant_id, endpoint_id, status, id);

CREATE TABLE postern.deliveries_default PARTITION OF postern.deliveries DEFAULT;

-- Makes the day partitions of events and deliveries from one day to another.
-- Attaching a table lets traffic on the parent go on; what the default
-- partition holds of that day, from a time without upkeep, moves along.
CREATE FUNCTION postern.ensure_partitions(from_day date, to_day date) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  day date;
  parent text;
  name text;
  low uuid;
  high uuid;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('postern.ensure_partitions'));
  -- Attaching waits for readers of the default partition, and others would wait behind it.
  PERFORM set_config('lock_timeout', '200ms', true);
  FOR day IN SELECT generate_series(from_day, to_day, interval '1 day')::date LOOP
    low := postern.lowest_id_at(day::timestamp AT TIME ZONE 'UTC');
    high := postern.lowest_id_at((day + 1)::timestamp AT TIME ZONE 'UTC');
    FOREACH parent IN ARRAY ARRAY['events', 'deliveries'] LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('postern.%I', name)) IS NOT NULL;
      EXECUTE format('CREATE TABLE postern.%I (LIKE postern.%I INCLUDING ALL)', name, parent);
      EXECUTE format(
        'WITH moved AS (DELETE FROM postern.%I WHERE id >= %L AND id < %L RETURNING *)
           INSERT INTO postern.%I SELECT * FROM moved',
        parent || '_default', low, high, name);
      EXECUTE format('ALTER TABLE postern.%I ATTACH PARTITION postern.%I FOR VALUES FROM (%L) TO (%L)',
        parent, name, low, high);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;

-- Today's partitions, so that the first row needs no worker to have run.
SELECT postern.ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + 7);

-- Drops the day partitions that are wholly older than the retention. Events
-- stay five days longer, so that every automatic attempt in the log still has
-- its body, and as long as a dispatch needs them. A lock that is not free at
-- once is left for the next run: retention never makes traffic wait.
CREATE FUNCTION postern.drop_old_partitions(retention_days integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  last_day date := (now() AT TIME ZONE 'UTC')::date - retention_days - 1;
  oldest_needed date;
  name text;
  day date;
BEGIN
  PERFORM set_config('lock_timeout', '200ms', true);
  -- What was logged late under an id of long ago, as by an endpoint that was disabled for weeks.
  DELETE FROM postern.deliveries_default WHERE id < postern.lowest_id_at(last_day::timestamp AT TIME ZONE 'UTC');
  SELECT (to_timestamp(('x' || left(replace(min(event_id::text), '-', ''), 12))::bit(48)::bigint / 1000.0)
      AT TIME ZONE 'UTC')::date
    INTO oldest_needed FROM postern.dispatches;
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)
      AND c.relname ~ '_[0-9]{8}$'
    ORDER BY c.relname
  LOOP
    day := to_date(right(name, 8), 'YYYYMMDD');
    CONTINUE WHEN day > CASE WHEN name LIKE 'events_%' THEN least(last_day - 5, oldest_needed - 1) ELSE last_day END;
    BEGIN
      EXECUTE format('DROP TABLE postern.%I', name);
      RETURN NEXT name;
    EXCEPTION WHEN lock_not_available THEN
      CONTINUE;
    END;
  END LOOP;
END
$$;
