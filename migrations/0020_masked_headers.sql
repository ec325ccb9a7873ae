-- Static headers whose values nobody is shown: `authorization`, and those named
-- here. `headers` holds `[masked]` in their place, and their values are sealed
-- together as a signing secret is.
ALTER TABLE postern.endpoints
  ADD COLUMN masked_headers text[] NOT NULL DEFAULT '{}',
  ADD COLUMN sealed_headers bytea;
GRANT UPDATE (masked_headers, sealed_headers) ON postern.endpoints TO postern_tenant;
GRANT SELECT (masked_headers, sealed_headers) ON postern.endpoints TO postern_worker;
