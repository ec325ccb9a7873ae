-- no transaction
-- Deleted endpoints, oldest first: they go once their log is gone.
DROP INDEX CONCURRENTLY IF EXISTS postern.endpoints_deleted;
CREATE INDEX CONCURRENTLY endpoints_deleted ON postern.endpoints (deleted_at) WHERE deleted_at IS NOT NULL;
