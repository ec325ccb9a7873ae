-- A time in whole milliseconds may be rounded to one to come: what is due at once
-- was not yet to whoever looked within half a millisecond.
ALTER TABLE postern.replays ALTER COLUMN lease_until TYPE timestamptz;
ALTER TABLE postern.tenant_erasures ALTER COLUMN lease_until TYPE timestamptz;
ALTER TABLE postern.storage_exports ALTER COLUMN lease_until TYPE timestamptz;
ALTER TABLE postern.bodies_to_keep ALTER COLUMN due_at TYPE timestamptz;
