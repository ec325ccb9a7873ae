-- Versions of an event type: see docs/adr/0026. Null stands for the first one, so
-- an event without versions is written as before.

-- The version of `body`, and the bodies of other versions by number.
ALTER TABLE postern.events ADD COLUMN version smallint, ADD COLUMN versions json;
ALTER TABLE postern.outbox ADD COLUMN version smallint, ADD COLUMN versions json;
-- What the endpoint gets, fixed when the dispatch is made.
ALTER TABLE postern.dispatches ADD COLUMN version smallint;
ALTER TABLE postern.deliveries ADD COLUMN version smallint;
ALTER TABLE postern.person_sends ADD COLUMN version smallint;
GRANT INSERT (version) ON postern.dispatches TO postern_tenant;

-- What a type stands for without a version, which others an event of it must have, and which it may.
ALTER TABLE postern.event_types
  ADD COLUMN newest smallint NOT NULL DEFAULT 1,
  ADD COLUMN needed smallint[] NOT NULL DEFAULT '{}',
  ADD COLUMN others smallint[] NOT NULL DEFAULT '{}';
GRANT UPDATE (newest, needed, others) ON postern.event_types TO postern_worker;
