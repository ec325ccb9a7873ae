-- When the attempt began, by the clock of who sent it; `id` has the time at
-- which it became due. Null where nothing was sent, and in rows from before.
ALTER TABLE postern.deliveries ADD COLUMN sent_at timestamptz;
