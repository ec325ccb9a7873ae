-- A dispatch that a person asked for: one attempt with the trigger `retry`, and
-- none follows it. A worker of the release before takes it for the event's own.
ALTER TABLE postern.dispatches ADD COLUMN once boolean NOT NULL DEFAULT false;

-- Only such: neither leased, nor held, nor superseded. The tenant's policy says for whom.
GRANT INSERT (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once)
  ON postern.dispatches TO postern_tenant;
