-- Whose a bucket is, and how much was destroyed in it lately.

CREATE TABLE postern.storage_buckets (
  bucket text PRIMARY KEY,
  -- The same for all buckets of this database. It stands in the bucket's owner mark too.
  installation_id uuid NOT NULL,
  -- Raised with each pass, here first and then in the mark. A mark that is ahead
  -- shows that this database is older than the bucket.
  generation bigint NOT NULL DEFAULT 1 CHECK (generation > 0),
  -- Null until the mark was written: then it is expected.
  marked_at timestamptz(3),
  -- Why nothing may be deleted in it, in words for an operator; null where nothing is wrong.
  trouble text,
  trouble_since timestamptz(3)
);

-- What comparing destroyed, page by page, for the bounds on a pass and on a day.
CREATE TABLE postern.storage_destroyed (
  bucket text NOT NULL,
  run_id uuid NOT NULL,
  at timestamptz NOT NULL,
  -- Results within the bounds; what an operator approved does not count.
  number integer NOT NULL CHECK (number > 0),
  PRIMARY KEY (bucket, at, run_id)
);

GRANT SELECT, INSERT, UPDATE ON postern.storage_buckets TO postern_worker;
GRANT SELECT, INSERT, DELETE ON postern.storage_destroyed TO postern_worker;

-- Why a pass waits for an operator, in words.
ALTER TABLE postern.storage_cursor ADD COLUMN halted_reason text;

-- An operator or a tenant may hold an artifact.
GRANT UPDATE (hold) ON postern.stored_objects TO postern_tenant, postern_worker;
