-- The `traceparent` of the publish request, stored only where traces are on: see docs/adr/0019.
ALTER TABLE postern.events ADD COLUMN traceparent text;
