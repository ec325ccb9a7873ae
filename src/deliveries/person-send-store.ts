/** What persons send now: noted before the request leaves, gone with its outcome. */
import { notOnItsWay } from "../database/on-its-way.ts";
import type { Db } from "../database/pool.ts";
import type { DeliveryId, EndpointKey } from "../shared/id.ts";
import type { NewDelivery } from "./delivery.ts";

/** A request that is about to be sent, as its delivery will be logged. */
export type PersonSend = Pick<
  NewDelivery,
  | "tenantId"
  | "endpointId"
  | "id"
  | "eventId"
  | "testId"
  | "eventType"
  | "version"
  | "trigger"
  | "attempt"
  | "requestBody"
  | "requestHeaders"
>;

/**
 * A request takes 15 seconds at most. What is older lost its process, or the
 * database when the outcome was to be logged.
 */
const LOST_AFTER_S = 45;

/**
 * False where the endpoint is gone. An erasure of the tenant takes these rows before its endpoints, and waits for
 * this lock: nothing is noted behind it.
 */
export async function insertPersonSend(db: Db, send: PersonSend): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `INSERT INTO postern.person_sends
        (tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, attempt, request_body, request_headers,
         version)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, nullif($11::smallint, 1)
      FROM (SELECT FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE) AS kept`,
    [
      send.tenantId,
      send.endpointId,
      send.id,
      send.eventId,
      send.testId,
      send.eventType,
      send.trigger,
      send.attempt,
      send.requestBody,
      JSON.stringify(send.requestHeaders ?? {}),
      send.version,
    ],
  );
  return rowCount === 1;
}

/** False where the send was ended as interrupted: then its delivery is logged already. Or its tenant was erased. */
export async function deletePersonSend(
  db: Db,
  { tenantId, endpointId, id }: EndpointKey & { id: DeliveryId },
): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `DELETE FROM postern.person_sends WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3`,
    [tenantId, endpointId, id],
  );
  return rowCount === 1;
}

/** Whether the tenant was erased: an endpoint that was deleted keeps its row for longer than a send takes. */
export async function isEndpointErased(db: Db, { tenantId, endpointId }: EndpointKey): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.endpoints WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE`,
    [tenantId, endpointId],
  );
  return rowCount === 0;
}

/** Logs sends that lost their process as failed with the error `interrupted`; answers how many. Of all tenants. */
export async function endInterruptedSends(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    /* sql */ `WITH lost AS MATERIALIZED (
        SELECT tenant_id, endpoint_id, id FROM postern.person_sends
        WHERE id < postern.lowest_id_at(now() - make_interval(secs => $1)) AND ${notOnItsWay("tenant_id")}
        ORDER BY tenant_id, endpoint_id, id -- as in order_of_deletion.sql
      ), ended AS (
        DELETE FROM postern.person_sends s USING lost
        WHERE s.tenant_id = ANY (ARRAY[lost.tenant_id]) AND s.endpoint_id = lost.endpoint_id AND s.id = lost.id
        RETURNING s.*
      )
      INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, status,
        attempt, request_body, request_headers, latency_ms, error, version)
      SELECT tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, 'failed',
        attempt, request_body, request_headers, 0, 'interrupted', version
      FROM ended`,
    [LOST_AFTER_S],
  );
  return rowCount ?? 0;
}
