-- What a person sends, a test or a retry, from before the request leaves until
-- its outcome is logged. No worker sends from here. A row that stays behind,
-- because its process or the database went away meanwhile, ends as a failed
-- delivery of the same id: the log keeps a trace of a request that may have
-- been sent.
CREATE TABLE postern.person_sends (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  -- The id that the delivery will have.
  id uuid NOT NULL,
  event_id uuid,
  test_id uuid,
  event_type text NOT NULL,
  trigger text NOT NULL CHECK (trigger IN ('retry', 'test')),
  attempt integer NOT NULL,
  request_body text,
  request_headers json NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, id),
  CHECK (num_nonnulls(event_id, test_id) = 1)
);

ALTER TABLE postern.person_sends ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.person_sends TO postern_owner USING (true);
CREATE POLICY tenant ON postern.person_sends TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker_read ON postern.person_sends FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.person_sends FOR DELETE TO postern_worker USING (true);
GRANT SELECT, INSERT, DELETE ON postern.person_sends TO postern_tenant;
GRANT SELECT, DELETE ON postern.person_sends TO postern_worker;
