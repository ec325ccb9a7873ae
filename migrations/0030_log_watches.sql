-- Whose log is watched by somebody, at which process of the API and until when.
-- While nobody watches, adding to the log costs one look at an empty table.
CREATE TABLE postern.log_watches (
  tenant_id text NOT NULL,
  watcher uuid NOT NULL,
  until timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, watcher)
);

ALTER TABLE postern.log_watches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.log_watches TO postern_owner USING (true);
CREATE POLICY tenant ON postern.log_watches TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker ON postern.log_watches TO postern_worker USING (true);
GRANT SELECT, INSERT, UPDATE (until), DELETE ON postern.log_watches TO postern_tenant;
GRANT SELECT, DELETE ON postern.log_watches TO postern_worker;
