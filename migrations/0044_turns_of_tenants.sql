-- no transaction
-- Tenants take turns at the outbox, at events for other shards and at bodies that
-- wait to be stored: each is found by a look-up, however much of another's waits
-- before its rows. `bodies_to_keep_due` stays for processes of the release before.
DROP INDEX CONCURRENTLY IF EXISTS postern.outbox_turns;
CREATE INDEX CONCURRENTLY outbox_turns ON postern.outbox (tenant_id, id);
DROP INDEX CONCURRENTLY IF EXISTS postern.handovers_turns;
CREATE INDEX CONCURRENTLY handovers_turns ON postern.handovers (coalesce(shard, ''), tenant_id, id);
DROP INDEX CONCURRENTLY IF EXISTS postern.handovers_by_shard;
DROP INDEX CONCURRENTLY IF EXISTS postern.bodies_to_keep_turns;
CREATE INDEX CONCURRENTLY bodies_to_keep_turns ON postern.bodies_to_keep (tenant_id, due_at);
