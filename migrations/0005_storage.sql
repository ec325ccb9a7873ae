-- Stored artifacts: what a tenant keeps beyond the delivery log. These rows are
-- the truth about intent, the bucket is the truth about bytes.
-- Instants have milliseconds, as the rules of storage compare them by equality.

CREATE TABLE postern.stored_objects (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  -- Derived from tenant_id, and the tenant in the key: tenant ids that differ by case alone get folders of their own.
  storage_tenant_id uuid NOT NULL,
  -- The delivery, or for an export the export's own id: it is what is delivered.
  delivery_id uuid NOT NULL,
  attempt smallint NOT NULL CHECK (attempt BETWEEN 1 AND 999),
  kind text NOT NULL CHECK (kind IN ('request_body', 'response_body', 'export')),
  bucket text NOT NULL,
  -- Byte order, as stores list.
  key text COLLATE "C" NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  sha256 text NOT NULL,
  content_type text NOT NULL,
  -- The store's answer to the upload; null before it.
  version_id text,
  etag text,
  state text NOT NULL CHECK (state IN ('pending', 'available', 'missing', 'quarantined', 'expired', 'purged')),
  state_since timestamptz(3) NOT NULL,
  available_at timestamptz(3),
  deadline timestamptz(3),
  hold boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (id),
  -- Also the order in which reconciling reads.
  UNIQUE (bucket, key),
  CHECK ((version_id IS NULL) = (etag IS NULL)),
  CHECK (available_at IS NULL OR version_id IS NOT NULL),
  CHECK (state <> 'available' OR available_at IS NOT NULL)
);
-- The library, newest first; what it never shows is not in it.
CREATE INDEX stored_objects_library ON postern.stored_objects (tenant_id, available_at DESC, id)
  WHERE available_at IS NOT NULL AND state IN ('available', 'missing', 'expired');
-- Whether an attempt is the highest of its delivery and kind.
CREATE INDEX stored_objects_attempts ON postern.stored_objects (tenant_id, delivery_id, kind, attempt);
CREATE INDEX stored_objects_due ON postern.stored_objects (deadline)
  WHERE state IN ('available', 'missing') AND NOT hold;

-- What reconciling suspects of a key, and since when.
CREATE TABLE postern.storage_marks (
  -- Null where no row has the key: the key alone does not tell the tenant.
  tenant_id text,
  bucket text NOT NULL,
  key text COLLATE "C" NOT NULL,
  class text NOT NULL
    CHECK (class IN ('adoptable', 'row_without_object', 'object_without_row', 'identity_mismatch')),
  first_seen_at timestamptz(3) NOT NULL,
  run_id uuid NOT NULL,
  PRIMARY KEY (bucket, key)
);

-- What reconciling found and did, numbered without a gap.
CREATE TABLE postern.storage_events (
  -- Null where no row has the key.
  tenant_id text,
  sequence bigint PRIMARY KEY,
  type text NOT NULL,
  bucket text NOT NULL,
  key text NOT NULL,
  run_id uuid NOT NULL,
  at timestamptz(3) NOT NULL
);

-- Who was given a link to what; the link itself is nowhere.
CREATE TABLE postern.storage_grants (
  tenant_id text NOT NULL,
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  user_id uuid NOT NULL,
  issued_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);

-- How far a pass of reconciling has come in a bucket. No tenant: a pass sees all of them.
CREATE TABLE postern.storage_cursor (
  bucket text PRIMARY KEY,
  run_id uuid NOT NULL,
  after_key text,
  -- A page would have destroyed too much; an operator decides.
  halted_at timestamptz(3),
  updated_at timestamptz(3) NOT NULL
);

-- Requests for an archive of the delivery log.
CREATE TABLE postern.storage_exports (
  tenant_id text NOT NULL,
  id uuid PRIMARY KEY,
  -- The subject of the session that asked.
  requested_by text NOT NULL,
  from_at timestamptz(3) NOT NULL,
  to_at timestamptz(3) NOT NULL,
  -- Null: all endpoints of the tenant.
  endpoint_id uuid,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'ready', 'failed', 'expired')),
  -- Runs begun; the number of the current one.
  attempt smallint NOT NULL DEFAULT 0 CHECK (attempt BETWEEN 0 AND 999),
  -- Null until counted.
  rows_total bigint,
  rows_done bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- The last delivery that a staged part holds: a run that died goes on behind it.
  after_endpoint_id uuid,
  after_delivery_id uuid,
  -- The parts staged so far: a list of {name, rows, size, sha256}.
  parts jsonb NOT NULL DEFAULT '[]',
  lease_owner uuid,
  lease_until timestamptz(3),
  object_id uuid,
  error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (from_at < to_at),
  CHECK ((after_endpoint_id IS NULL) = (after_delivery_id IS NULL)),
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK (status <> 'ready' OR object_id IS NOT NULL)
);
CREATE INDEX storage_exports_by_tenant ON postern.storage_exports (tenant_id, id);
-- What a worker may claim: few rows, oldest first.
CREATE INDEX storage_exports_unfinished ON postern.storage_exports (created_at)
  WHERE status IN ('queued', 'running');

-- What a tenant chose for itself; no row means the defaults.
CREATE TABLE postern.tenant_settings (
  tenant_id text PRIMARY KEY,
  keep_request_bodies boolean NOT NULL DEFAULT false,
  keep_response_bodies boolean NOT NULL DEFAULT false,
  -- Null: as long as the operator's plan allows.
  artifact_days integer CHECK (artifact_days BETWEEN 1 AND 3650),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

ALTER TABLE postern.stored_objects ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.storage_marks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.storage_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.storage_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.storage_exports ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE postern.tenant_settings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY owner ON postern.stored_objects TO postern_owner USING (true);
CREATE POLICY owner ON postern.storage_marks TO postern_owner USING (true);
CREATE POLICY owner ON postern.storage_events TO postern_owner USING (true);
CREATE POLICY owner ON postern.storage_grants TO postern_owner USING (true);
CREATE POLICY owner ON postern.storage_exports TO postern_owner USING (true);
CREATE POLICY owner ON postern.tenant_settings TO postern_owner USING (true);

CREATE POLICY tenant ON postern.stored_objects TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.storage_grants TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.storage_exports TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY tenant ON postern.tenant_settings TO postern_tenant USING (tenant_id = postern.current_tenant());

CREATE POLICY worker_read ON postern.stored_objects FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_add ON postern.stored_objects FOR INSERT TO postern_worker WITH CHECK (true);
CREATE POLICY worker_change ON postern.stored_objects FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker ON postern.storage_marks TO postern_worker USING (true);
CREATE POLICY worker_read ON postern.storage_events FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_add ON postern.storage_events FOR INSERT TO postern_worker WITH CHECK (true);
CREATE POLICY worker_read ON postern.storage_exports FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_change ON postern.storage_exports FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker_read ON postern.tenant_settings FOR SELECT TO postern_worker USING (true);

GRANT SELECT, INSERT, UPDATE (version_id, etag, state, state_since, available_at, deadline, revision)
  ON postern.stored_objects TO postern_tenant, postern_worker;
GRANT SELECT, INSERT ON postern.storage_grants TO postern_tenant;
GRANT SELECT, INSERT ON postern.storage_exports TO postern_tenant;
GRANT SELECT, INSERT, UPDATE ON postern.tenant_settings TO postern_tenant;
GRANT SELECT, INSERT, UPDATE (first_seen_at), DELETE ON postern.storage_marks TO postern_worker;
GRANT SELECT, INSERT ON postern.storage_events TO postern_worker;
GRANT SELECT, INSERT, UPDATE ON postern.storage_cursor TO postern_worker;
GRANT SELECT, UPDATE (status, attempt, rows_total, rows_done, bytes, after_endpoint_id, after_delivery_id, parts,
    lease_owner, lease_until, object_id, error, updated_at)
  ON postern.storage_exports TO postern_worker;
GRANT SELECT ON postern.tenant_settings TO postern_worker;
