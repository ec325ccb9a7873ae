-- What of the log an export holds, and in which forms. Null: every type, and
-- every status. The forms of before are the default, so that a process of an
-- older version can still ask for an export.
ALTER TABLE postern.storage_exports
  -- A type, or with `.*` at its end every type below it.
  ADD COLUMN event_type text,
  ADD COLUMN delivery_status text CHECK (delivery_status IN ('delivered', 'failed', 'test')),
  ADD COLUMN formats text[] NOT NULL DEFAULT '{ndjson,csv}'
    CHECK (cardinality(formats) > 0 AND formats <@ '{ndjson,csv,parquet}');
