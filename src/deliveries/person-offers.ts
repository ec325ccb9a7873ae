/**
 * A test or retry at a pull endpoint: it waits among the endpoint's events until
 * a client has fetched and acknowledged it, or its person has waited as long as
 * for a receiver's answer.
 */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import { buildRequestHeaders, maskHeaders } from "../outbound/request-headers.ts";
import type { FetchWaits } from "../queue/fetch-waits.ts";
import type { DeliveryId, EventId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { VERSION } from "../shared/version.ts";
import { offerSend, readOffer, withdrawOffer, type OfferState } from "./person-offer-store.ts";
import { insertPersonSend, type PersonSend } from "./person-send-store.ts";

export { ackOffers, leaseOffers, noteOfferHeaders } from "./person-offer-store.ts";

export type Offered = {
  /** When a client fetched it; null where none did. */
  sentAt: Date | null;
  requestHeaders: Record<string, string>;
  isDelivered: boolean;
  /** Of one that was not delivered: `refused` by the client, or `timeout`. */
  error: "refused" | "timeout" | null;
  /** What the client said. */
  refusal: string | null;
  latencyMs: number;
};

export type OfferServices = {
  tenants: TenantPool;
  waits: FetchWaits;
  /** For how long its person waits: as for a receiver's answer. */
  attemptTimeoutMs: number;
};

/** Waits for its outcome. The row stays, for the caller to replace by the delivery. */
export async function offerToClients(
  { tenants, waits, attemptTimeoutMs }: OfferServices,
  send: PersonSend,
  deliveryLabel: string,
): Promise<Offered> {
  const db = tenants.of(send.tenantId);
  const endsAtMs = performance.now() + attemptTimeoutMs;
  const watch = waits.watch(send.id);
  try {
    if (!(await insertPersonSend(db, send))) throw new Refusal("endpoint_not_found");
    await offerSend(db, send, deliveryLabel);
    for (;;) {
      const leftMs = endsAtMs - performance.now();
      if (leftMs > 0) await watch.next(leftMs);
      else await withdrawOffer(db, send);
      const state = await readOffer(db, send);
      if (leftMs <= 0 || state === null || state.ackedAt !== null) return outcomeOf(state, attemptTimeoutMs);
    }
  } finally {
    watch.end();
  }
}

function outcomeOf(state: OfferState | null, attemptTimeoutMs: number): Offered {
  const { leasedAt = null, ackedAt = null, refusal = null, requestHeaders = {} } = state ?? {};
  const fetched = { sentAt: leasedAt, requestHeaders, refusal };
  if (leasedAt === null || ackedAt === null)
    return { ...fetched, isDelivered: false, error: "timeout", latencyMs: attemptTimeoutMs };
  const latencyMs = ackedAt.getTime() - leasedAt.getTime();
  const isDelivered = refusal === null;
  return { ...fetched, isDelivered, error: isDelivered ? null : "refused", latencyMs };
}

/** The headers of something that a client fetches, as a request would have them, and as the log shows them. */
export function fetchedHeaders(
  target: SendTarget,
  fetched: {
    eventType: string;
    deliveryLabel: string;
    webhookId: EventId | DeliveryId;
    leasedAt: Date;
    body: string;
  },
): { headers: Record<string, string>; logged: Record<string, string> } {
  const headers = buildRequestHeaders({
    version: VERSION,
    eventType: fetched.eventType,
    deliveryLabel: fetched.deliveryLabel,
    webhookId: fetched.webhookId,
    timestampSeconds: Math.floor(fetched.leasedAt.getTime() / 1000),
    body: fetched.body,
    signingKeys: target.signingKeys,
    staticHeaders: target.headers,
  });
  return { headers, logged: maskHeaders(headers, target.masked) };
}
