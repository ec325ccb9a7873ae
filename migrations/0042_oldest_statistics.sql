-- no transaction
-- What upkeep removes, by days in place of times. An index by time looked as good
-- as the key to readers of a tenant's hours while the tables were small, and has
-- the hours of all tenants.
DROP INDEX CONCURRENTLY IF EXISTS postern.delivery_totals_days;
CREATE INDEX CONCURRENTLY delivery_totals_days ON postern.delivery_totals (((at AT TIME ZONE 'UTC')::date));
DROP INDEX CONCURRENTLY IF EXISTS postern.delivery_stats_days;
CREATE INDEX CONCURRENTLY delivery_stats_days ON postern.delivery_stats (((at AT TIME ZONE 'UTC')::date));
DROP INDEX CONCURRENTLY IF EXISTS postern.delivery_totals_oldest;
DROP INDEX CONCURRENTLY IF EXISTS postern.delivery_stats_oldest;
