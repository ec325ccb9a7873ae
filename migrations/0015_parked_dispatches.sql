-- A due dispatch whose endpoint has no room in a worker's memory is parked: no
-- claim meets it, and its endpoint's lane pulls it in the order of these keys.
ALTER TABLE postern.dispatches ADD COLUMN parked boolean NOT NULL DEFAULT false;
GRANT UPDATE (parked) ON postern.dispatches TO postern_worker;

DROP INDEX postern.dispatches_claimable;
CREATE INDEX dispatches_claimable ON postern.dispatches (claimable_at) WHERE NOT held AND NOT parked;
-- Empty while every endpoint keeps up.
CREATE INDEX dispatches_parked ON postern.dispatches (tenant_id, endpoint_id, due_at, event_id) WHERE parked AND NOT held;
