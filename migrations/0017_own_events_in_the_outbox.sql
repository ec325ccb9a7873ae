-- Postern's own events, such as endpoint.disabled, go through the outbox like
-- those of producers in SQL: a row there, in the transaction of the change that
-- they announce.
CREATE POLICY worker_add ON postern.outbox FOR INSERT TO postern_worker WITH CHECK (true);
GRANT INSERT ON postern.outbox TO postern_worker;
