-- Endpoints fall into 256 slots by the last byte of their id. A worker leases
-- slots and makes the attempts of their endpoints: see docs/adr/0029.
CREATE TABLE postern.slots (
  slot smallint PRIMARY KEY CHECK (slot BETWEEN 0 AND 255),
  -- The row of `workers`; a worker without one owns nothing.
  owner uuid,
  -- Raised with each change of the owner, which names the term that it is based on.
  term bigint NOT NULL DEFAULT 0,
  -- Attempts that former owners had in flight as they gave the slot back.
  in_flight json NOT NULL DEFAULT '[]',
  changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
INSERT INTO postern.slots (slot) SELECT generate_series(0, 255);

-- Workers of earlier releases take none, and claim whatever is due.
ALTER TABLE postern.workers ADD COLUMN takes_slots boolean NOT NULL DEFAULT false,
  -- When it was last confirmed in its own session; without one it starts no attempt.
  ADD COLUMN session_at timestamptz NOT NULL DEFAULT now();

GRANT SELECT, UPDATE (owner, term, in_flight, changed_at) ON postern.slots TO postern_worker;
GRANT UPDATE (takes_slots, session_at) ON postern.workers TO postern_worker;
