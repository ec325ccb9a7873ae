-- no transaction
-- Which rows lost the bytes that an object without a row has.
DROP INDEX CONCURRENTLY IF EXISTS postern.stored_objects_by_digest;
CREATE INDEX CONCURRENTLY stored_objects_by_digest ON postern.stored_objects (sha256) WHERE state IN ('pending', 'available', 'missing');
