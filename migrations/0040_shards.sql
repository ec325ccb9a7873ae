-- Several databases, each tenant whole in one of them: see docs/adr/0032.

-- Which shard this database is; no row: it stands alone.
CREATE TABLE postern.shard (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  name text NOT NULL,
  -- The same in all shards of an installation.
  directory uuid NOT NULL,
  -- Of one shard alone, the first.
  keeps_directory boolean NOT NULL
);
GRANT SELECT ON postern.shard TO postern_publisher, postern_worker;

-- In the shard that keeps it: where each tenant lives. A move raises the version.
CREATE TABLE postern.shard_directory (
  tenant_id text PRIMARY KEY,
  shard text NOT NULL,
  version bigint NOT NULL DEFAULT 1
);
ALTER TABLE postern.shard_directory ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.shard_directory TO postern_owner USING (true);
CREATE POLICY publisher ON postern.shard_directory TO postern_publisher USING (true);
GRANT SELECT, INSERT ON postern.shard_directory TO postern_publisher;

-- In each shard: the tenants that live here, by the directory's version. A fenced
-- one is being moved, or has been: a process that still asks here is refused.
CREATE TABLE postern.shard_tenants (
  tenant_id text PRIMARY KEY,
  version bigint NOT NULL,
  fenced boolean NOT NULL DEFAULT false
);
ALTER TABLE postern.shard_tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.shard_tenants TO postern_owner USING (true);
CREATE POLICY tenant ON postern.shard_tenants TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY publisher ON postern.shard_tenants TO postern_publisher USING (true);
CREATE POLICY worker ON postern.shard_tenants FOR SELECT TO postern_worker USING (true);
GRANT SELECT ON postern.shard_tenants TO postern_tenant, postern_worker;
GRANT SELECT, INSERT ON postern.shard_tenants TO postern_publisher;

-- Checked events of tenants that live in another shard, until a worker has stored them there.
CREATE TABLE postern.handovers (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL,
  -- Where they go; null: the directory has not been asked yet.
  shard text,
  type text NOT NULL,
  version smallint NOT NULL,
  body text NOT NULL,
  -- The bodies of other versions, by number.
  others json,
  key text,
  -- The key was claimed here, by postern.publish.
  claimed boolean NOT NULL DEFAULT false,
  traceparent text,
  -- Until then a worker is at it, or waits for the other shard.
  lease_until timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX handovers_by_shard ON postern.handovers (shard, id);
ALTER TABLE postern.handovers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.handovers TO postern_owner USING (true);
CREATE POLICY publisher ON postern.handovers FOR INSERT TO postern_publisher WITH CHECK (true);
CREATE POLICY worker ON postern.handovers TO postern_worker USING (true);
GRANT INSERT ON postern.handovers TO postern_publisher;
GRANT SELECT, INSERT, UPDATE (shard, lease_until), DELETE ON postern.handovers TO postern_worker;

-- The idempotency key of an event, for the shard that it is handed over to.
ALTER TABLE postern.outbox ADD COLUMN key text;

-- Their bodies are in functions/.
CREATE OR REPLACE FUNCTION postern.lives_here(asked text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN true; END $$;
REVOKE EXECUTE ON FUNCTION postern.lives_here(text) FROM PUBLIC;
CREATE OR REPLACE FUNCTION postern.require_here(tenants text[], versions bigint[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$ BEGIN END $$;
REVOKE EXECUTE ON FUNCTION postern.require_here(text[], bigint[]) FROM PUBLIC;
