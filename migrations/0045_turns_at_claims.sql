-- no transaction
-- Tenants take turns at claims: each is found by a look-up, however much of another's
-- is due before its dispatches. What is leased as it is accepted never enters the index.
DROP INDEX CONCURRENTLY IF EXISTS postern.dispatches_turns;
CREATE INDEX CONCURRENTLY dispatches_turns ON postern.dispatches (tenant_id, claimable_at)
  WHERE NOT held AND NOT parked AND lease_owner IS NULL;
