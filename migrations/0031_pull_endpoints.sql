-- Endpoints whose events are fetched by a client instead of being sent: see
-- docs/adr/0024. Their dispatches are held, so no claim meets them, and a lease
-- of a client is that of a worker with `held` set.
ALTER TABLE postern.endpoints
  ADD COLUMN mode text NOT NULL DEFAULT 'push' CHECK (mode IN ('push', 'pull')),
  -- Of a temporary endpoint: when it is deleted, unless a client calls before. Others have none.
  ADD COLUMN temporary_until timestamptz(3),
  ADD CONSTRAINT endpoints_temporary_is_pull CHECK (temporary_until IS NULL OR mode = 'pull');
GRANT UPDATE (mode, temporary_until) ON postern.endpoints TO postern_tenant;
GRANT SELECT (mode) ON postern.endpoints TO postern_publisher;
GRANT SELECT (mode, temporary_until) ON postern.endpoints TO postern_worker;
CREATE INDEX endpoints_pulled ON postern.endpoints (tenant_id, id) WHERE mode = 'pull' AND deleted_at IS NULL;
CREATE INDEX endpoints_temporary ON postern.endpoints (temporary_until)
  WHERE temporary_until IS NOT NULL AND deleted_at IS NULL;

-- A client gets what is fresh before what is replayed, each in the order of being due. A
-- leased dispatch has the end of its lease as its time, so it lies behind all that is due.
CREATE INDEX dispatches_held ON postern.dispatches (tenant_id, endpoint_id, replay_id NULLS FIRST, claimable_at, event_id)
  WHERE held;
-- Leases of clients, by their end.
CREATE INDEX dispatches_fetched ON postern.dispatches (claimable_at) WHERE held AND lease_owner IS NOT NULL;
GRANT UPDATE (lease_owner), INSERT (held) ON postern.dispatches TO postern_tenant;

-- A person's test or retry waits among the events of such an endpoint.
ALTER TABLE postern.person_sends
  -- `X-Service-Delivery`, while it can be fetched or acknowledged; null for what is sent by Postern.
  ADD COLUMN delivery_label text,
  ADD COLUMN lease_id uuid,
  ADD COLUMN leased_at timestamptz(3),
  ADD COLUMN acked_at timestamptz(3),
  -- What the client said as it refused it.
  ADD COLUMN refusal text;
GRANT UPDATE (delivery_label, lease_id, leased_at, acked_at, refusal, request_headers) ON postern.person_sends TO postern_tenant;
