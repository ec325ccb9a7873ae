/** Pending dispatches that differ in what a statement looks at. */
import type { PoolClient } from "pg";
import type { Db, Pool } from "../../src/database/pool.ts";
import { acceptEvents } from "../../src/queue/postgres/accept-store.ts";
import { NO_SLOTS } from "../../src/queue/slots.ts";
import { newEndpointId } from "../../src/shared/id.ts";
import { event } from "./store-inputs.ts";
import { EVENT_TYPE, type Rows } from "./two-tenants.ts";

/** A due first attempt, but for what is given. */
export type GivenDispatch = {
  /** Tells the rows apart. */
  attempt: number;
  /** Without it, one that follows from the attempt, in their order. */
  id?: string;
  eventId?: string;
  dueInMs?: number;
  claimableInMs?: number;
  leaseOwner?: string;
  held?: boolean;
  parked?: boolean;
  superseded?: boolean;
  once?: boolean;
  replayId?: string;
  version?: number;
};

export async function addDispatches(
  db: Db,
  { tenantId, endpointId, eventId }: Pick<Rows, "tenantId" | "endpointId" | "eventId">,
  given: readonly GivenDispatch[],
): Promise<void> {
  await db.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        lease_owner, held, parked, superseded, once, replay_id, version)
      SELECT $1, $2, coalesce(id, ('00000000-0000-7000-8000-' || lpad(attempt::text, 12, '0'))::uuid), coalesce("eventId", $3), $4, attempt,
        now() + coalesce("dueInMs", 0) * interval '1 ms', now() + coalesce("claimableInMs", 0) * interval '1 ms',
        "leaseOwner", coalesce(held, false), coalesce(parked, false), coalesce(superseded, false), coalesce(once, false),
        "replayId", version
      FROM json_to_recordset($5::json) AS given (attempt integer, id uuid, "eventId" uuid, "dueInMs" float8, "claimableInMs" float8,
        "leaseOwner" uuid, held boolean, parked boolean, superseded boolean, once boolean, "replayId" uuid, version smallint)`,
    [tenantId, endpointId, eventId, EVENT_TYPE, JSON.stringify(given)],
  );
}

/** Of events with bodies of 30, 20 and 25 bytes, published in this order: the last is due before the others. */
export async function addSized(session: Db, rows: Rows): Promise<void> {
  const events = [30, 20, 25].map((size) => Object.assign(event(rows, null), { body: "x".repeat(size) }));
  const unleased = { leaseId: null, slots: NO_SLOTS, parked: [], firstDelayMs: 0 };
  await acceptEvents(session, events.toReversed(), unleased);
  await session.query(
    `UPDATE postern.dispatches SET due_at = due_at - interval '2 s', claimable_at = claimable_at - interval '2 s'
      WHERE event_id = $1`,
    [events[2]?.id],
  );
}

/** In one transaction, which is rolled back: `now()` is one moment there, and a row can be due exactly then. */
export async function inOneMoment<T>(pool: Pool, work: (session: PoolClient) => Promise<T>): Promise<T> {
  const session = await pool.connect();
  try {
    await session.query("BEGIN");
    return await work(session);
  } finally {
    await session.query("ROLLBACK");
    session.release();
  }
}

/** A tenant that has endpoints and dispatches under the ids of another's. */
const TWIN = "twin";

/**
 * Adds, for each of an endpoint's dispatches, two whose keys differ in one
 * column: one of another tenant, and one of another endpoint. If a statement
 * forgets a column of the key, one of them changes. Answers these.
 */
export async function addNeighbours(
  db: Db,
  { tenantId, endpointId }: Pick<Rows, "tenantId" | "endpointId">,
): Promise<() => Promise<unknown[]>> {
  const otherId = newEndpointId();
  await db.query(
    `INSERT INTO postern.endpoints SELECT (json_populate_record(e, other)).*
      FROM postern.endpoints e, unnest($3::json[]) AS other WHERE tenant_id = $1 AND id = $2`,
    [tenantId, endpointId, [{ tenant_id: TWIN }, { id: otherId }].map((other) => JSON.stringify(other))],
  );
  // Of a replay, an event is pending once.
  await db.query(
    `INSERT INTO postern.dispatches SELECT (jsonb_populate_record(d, other
        || CASE WHEN replay_id IS NULL THEN '{}' ELSE jsonb_build_object('event_id', gen_random_uuid()) END)).*
      FROM postern.dispatches d, unnest($3::jsonb[]) AS other WHERE tenant_id = $1 AND endpoint_id = $2`,
    [
      tenantId,
      endpointId,
      [{ tenant_id: TWIN }, { endpoint_id: otherId }].map((other) => JSON.stringify(other)),
    ],
  );
  return async () => {
    const { rows } = await db.query(
      "SELECT * FROM postern.dispatches WHERE tenant_id = $1 OR endpoint_id = $2 ORDER BY tenant_id, endpoint_id, id",
      [TWIN, otherId],
    );
    return rows;
  };
}
