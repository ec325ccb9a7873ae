-- Events sent to an endpoint again, many at once: see docs/adr/0017.
--
-- The two indexes of `deliveries` have no entry, or few, for what is there. They
-- are built partition by partition, the past days' first, which nobody writes to:
-- so outcomes wait only while those of the present day are built, about half a
-- second for each million deliveries of that day.

CREATE TABLE postern.replays (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  -- Of events: accepted from, inclusive, to, exclusive.
  from_at timestamptz(3) NOT NULL,
  to_at timestamptz(3) NOT NULL,
  selection text NOT NULL CHECK (selection IN ('failed', 'missed', 'all')),
  -- Null: any.
  event_type text,
  cause text,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished', 'canceled', 'failed')),
  error text,
  -- How many events fitted when it was asked for; capped where not all were counted.
  counted integer NOT NULL,
  is_capped boolean NOT NULL,
  -- Dispatches made, and events that fitted and were passed over.
  sent integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  -- The last event that was looked at; all up to it have their dispatch or none.
  after_event_id uuid NOT NULL,
  is_fed boolean NOT NULL DEFAULT false,
  -- Outcomes of the events up to one, which all have theirs. Later ones are counted in the log.
  delivered integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  counted_to uuid NOT NULL,
  -- A worker's, until then; without an owner the time before which none need look.
  lease_owner uuid,
  lease_until timestamptz(3) NOT NULL DEFAULT now(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK (from_at < to_at),
  CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE UNIQUE INDEX replays_running ON postern.replays (tenant_id, endpoint_id) WHERE status = 'running';
CREATE INDEX replays_waiting ON postern.replays (lease_until) WHERE status = 'running';

ALTER TABLE postern.replays ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.replays TO postern_owner USING (true);
CREATE POLICY tenant ON postern.replays TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker_read ON postern.replays FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_change ON postern.replays FOR UPDATE TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.replays FOR DELETE TO postern_worker USING (true);
GRANT SELECT, INSERT,
  UPDATE (status, sent, skipped, after_event_id, is_fed, delivered, failed, counted_to, lease_until, finished_at)
  ON postern.replays TO postern_tenant;
GRANT SELECT, UPDATE (status, error, lease_owner, lease_until, finished_at), DELETE ON postern.replays TO postern_worker;

ALTER TABLE postern.dispatches ADD COLUMN replay_id uuid;
GRANT INSERT (parked, replay_id) ON postern.dispatches TO postern_tenant;
-- What of a replay is pending; an event is among it once.
CREATE UNIQUE INDEX dispatches_of_replay ON postern.dispatches (replay_id, event_id) WHERE replay_id IS NOT NULL;
-- An endpoint's lane pulls what is fresh before what is replayed. While a worker
-- of the release before runs, its pulls sort the endpoint's parked dispatches.
DROP INDEX postern.dispatches_parked;
CREATE INDEX dispatches_parked ON postern.dispatches (tenant_id, endpoint_id, replay_id NULLS FIRST, due_at, event_id)
  WHERE parked AND NOT held;

ALTER TABLE postern.deliveries ADD COLUMN replay_id uuid;
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'postern.deliveries'::regclass ORDER BY c.relname
  LOOP
    EXECUTE format('CREATE INDEX ON %s (replay_id, event_id) WHERE replay_id IS NOT NULL', partition);
    EXECUTE format('CREATE INDEX ON %s (tenant_id, endpoint_id, event_id) WHERE status = ''failed''', partition);
  END LOOP;
END
$$;
CREATE INDEX deliveries_of_replay ON postern.deliveries (replay_id, event_id) WHERE replay_id IS NOT NULL;
-- Events that failed at an endpoint, in their order.
CREATE INDEX deliveries_failed ON postern.deliveries (tenant_id, endpoint_id, event_id) WHERE status = 'failed';
