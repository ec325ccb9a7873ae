-- One row a process that serves. A process writes its own every few seconds,
-- and when /ready is asked: a real commit shows that commits happen. What a
-- process was doing when it died can be ended by another, which sees that its
-- row has grown old.
CREATE TABLE postern.heartbeats (
  process_id uuid PRIMARY KEY,
  -- Its roles, for people who look.
  name text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE (seen_at), DELETE ON postern.heartbeats TO postern_worker;
