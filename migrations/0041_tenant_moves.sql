-- Moving a tenant to another shard: see docs/adr/0033.

-- In the shard that keeps the directory: the moves that are under way.
CREATE TABLE postern.tenant_moves (
  tenant_id text PRIMARY KEY,
  source text NOT NULL,
  target text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  -- From then on the tenant lives in the target.
  switched boolean NOT NULL DEFAULT false,
  -- The tenant's replays as they were before the switch, until the target has them.
  replays json
);
ALTER TABLE postern.tenant_moves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.tenant_moves TO postern_owner USING (true);
CREATE POLICY publisher ON postern.tenant_moves FOR SELECT TO postern_publisher USING (true);
GRANT SELECT ON postern.tenant_moves TO postern_publisher;

-- While it is set, dispatches of the endpoint are held: no worker begins an attempt.
ALTER TABLE postern.endpoints ADD COLUMN moving boolean NOT NULL DEFAULT false;
GRANT SELECT (moving) ON postern.endpoints TO postern_publisher, postern_worker;

-- In the shard that the tenant leaves: new endpoints of it are moving too. Where
-- it is fenced as well, its rows are the move's alone: work across tenants skips them.
ALTER TABLE postern.shard_tenants ADD COLUMN moving boolean NOT NULL DEFAULT false;
CREATE INDEX shard_tenants_on_their_way ON postern.shard_tenants (tenant_id) WHERE moving AND fenced;

-- False: `key` must still be claimed, where the tenant lives.
ALTER TABLE postern.outbox ADD COLUMN claimed boolean NOT NULL DEFAULT true;
