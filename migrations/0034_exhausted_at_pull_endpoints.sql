-- A client that refuses an event for the last time: its tenant is told as of any other.
CREATE POLICY tenant ON postern.exhausted_events TO postern_tenant USING (tenant_id = postern.current_tenant());
GRANT INSERT ON postern.exhausted_events TO postern_tenant;
