-- What the tenant of a failing endpoint was told of it: see docs/adr/0025.
--
-- When `endpoint.failing` was published last, and `delivery.exhausted`. The first
-- is about the present failures if it is not before `failing_since`, so nothing
-- resets it.
ALTER TABLE postern.endpoints ADD COLUMN failing_told_at timestamptz, ADD COLUMN exhausted_told_at timestamptz;
GRANT SELECT (failing_told_at, exhausted_told_at), UPDATE (failing_told_at, exhausted_told_at)
  ON postern.endpoints TO postern_worker;
CREATE INDEX endpoints_failing ON postern.endpoints (failing_since)
  WHERE failing_since IS NOT NULL AND enabled AND deleted_at IS NULL;

-- Events whose last automatic attempt failed, and that are to be told: a row for
-- each endpoint of a statement that logs outcomes, gone when it is told.
CREATE TABLE postern.exhausted_events (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  count integer NOT NULL,
  -- The newest of them.
  delivery_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, delivery_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

ALTER TABLE postern.exhausted_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.exhausted_events TO postern_owner USING (true);
CREATE POLICY worker ON postern.exhausted_events TO postern_worker USING (true);
-- Taking rows locks them first, and a lock needs the right to update some column.
GRANT SELECT, INSERT, UPDATE (count), DELETE ON postern.exhausted_events TO postern_worker;

-- A person's retry that delivers tells that the endpoint works again.
CREATE POLICY tenant ON postern.outbox TO postern_tenant USING (tenant_id = postern.current_tenant());
GRANT INSERT ON postern.outbox TO postern_tenant;
