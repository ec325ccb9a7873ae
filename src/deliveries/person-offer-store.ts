/** Tests and retries at pull endpoints, in `person_sends` until their person was answered. */
import type { Db } from "../database/pool.ts";
import { FETCH_CHANNEL } from "../queue/channels.ts";
import type { DeliveryId, EndpointKey, EventId } from "../shared/id.ts";
import type { DeliveryTrigger } from "./delivery.ts";

type SendKey = EndpointKey & { id: DeliveryId };

/** A person's send that a client has just leased. */
export type FetchedSend = {
  id: DeliveryId;
  eventId: EventId | null;
  webhookId: EventId | DeliveryId;
  deliveryLabel: string;
  eventType: string;
  version: number;
  trigger: Extract<DeliveryTrigger, "retry" | "test">;
  attempt: number;
  body: string;
  leasedAt: Date;
};

/** The result of an offer; without `ackedAt` it is not acknowledged. */
export type OfferState = {
  requestHeaders: Record<string, string>;
  leasedAt: Date | null;
  ackedAt: Date | null;
  refusal: string | null;
};

/** From now on clients can fetch it. */
export async function offerSend(db: Db, { tenantId, endpointId, id }: SendKey, label: string): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.person_sends SET delivery_label = $4
      WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3
      RETURNING pg_notify('${FETCH_CHANNEL}', endpoint_id::text)`,
    [tenantId, endpointId, id, label],
  );
}

/**
 * The oldest offers, up to these bytes of bodies together; at least one, however
 * large. Others that wait at the endpoint are told where some stay: while those
 * are locked here, they pass over them.
 */
export async function leaseOffers(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
  leaseId: string,
  limits: { sends: number; bodyBytes: number },
): Promise<FetchedSend[]> {
  const { rows } = await db.query<FetchedSend & { told: unknown }>({
    name: "lease-offers",
    text: /* sql */ `WITH found AS MATERIALIZED (
        SELECT id, octet_length(coalesce(request_body, '{}')) AS bytes FROM postern.person_sends
        WHERE tenant_id = $1 AND endpoint_id = $2 AND delivery_label IS NOT NULL AND lease_id IS NULL
        ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED
      ), sized AS MATERIALIZED (
        SELECT id, sum(bytes) OVER oldest AS size_so_far, row_number() OVER oldest AS place, count(*) OVER () AS number
        FROM found WINDOW oldest AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
      ), taken AS MATERIALIZED (
        SELECT id, place, number, count(*) OVER () AS number_taken FROM sized WHERE size_so_far <= $5 OR place = 1
      ), leased AS (
        UPDATE postern.person_sends s SET lease_id = $3, leased_at = now() FROM taken
        WHERE s.tenant_id = $1 AND s.endpoint_id = $2 AND s.id = taken.id
        RETURNING s.id, s.event_id AS "eventId", coalesce(s.event_id, s.test_id) AS "webhookId",
          s.delivery_label AS "deliveryLabel", s.event_type AS "eventType", coalesce(s.version, 1) AS version,
          s.trigger, s.attempt,
          coalesce(s.request_body, '{}') AS body, s.leased_at AS "leasedAt"
      )
      SELECT leased.*, CASE WHEN place = 1 AND number_taken < number THEN pg_notify('${FETCH_CHANNEL}', $2::text) END AS told
      FROM taken JOIN leased ON leased.id = taken.id ORDER BY place`,
    values: [tenantId, endpointId, leaseId, limits.sends, limits.bodyBytes],
  });
  return rows.map(({ told: _told, ...send }) => send);
}

/** The headers that a client was given, as the log keeps them. */
export async function noteOfferHeaders(
  db: Db,
  { tenantId, endpointId, id }: SendKey,
  requestHeaders: Readonly<Record<string, string>>,
): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.person_sends SET request_headers = $4
      WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3`,
    [tenantId, endpointId, id, JSON.stringify(requestHeaders)],
  );
}

/** Acknowledges offers of this lease whose person still waits; returns them. The person is notified on commit. */
export async function ackOffers(
  db: Db,
  { tenantId, endpointId }: EndpointKey,
  leaseId: string,
  acks: readonly { id: DeliveryId; refusal: string | null }[],
): Promise<Set<DeliveryId>> {
  const { rows } = await db.query<{ id: DeliveryId }>({
    name: "ack-offers",
    text: /* sql */ `UPDATE postern.person_sends s SET acked_at = now(), refusal = given.refusal
      FROM unnest($4::uuid[], $5::text[]) AS given (id, refusal)
      WHERE s.tenant_id = $1 AND s.endpoint_id = $2 AND s.id = given.id AND s.lease_id = $3 AND s.acked_at IS NULL
      RETURNING s.id, pg_notify('${FETCH_CHANNEL}', s.id::text)`,
    values: [tenantId, endpointId, leaseId, acks.map(({ id }) => id), acks.map(({ refusal }) => refusal)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Null where its process was taken for dead, and it ended as interrupted. */
export async function readOffer(db: Db, { tenantId, endpointId, id }: SendKey): Promise<OfferState | null> {
  const { rows } = await db.query<OfferState>(
    /* sql */ `SELECT request_headers AS "requestHeaders", leased_at AS "leasedAt", acked_at AS "ackedAt", refusal
      FROM postern.person_sends WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3`,
    [tenantId, endpointId, id],
  );
  return rows[0] ?? null;
}

/** It can't be fetched or acknowledged any more; an earlier acknowledgement stays. */
export async function withdrawOffer(db: Db, { tenantId, endpointId, id }: SendKey): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.person_sends SET delivery_label = NULL, lease_id = NULL
      WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND acked_at IS NULL`,
    [tenantId, endpointId, id],
  );
}
