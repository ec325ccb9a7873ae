import type { Db } from "../../database/pool.ts";
import type { DeliveryId, EndpointId, EventId } from "../../shared/id.ts";
import {
  LEASE_MS,
  type Acceptance,
  type EarlierEvent,
  type EndpointKey,
  type LeasedDispatch,
  type NewEvent,
} from "../queue.ts";

/** The channel on which workers hear that something is due. */
export const DISPATCH_CHANNEL = "postern_dispatch";

type AcceptedRow = {
  /** The same in every row. */
  parked_at: EndpointKey[] | null;
  event_id: EventId;
  dispatch_count: number;
  dispatch_id: DeliveryId | null;
  endpoint_id: EndpointId | null;
};

// The limit is in force before the first key is claimed, and ends with the transaction.
const ACCEPT_EVENTS = /* sql */ `WITH patience AS MATERIALIZED (
    SELECT set_config('lock_timeout', coalesce($10::text, current_setting('lock_timeout')), true)
  ), given AS MATERIALIZED (
    SELECT id, tenant_id, type, body, key, patterns::text[] AS patterns
    FROM patience, unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
      AS given (id, tenant_id, type, body, key, patterns)
  ), claimed AS (
    INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint)
    SELECT tenant_id, key, id, postern.content_fingerprint(type, body) FROM given WHERE key IS NOT NULL
    -- In one order everywhere: concurrent requests with the same keys wait for each other, never crosswise.
    ORDER BY tenant_id, key, id
    ON CONFLICT DO NOTHING
    RETURNING event_id
  ), accepted AS MATERIALIZED (
    SELECT * FROM given WHERE key IS NULL OR id IN (SELECT event_id FROM claimed)
  ), due AS MATERIALIZED (
    SELECT a.tenant_id, e.id AS endpoint_id, postern.uuid_v7() AS id, a.id AS event_id, a.type,
      e.id = ANY ($11::uuid[]) AS parked
    FROM accepted a CROSS JOIN LATERAL (
      SELECT id FROM postern.endpoints
      WHERE tenant_id = a.tenant_id AND enabled AND deleted_at IS NULL AND events && a.patterns
      -- Keeps PostgreSQL from joining with every tenant's endpoints at once: see key-look-up.ts.
      OFFSET 0
    ) AS e
  ), dispatched AS (
    INSERT INTO postern.dispatches
      (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner, parked)
    SELECT tenant_id, endpoint_id, id, event_id, type, 1, now() + $9 * interval '1 ms',
      now() + CASE WHEN $7::uuid IS NULL OR parked THEN $9 ELSE $8 END * interval '1 ms',
      CASE WHEN NOT parked THEN $7::uuid END, parked
    FROM due
  ), stored AS (
    INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
    SELECT tenant_id, id, type, body, coalesce(fan_out.count, 0)
    FROM accepted LEFT JOIN (SELECT event_id, count(*) FROM due GROUP BY event_id) AS fan_out
      ON fan_out.event_id = accepted.id
    RETURNING id, dispatch_count
  )
  SELECT stored.id AS event_id, stored.dispatch_count, due.id AS dispatch_id, due.endpoint_id,
    CASE WHEN cardinality($11) > 0 THEN (SELECT json_agg(DISTINCT jsonb_build_object('tenantId', tenant_id, 'endpointId', endpoint_id))
      FROM due WHERE parked) END AS parked_at,
    -- Heard when this commits, and once however many rows say it.
    CASE WHEN $7::uuid IS NULL AND due.id IS NOT NULL THEN pg_notify('${DISPATCH_CHANNEL}', '') END
  FROM stored LEFT JOIN due ON due.event_id = stored.id AND NOT due.parked`;

/**
 * One statement, and so one commit, for the events of many requests: claims
 * their idempotency keys, fans each event out to the endpoints subscribed at
 * this moment, and stores both. Subscription is an overlap of arrays: the
 * endpoint's patterns and those that match the type.
 */
export async function acceptEvents(
  db: Db,
  events: readonly NewEvent[],
  {
    leaseId,
    parked,
    firstDelayMs,
    lockWaitMs = null,
  }: {
    leaseId: string | null;
    parked: readonly EndpointId[];
    firstDelayMs: number;
    lockWaitMs?: number | null;
  },
): Promise<Acceptance> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const { rows } = await db.query<AcceptedRow>({
    name: "accept-events",
    text: ACCEPT_EVENTS,
    values: [
      events.map((event) => event.id),
      events.map((event) => event.tenantId),
      events.map((event) => event.type),
      events.map((event) => event.body),
      events.map((event) => event.idempotencyKey),
      events.map((event) => `{${event.patterns.join(",")}}`),
      leaseId,
      LEASE_MS,
      firstDelayMs,
      lockWaitMs === null ? null : `${lockWaitMs}ms`,
      parked,
    ],
  });
  return toAcceptance(rows, events, leaseId === null ? null : { leaseId, leaseEndsMs });
}

function toAcceptance(
  rows: AcceptedRow[],
  events: readonly NewEvent[],
  lease: Pick<LeasedDispatch, "leaseId" | "leaseEndsMs"> | null,
): Acceptance {
  const given = new Map(events.map((event) => [event.id, event]));
  const accepted = new Map<EventId, number>();
  const leased: LeasedDispatch[] = [];
  for (const row of rows) {
    accepted.set(row.event_id, row.dispatch_count);
    const event = given.get(row.event_id);
    if (event === undefined || row.dispatch_id === null || row.endpoint_id === null || lease === null)
      continue;
    leased.push({
      id: row.dispatch_id,
      tenantId: event.tenantId,
      endpointId: row.endpoint_id,
      eventId: event.id,
      eventType: event.type,
      body: event.body,
      attempt: 1,
      ...lease,
    });
  }
  // In the order of publishing: event ids of a process are made one after another.
  leased.sort((one, other) => (one.eventId < other.eventId ? -1 : 1));
  return {
    accepted: [...accepted].map(([id, dispatchCount]) => ({ id, dispatchCount })),
    leased,
    parked: rows[0]?.parked_at ?? [],
  };
}

/** What the idempotency keys of these events already stand for; absent where a key is free again. */
export async function findEarlierEvents(
  db: Db,
  events: readonly NewEvent[],
): Promise<Map<EventId, EarlierEvent>> {
  const { rows } = await db.query<{ asked_id: EventId } & EarlierEvent>(
    /* sql */ `SELECT given.id AS asked_id, k.event_id AS id, coalesce(e.dispatch_count, 0) AS "dispatchCount",
        k.fingerprint = postern.content_fingerprint(given.type, given.body) AS "sameContent"
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
        AS given (id, tenant_id, type, body, key)
      CROSS JOIN LATERAL (
        SELECT tenant_id, event_id, fingerprint FROM postern.idempotency_keys
        WHERE tenant_id = given.tenant_id AND key = given.key OFFSET 0
      ) AS k
      -- It may still be in the outbox, or dropped with its day, which the key can outlive.
      LEFT JOIN LATERAL (
        SELECT dispatch_count FROM postern.events WHERE id = k.event_id AND tenant_id = k.tenant_id OFFSET 0
      ) AS e ON true`,
    [
      events.map((event) => event.id),
      events.map((event) => event.tenantId),
      events.map((event) => event.type),
      events.map((event) => event.body),
      events.map((event) => event.idempotencyKey),
    ],
  );
  return new Map(rows.map(({ asked_id, ...earlier }) => [asked_id, earlier]));
}
