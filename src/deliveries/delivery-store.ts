/**
 * The delivery log. Rows of `deliveries` are finished attempts; pending ones
 * are rows of `dispatches` with the id that the delivery will have. A
 * completed attempt passes from one to the other in one transaction, so a
 * statement that reads both sees each id once.
 */
import type { Db } from "../database/pool.ts";
import { DISPATCH_TRIGGER } from "../queue/dispatch-trigger.ts";
import { headersOf, PACKED_COLUMNS, type HeaderColumns } from "../queue/packed-headers.ts";
import { withDerived } from "../outbound/request-headers.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId, ReplayId, TenantId } from "../shared/id.ts";
import type {
  Delivery,
  DeliveryKey,
  DeliveryStatus,
  DeliveryTrigger,
  ListedDelivery,
  NewDelivery,
} from "./delivery.ts";

/** Of what is pending, there are no headers. */
type DeliveryRow = Omit<HeaderColumns, "request_headers"> & {
  tenant_id: TenantId;
  endpoint_id: EndpointId;
  id: DeliveryId;
  event_id: EventId | null;
  test_id: DeliveryId | null;
  event_type: string;
  version: number;
  trigger: DeliveryTrigger;
  status: DeliveryStatus;
  attempt: number;
  request_body: string | null;
  request_headers: Record<string, string> | null;
  response_status: number | null;
  response_body: string | null;
  latency_ms: number;
  error: string | null;
  replay_id: ReplayId | null;
  due_at: Date | null;
};

// Both halves of the log in one shape; the body of an event's attempt is stored with the event.
// What a person's delivery superseded is not pending: no attempt is due, and one in flight shows once it is logged.
const LOGGED = /* sql */ `SELECT d.tenant_id, d.endpoint_id, d.id, d.event_id, d.test_id, d.event_type,
    coalesce(d.version, 1) AS version, d.trigger, d.status, d.attempt,
    coalesce(d.request_body, postern.body_of_version(e.body, e.version, e.versions, d.version)) AS request_body,
    d.request_headers, d.response_status, d.response_headers, d.response_body, d.latency_ms, d.error, d.sent_at,
    d.replay_id, NULL::timestamptz AS due_at, ${PACKED_COLUMNS}
  FROM postern.deliveries d LEFT JOIN postern.events e ON e.id = d.event_id AND e.tenant_id = d.tenant_id`;

const PENDING = /* sql */ `SELECT d.tenant_id, d.endpoint_id, d.id, d.event_id, NULL::uuid AS test_id, d.event_type,
    coalesce(d.version, 1) AS version, ${DISPATCH_TRIGGER} AS trigger, 'pending' AS status,
    d.attempt::integer, postern.body_of_version(e.body, e.version, e.versions, d.version) AS request_body,
    NULL::json AS request_headers, NULL::smallint AS response_status,
    NULL::json AS response_headers, NULL AS response_body, 0 AS latency_ms, NULL AS error,
    NULL::timestamptz AS sent_at, d.replay_id, d.due_at, NULL AS header_set, NULL::bytea AS header_values
  FROM postern.dispatches d LEFT JOIN postern.events e ON e.id = d.event_id AND e.tenant_id = d.tenant_id
  WHERE NOT d.superseded`;

// What a person sends at this moment: no worker will, and no time is set for it.
const SENDING = /* sql */ `SELECT d.tenant_id, d.endpoint_id, d.id, d.event_id, d.test_id, d.event_type,
    coalesce(d.version, 1) AS version, d.trigger, 'pending' AS status, d.attempt, d.request_body,
    NULL::json AS request_headers, NULL::smallint AS response_status,
    NULL::json AS response_headers, NULL AS response_body, 0 AS latency_ms, NULL AS error,
    NULL::timestamptz AS sent_at, NULL::uuid AS replay_id, NULL::timestamptz AS due_at,
    NULL AS header_set, NULL::bytea AS header_values
  FROM postern.person_sends d`;

// Each row by its key: a list of ids would be compared with every row that the endpoint has, from the sixth call on.
// With the least and the greatest id, other days' partitions are left out before the first row is looked up.
const BY_KEY = /* sql */ `(
    (${LOGGED} WHERE d.tenant_id = $1 AND d.endpoint_id = page.endpoint_id AND d.id = page.id
      AND d.id >= $4 AND d.id <= $5)
    UNION ALL
    (${PENDING} AND d.tenant_id = $1 AND d.endpoint_id = page.endpoint_id AND d.id = page.id)
    UNION ALL
    (${SENDING} WHERE d.tenant_id = $1 AND d.endpoint_id = page.endpoint_id AND d.id = page.id)
  ) AS found`;
const OF_PAGE = /* sql */ `unnest($2::uuid[], $3::uuid[]) AS page (endpoint_id, id) CROSS JOIN LATERAL ${BY_KEY}`;

const HEAD = /* sql */ `tenant_id, found.endpoint_id, found.id, event_id, test_id, event_type, version, trigger, status,
  attempt, request_headers, response_status, response_headers, latency_ms, error, sent_at, replay_id, due_at,
  header_set, header_values`;

/**
 * The deliveries of a page, newest first. Bodies that exceed `maxBodyBytes`
 * together are left out, all of them, and not read either: `octet_length` knows
 * a size without the bytes. A delivery that is gone since is left out too.
 */
export async function readDeliveries(
  db: Db,
  tenantId: TenantId,
  page: { keys: readonly DeliveryKey[]; maxBodyBytes: number },
): Promise<ListedDelivery[]> {
  if (page.keys.length === 0) return [];
  const { rows } = await db.query<DeliveryRow & { omitted_body_bytes: number | null }>({
    name: "read-deliveries",
    text: /* sql */ `WITH sized AS (
        SELECT ${HEAD}, response_body, request_body,
          sum(coalesce(octet_length(request_body), 0)) OVER () > $6::bigint AS is_large
        FROM ${OF_PAGE}
      )
      SELECT ${HEAD.replaceAll("found.", "")}, response_body,
        CASE WHEN NOT is_large THEN request_body END AS request_body,
        CASE WHEN is_large THEN octet_length(request_body) END AS omitted_body_bytes
      FROM sized ORDER BY id DESC`,
    values: [...keyArrays(tenantId, page.keys), page.maxBodyBytes],
  });
  return rows.map((row) => Object.assign(toDelivery(row), { omittedBodyBytes: row.omitted_body_bytes }));
}

/** As {@link readDeliveries}, with null for both bodies: events are not read at all. */
export async function readDeliveryHeads(
  db: Db,
  tenantId: TenantId,
  keys: readonly DeliveryKey[],
): Promise<Delivery[]> {
  if (keys.length === 0) return [];
  const { rows } = await db.query<DeliveryRow>({
    name: "read-delivery-heads",
    text: /* sql */ `SELECT ${HEAD}, NULL AS request_body, NULL AS response_body FROM ${OF_PAGE} ORDER BY id DESC`,
    values: keyArrays(tenantId, keys),
  });
  return rows.map(toDelivery);
}

/**
 * The bodies of deliveries that a page left out. One whose delivery or event is
 * gone since, by retention or as superseded, is not among them, or null.
 */
export async function findBodies(
  db: Db,
  tenantId: TenantId,
  keys: readonly DeliveryKey[],
): Promise<Map<DeliveryId, string | null>> {
  const { rows } = await db.query<{ id: DeliveryId; request_body: string | null }>({
    name: "find-bodies",
    text: /* sql */ `SELECT found.id, request_body FROM ${OF_PAGE}`,
    values: keyArrays(tenantId, keys),
  });
  return new Map(rows.map((row) => [row.id, row.request_body]));
}

/**
 * Which of these deliveries have a text in a body, as far as their bodies
 * together do not exceed `maxBytes`, and the first in any case: a hit or none for
 * each that was looked at, in the order given, and the bytes that they have.
 */
export async function findText(
  db: Db,
  tenantId: TenantId,
  given: { keys: readonly DeliveryKey[]; text: string; maxBytes: number },
): Promise<{ hits: boolean[]; bytes: number }> {
  const { rows } = await db.query<{ hit: boolean; bytes: number }>({
    name: "find-text",
    text: /* sql */ `WITH sized AS (
        SELECT place, request_body, response_body,
          sum(coalesce(octet_length(request_body), 0) + coalesce(octet_length(response_body), 0))
            OVER (ORDER BY place) AS bytes
        FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS page (endpoint_id, id, place)
        LEFT JOIN LATERAL ${BY_KEY} ON true
      )
      SELECT position($6 IN coalesce(request_body, '')) > 0 OR position($6 IN coalesce(response_body, '')) > 0 AS hit,
        bytes
      FROM sized WHERE place = 1 OR bytes <= $7 ORDER BY place`,
    values: [...keyArrays(tenantId, given.keys), given.text, given.maxBytes],
  });
  return { hits: rows.map(({ hit }) => hit), bytes: rows.at(-1)?.bytes ?? 0 };
}

function keyArrays(tenantId: TenantId, keys: readonly DeliveryKey[]): unknown[] {
  const ids = keys.map(({ id }) => id);
  const inOrder = ids.toSorted();
  return [tenantId, keys.map(({ endpointId }) => endpointId), ids, inOrder.at(0), inOrder.at(-1)];
}

export async function findDelivery(db: Db, key: EndpointKey & { id: DeliveryId }): Promise<Delivery | null> {
  const { rows } = await db.query<DeliveryRow>({
    name: "find-delivery",
    text: /* sql */ `(${LOGGED} WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id = $3)
      UNION ALL
      (${PENDING} AND d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id = $3)
      UNION ALL
      (${SENDING} WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id = $3)`,
    values: [key.tenantId, key.endpointId, key.id],
  });
  return rows[0] === undefined ? null : toDelivery(rows[0]);
}

/** The endpoint of a tenant's delivery, or null. Its own key leads with the endpoint, so each part is found in its own way. */
export async function findEndpointOf(db: Db, tenantId: TenantId, id: DeliveryId): Promise<EndpointId | null> {
  const { rows } = await db.query<{ endpoint_id: EndpointId }>({
    name: "find-endpoint-of",
    text: /* sql */ `(SELECT d.endpoint_id FROM postern.deliveries d WHERE d.tenant_id COLLATE "C" = $1 AND d.id = $2)
      UNION ALL
      (SELECT d.endpoint_id FROM postern.endpoints e CROSS JOIN LATERAL (
          SELECT d.endpoint_id FROM postern.dispatches d
          WHERE d.tenant_id = $1 AND d.endpoint_id = e.id AND d.id = $2 OFFSET 0
        ) AS d WHERE e.tenant_id = $1 AND (e.deleted_at IS NULL OR e.unsettled))
      UNION ALL
      (SELECT d.endpoint_id FROM postern.person_sends d WHERE d.tenant_id = $1 AND d.id = $2)`,
    values: [tenantId, id],
  });
  return rows[0]?.endpoint_id ?? null;
}

export async function insertDelivery(db: Db, delivery: NewDelivery): Promise<void> {
  await db.query(
    /* sql */ `INSERT INTO postern.deliveries
        (tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, status, attempt, request_body,
         request_headers, response_status, response_headers, response_body, latency_ms, error, sent_at, version)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, nullif($18::smallint, 1))`,
    [
      delivery.tenantId,
      delivery.endpointId,
      delivery.id,
      delivery.eventId,
      delivery.testId,
      delivery.eventType,
      delivery.trigger,
      delivery.status,
      delivery.attempt,
      delivery.requestBody,
      JSON.stringify(delivery.requestHeaders ?? {}),
      delivery.responseStatus,
      delivery.responseHeaders === null ? null : JSON.stringify(delivery.responseHeaders),
      delivery.responseBody,
      delivery.latencyMs,
      delivery.error,
      delivery.sentAt,
      delivery.version,
    ],
  );
}

function toDelivery(row: DeliveryRow): Delivery {
  const headers =
    row.request_headers === null ? null : headersOf({ ...row, request_headers: row.request_headers });
  return {
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    id: row.id,
    eventId: row.event_id,
    testId: row.test_id,
    eventType: row.event_type,
    version: row.version,
    trigger: row.trigger,
    status: row.status,
    attempt: row.attempt,
    requestBody: row.request_body,
    requestHeaders: withDerived(headers?.request_headers ?? null, row),
    responseStatus: row.response_status,
    responseHeaders: headers?.response_headers ?? null,
    responseBody: row.response_body,
    latencyMs: row.latency_ms,
    error: row.error,
    sentAt: row.sent_at,
    replayId: row.replay_id,
    nextAttemptAt: row.due_at,
  };
}
