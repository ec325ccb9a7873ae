/** Writes a week into the log of the demonstration's tenant, with the rights of the schema's owner. */
import { withoutDerived } from "../outbound/request-headers.ts";
import type { Db } from "../database/pool.ts";
import type { EndpointId, TenantId } from "../shared/id.ts";
import { DEAD_FOR_MS, isDelivered, type Behaviour, type Week, type WeekAttempt } from "./week.ts";

export type WeekLog = {
  week: Week;
  nowMs: number;
  endpointIds: Readonly<Record<Behaviour, EndpointId>>;
  /** Headers of an attempt, signed. */
  headersOf: (attempt: WeekAttempt) => Record<string, string>;
};

const ROWS_AT_ONCE = 2_500;
const DAYS = 7;

/** Whether the tenant ever had an endpoint. */
export async function hasEndpoints(db: Db, tenantId: TenantId): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    /* sql */ `SELECT EXISTS (SELECT FROM postern.endpoints WHERE tenant_id = $1) AS found`,
    [tenantId],
  );
  return rows[0]?.found === true;
}

/** Before the transaction of {@link insertWeek}: it locks the tables that the workers need, until it commits. */
export async function makePartitionsOfWeek(db: Db): Promise<void> {
  await db.query(
    /* sql */ `SELECT postern.ensure_partitions(day - $1::int, day) FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) AS today`,
    [DAYS],
  );
}

/** In one transaction of the caller's: half a week would never be finished. */
export async function insertWeek(db: Db, tenantId: TenantId, log: WeekLog): Promise<void> {
  await insertEvents(db, tenantId, log.week);
  for (let from = 0; from < log.week.attempts.length; from += ROWS_AT_ONCE) {
    await insertAttempts(db, tenantId, log, log.week.attempts.slice(from, from + ROWS_AT_ONCE));
  }
  await insertPending(db, tenantId, log);
  await ageEndpoints(db, tenantId, log);
}

async function insertEvents(db: Db, tenantId: TenantId, { events }: Week): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
      SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::int[])`,
    [
      tenantId,
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      events.map(({ dispatchCount }) => dispatchCount),
    ],
  );
}

async function insertAttempts(
  db: Db,
  tenantId: TenantId,
  { endpointIds, headersOf }: WeekLog,
  attempts: readonly WeekAttempt[],
): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status,
        attempt, request_headers, response_status, response_headers, response_body, latency_ms, error, sent_at)
      SELECT $1, endpoint_id, id, event_id, event_type, CASE attempt WHEN 1 THEN 'event' ELSE 'auto_retry' END,
        status, attempt, request_headers::json, response_status, response_headers::json, response_body, latency_ms,
        error, sent_at
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::int[], $8::text[], $9::smallint[],
          $10::text[], $11::text[], $12::int[], $13::text[], $14::timestamptz[])
        AS attempts (endpoint_id, id, event_id, event_type, status, attempt, request_headers, response_status,
          response_headers, response_body, latency_ms, error, sent_at)`,
    [
      tenantId,
      attempts.map(({ behaviour }) => endpointIds[behaviour]),
      attempts.map(({ id }) => id),
      attempts.map(({ event }) => event.id),
      attempts.map(({ event }) => event.type),
      attempts.map(({ answer }) => (isDelivered(answer) ? "delivered" : "failed")),
      attempts.map(({ attempt }) => attempt),
      attempts.map((attempt) => JSON.stringify(withoutDerived(headersOf(attempt)))),
      attempts.map(({ answer }) => answer.status),
      attempts.map((attempt) => responseHeaders(attempt)),
      attempts.map(({ answer }) => answer.body),
      attempts.map(({ answer }) => answer.latencyMs),
      attempts.map(({ answer }) => answer.error),
      attempts.map(({ sentAtMs }) => new Date(sentAtMs)),
    ],
  );
}

function responseHeaders({ answer, sentAtMs }: WeekAttempt): string | null {
  if (answer.body === null) return null;
  const type = answer.body.startsWith("{") ? "application/json" : "text/plain; charset=utf-8";
  return JSON.stringify({
    "content-type": type,
    date: new Date(sentAtMs).toUTCString(),
    "content-length": String(Buffer.byteLength(answer.body)),
  });
}

async function insertPending(db: Db, tenantId: TenantId, { week, endpointIds }: WeekLog): Promise<void> {
  const { pending } = week;
  await db.query(
    /* sql */ `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $1, endpoint_id, id, event_id, event_type, attempt, due_at, due_at
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::smallint[], $7::timestamptz[])
        AS pending (endpoint_id, id, event_id, event_type, attempt, due_at)`,
    [
      tenantId,
      pending.map(({ behaviour }) => endpointIds[behaviour]),
      pending.map(({ id }) => id),
      pending.map(({ event }) => event.id),
      pending.map(({ event }) => event.type),
      pending.map(({ attempt }) => attempt),
      pending.map(({ dueAtMs }) => new Date(dueAtMs)),
    ],
  );
}

/** Endpoints are older than what they got. */
async function ageEndpoints(db: Db, tenantId: TenantId, { nowMs, endpointIds }: WeekLog): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.endpoints SET created_at = created_at - $2 * interval '1 day',
        failing_since = CASE WHEN id = $3 THEN $4::timestamptz ELSE failing_since END
      WHERE tenant_id = $1`,
    [tenantId, DAYS, endpointIds.dead, new Date(nowMs - DEAD_FOR_MS)],
  );
}
