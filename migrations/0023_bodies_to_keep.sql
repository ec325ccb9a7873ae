-- Bodies of attempts that a tenant keeps and that are not stored yet. A row
-- comes in the statement that logs the attempt's outcome, and goes when the
-- body is stored or is given up: so no body is lost with a process.
CREATE TABLE postern.bodies_to_keep (
  tenant_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  attempt smallint NOT NULL CHECK (attempt BETWEEN 1 AND 999),
  kind text NOT NULL CHECK (kind IN ('request_body', 'response_body')),
  -- An answer's; a request's is in the log.
  body bytea CHECK ((kind = 'response_body') = (body IS NOT NULL)),
  -- For how many days; null: as long as the operator allows.
  days integer,
  noted_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When a keeper may take it: now, when a keeper's lease ends, or for the next try.
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, delivery_id, kind)
);
CREATE INDEX bodies_to_keep_due ON postern.bodies_to_keep (due_at);

ALTER TABLE postern.bodies_to_keep ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON postern.bodies_to_keep TO postern_owner USING (true);
CREATE POLICY tenant ON postern.bodies_to_keep TO postern_tenant USING (tenant_id = postern.current_tenant());
CREATE POLICY worker ON postern.bodies_to_keep TO postern_worker USING (true);
GRANT INSERT ON postern.bodies_to_keep TO postern_tenant;
GRANT SELECT, INSERT, UPDATE (due_at, tries), DELETE ON postern.bodies_to_keep TO postern_worker;
