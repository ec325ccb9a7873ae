-- How often a run of an export was begun since its last staged part. Three
-- that come to nothing end the export.
ALTER TABLE postern.storage_exports ADD COLUMN fruitless_runs smallint NOT NULL DEFAULT 0;
GRANT UPDATE (fruitless_runs) ON postern.storage_exports TO postern_worker;
