-- One row a running worker, which confirms it every second and holds an
-- advisory lock in a session of its own. When the lock is free and nothing is
-- confirmed any more, the worker is dead, and another frees its leases.
CREATE TABLE postern.workers (
  -- The lowest of the ids that its leases have: all of them share its first 18 characters.
  first_lease_id uuid PRIMARY KEY,
  registered_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- Its leases are being freed. It cannot confirm its row any more, and registers anew once the row is gone.
  is_dead boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE (seen_at, is_dead), DELETE ON postern.workers TO postern_worker;
