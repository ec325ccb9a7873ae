/** A tenant's events as the log shows them: lists of them, and where the attempts of one are. */
import type { Db } from "../database/pool.ts";
import {
  idTimeMs,
  lowestIdAt,
  type DeliveryId,
  type EndpointId,
  type EndpointKey,
  type EventId,
  type TenantId,
} from "../shared/id.ts";
import type { IdRange } from "./delivery.ts";

export type EventHead = { id: EventId; type: string; dispatchCount: number };

const DAY_MS = 86_400_000;

/** Of one type, or of types with this prefix; both null: any. */
export type TypeFilter = { exactly: string | null; prefix: string | null };

export type EventSlice = {
  /** Newest first. */
  found: EventHead[];
  /** How many rows were looked at. */
  looked: number;
  /** All events from here on were looked at; null where no older ones are left in the range. */
  lookedTo: EventId | null;
};

/** Reads the newest `most` events of a range, and returns the newest `limit` matches. */
export async function listEventSlice(
  db: Db,
  tenantId: TenantId,
  { exactly, prefix }: TypeFilter,
  slice: { range: IdRange; most: number; limit: number },
): Promise<EventSlice> {
  const { rows } = await db.query<Omit<EventSlice, "found"> & (EventHead | { id: null })>({
    name: "list-event-slice",
    // The collation is that of the index: see its migration.
    text: /* sql */ `WITH looked AS MATERIALIZED (
        SELECT e.id, e.type, e.dispatch_count FROM postern.events e
        WHERE e.tenant_id COLLATE "C" = $1 AND e.id >= $2 AND e.id < $3 ORDER BY e.id DESC LIMIT $4
      ), ends AS (
        SELECT count(*)::int AS looked,
          CASE WHEN count(*) >= $4 THEN min(id::text COLLATE "C")::uuid END AS "lookedTo" FROM looked
      )
      SELECT ends.looked, ends."lookedTo", found.* FROM ends LEFT JOIN LATERAL (
        SELECT id, type, dispatch_count AS "dispatchCount" FROM looked
        WHERE ($5::text IS NULL OR type = $5) AND ($6::text IS NULL OR type ^@ $6) ORDER BY id DESC LIMIT $7
      ) AS found ON true`,
    values: [tenantId, slice.range.from, slice.range.to, slice.most, exactly, prefix, slice.limit],
  });
  const found = rows.flatMap((row) =>
    row.id === null ? [] : [{ id: row.id, type: row.type, dispatchCount: row.dispatchCount }],
  );
  return { found, looked: rows[0]?.looked ?? 0, lookedTo: rows[0]?.lookedTo ?? null };
}

/** The body of an event and its version, and those of its other versions by number; null: it has none. */
export type EventBodies = { version: number; body: string; others: Readonly<Record<string, string>> | null };

export async function findEvent(
  db: Db,
  tenantId: TenantId,
  id: EventId,
): Promise<(EventHead & EventBodies) | null> {
  const { rows } = await db.query<EventHead & EventBodies>({
    name: "find-event",
    text: /* sql */ `SELECT id, type, dispatch_count AS "dispatchCount", coalesce(version, 1) AS version, body,
        versions AS others
      FROM postern.events WHERE id = $2 AND tenant_id = $1`,
    values: [tenantId, id],
  });
  return rows[0] ?? null;
}

/** An attempt of an event, made or pending; what it was is with its delivery. */
export type AttemptKey = {
  endpointId: EndpointId;
  id: DeliveryId;
  state: "pending" | "held" | "delivered" | "failed";
};

export type AttemptKeys = {
  keys: AttemptKey[];
  /** Not all rows that may be attempts of the event were looked at. */
  isPartial: boolean;
};

/** The newest attempt of an event that was made at an endpoint; null where none was. */
export async function findNewestAttempt(
  db: Db,
  at: EndpointKey & { eventId: EventId },
): Promise<{ attempt: number; version: number } | null> {
  const { rows } = await db.query<{ attempt: number; version: number }>({
    name: "find-newest-attempt",
    text: /* sql */ `SELECT attempt, coalesce(version, 1) AS version FROM (
        SELECT d.id, d.attempt, d.version, d.endpoint_id FROM postern.deliveries d
        WHERE d.event_id = $3 AND d.tenant_id = $1 AND d.id >= $4 OFFSET 0
      ) AS made WHERE endpoint_id = $2 ORDER BY id DESC LIMIT 1`,
    values: [at.tenantId, at.endpointId, at.eventId, lowestIdAt(idTimeMs(at.eventId) - DAY_MS)],
  });
  return rows[0] ?? null;
}

/** By how much the clocks of the database and of who accepted the event may differ. */
const SKEW_MS = 5000;

/**
 * The attempts of an event, in no order. Looks at `most` rows of the log, and
 * as many pending ones of all endpoints together.
 *
 * Dispatches have no index by event, which every publisher would pay for. An
 * event's dispatch at an endpoint is newer than its last automatic attempt there,
 * or without one came with the event. So it is looked for from there on.
 */
export async function findAttempts(
  db: Db,
  { tenantId, eventId }: { tenantId: TenantId; eventId: EventId },
  most: number,
): Promise<AttemptKeys> {
  const atMs = idTimeMs(eventId);
  const { rows } = await db.query<AttemptKey & { endpointId: EndpointId | null }>({
    name: "find-attempts",
    text: /* sql */ `WITH logged AS MATERIALIZED (
        SELECT d.endpoint_id, d.id, d.status, d.trigger FROM postern.deliveries d
        WHERE d.event_id = $2 AND d.tenant_id = $1 AND d.id >= $4 LIMIT $3::bigint + 1
      ), ends AS MATERIALIZED (
        SELECT endpoint_id, max(id::text COLLATE "C")::uuid AS id FROM logged
        WHERE trigger IN ('event', 'auto_retry') GROUP BY endpoint_id
      ), own AS MATERIALIZED (
        SELECT id, mode = 'pull' AND enabled AS is_fetched, greatest(1, $3::bigint / count(*) OVER ()) AS most
        FROM postern.endpoints
        WHERE tenant_id = $1 AND (deleted_at IS NULL OR unsettled)
      ), line AS MATERIALIZED (
        SELECT line.*, line.place = own.most AS is_last
        FROM own CROSS JOIN LATERAL (
          SELECT d.endpoint_id, d.id, d.event_id, d.held AND NOT own.is_fetched AS held, d.superseded, row_number() OVER (ORDER BY d.id) AS place
          FROM postern.dispatches d
          WHERE d.tenant_id = $1 AND d.endpoint_id = own.id
            AND d.id >= coalesce((SELECT id FROM ends WHERE endpoint_id = own.id), $5)
          ORDER BY d.id LIMIT own.most
        ) AS line
      )
      SELECT endpoint_id AS "endpointId", id, status AS state FROM logged
      UNION ALL
      SELECT endpoint_id, id, CASE WHEN held THEN 'held' ELSE 'pending' END FROM line
      WHERE event_id = $2 AND NOT superseded
      UNION ALL
      SELECT endpoint_id, id, 'pending' FROM postern.person_sends WHERE tenant_id = $1 AND event_id = $2
      UNION ALL
      SELECT NULL, NULL, 'pending' WHERE EXISTS (SELECT FROM line WHERE is_last)`,
    values: [tenantId, eventId, most, lowestIdAt(atMs - DAY_MS), lowestIdAt(atMs - SKEW_MS)],
  });
  const keys = rows.flatMap(({ endpointId, id, state }) =>
    endpointId === null ? [] : [{ endpointId, id, state }],
  );
  return { keys, isPartial: keys.length > most || keys.length < rows.length };
}
