-- A tenant's events, newest first. The collation is not the column's, for the
-- reason given in 0011: only a query that names it can use this index, so no
-- look-up of an event by its id comes to it.
--
-- The build locks `events` against writes: about a second for each million rows.
CREATE INDEX events_of_tenant ON postern.events (tenant_id COLLATE "C", id);
