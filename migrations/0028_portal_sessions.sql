-- Sessions that Postern itself gives out: one row a code that nobody used yet,
-- or a session that is under way. What ended has no row, or one whose time is up.
CREATE TABLE postern.portal_sessions (
  -- `*` for an operator's session, which reads the list of tenants.
  tenant_id text NOT NULL,
  id uuid PRIMARY KEY,
  sub text NOT NULL,
  -- Null for an operator's.
  role text CHECK (role IN ('owner', 'admin', 'member')),
  read_only boolean NOT NULL,
  -- SHA-256 of the code that opens it; null once it was used.
  code_hash bytea UNIQUE,
  -- How long the session lasts once its code was used.
  minutes integer NOT NULL,
  -- When the code, or the session, is no good any more.
  until timestamptz(3) NOT NULL,
  CHECK ((tenant_id = '*') = (role IS NULL))
);
CREATE INDEX portal_sessions_until ON postern.portal_sessions (until);

ALTER TABLE postern.portal_sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.portal_sessions TO postern_owner USING (true);
-- Asked by the operator's backend, or with a code or token that names a row: for any tenant.
CREATE POLICY publisher ON postern.portal_sessions TO postern_publisher USING (true);
CREATE POLICY worker_read ON postern.portal_sessions FOR SELECT TO postern_worker USING (true);
CREATE POLICY worker_remove ON postern.portal_sessions FOR DELETE TO postern_worker USING (true);
GRANT SELECT, INSERT, UPDATE (code_hash, until), DELETE ON postern.portal_sessions TO postern_publisher;
GRANT SELECT (id, until), DELETE ON postern.portal_sessions TO postern_worker;

-- What the operator's backend did is told in the transaction that does it.
CREATE POLICY publisher_add ON postern.audit_log FOR INSERT TO postern_publisher WITH CHECK (true);
GRANT INSERT ON postern.audit_log TO postern_publisher;
