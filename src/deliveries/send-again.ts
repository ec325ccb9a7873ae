/** An event sent to one endpoint once more because a person asks: through the queue, whatever became of it there. */
import { recordDone } from "../audit/audit.ts";
import type { Caller } from "../audit/audit-entry.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { lockSendTarget } from "../endpoints/send-target.ts";
import { versionFor } from "../events/subscription.ts";
import type { OnceDispatch } from "../queue/once.ts";
import { bodyOf } from "../queue/queue.ts";
import type { DeliveryId, EndpointId, EventId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { Delivery } from "./delivery.ts";
import { findEvent, findNewestAttempt, type EventBodies, type EventHead } from "./event-log-store.ts";

export type SendAgainServices = {
  tenants: TenantPool;
  secretBox: SecretBox;
  /** Adds the dispatch within the transaction that records who asked for it. */
  dispatchOnce: (db: Db, dispatch: OnceDispatch) => Promise<{ id: DeliveryId; dueAt: Date } | null>;
};

export type SendAgain = (
  caller: Caller,
  eventId: EventId | null,
  endpointId: EndpointId | null,
) => Promise<Delivery>;

/** Answers the pending delivery. One attempt is made; the event's automatic attempts go on beside it. */
export function makeSendAgain({ tenants, secretBox, dispatchOnce }: SendAgainServices): SendAgain {
  return async (caller, eventId, endpointId) => {
    const { tenantId } = caller;
    const event = eventId === null ? null : await findEvent(tenants.reading(tenantId), tenantId, eventId);
    if (event === null) throw new Refusal("not_found");
    if (endpointId === null) throw new Refusal("endpoint_not_found");
    const at = { tenantId, endpointId, eventId: event.id };
    return tenants.of(tenantId).transaction(async (transaction) => {
      const target = await lockSendTarget(transaction, secretBox, at);
      if (target === null) throw new Refusal("endpoint_not_found");
      if (!target.enabled) throw new Refusal("endpoint_disabled");
      const newest = await findNewestAttempt(transaction, at);
      const version = newest?.version ?? versionOf(event, target.events);
      const once = { ...at, eventType: event.type, version, attempt: (newest?.attempt ?? 0) + 1 };
      const made = await dispatchOnce(transaction, once);
      if (made === null) throw new Error("an inserted row is answered");
      await recordDone(transaction, caller, {
        action: "event.sent",
        endpointId,
        details: { event_id: event.id, delivery_id: made.id },
      });
      return pendingDelivery({ ...once, id: made.id }, bodyOf(event, version), made.dueAt);
    });
  };
}

/** What the endpoint would have got; for one that does not subscribe to the event its newest version. */
function versionOf(
  { type, version, others }: EventHead & EventBodies,
  subscription: readonly string[],
): number {
  const versions = [version, ...Object.keys(others ?? {}).map(Number)];
  return versionFor(subscription, { type, newest: version, versions }) ?? version;
}

function pendingDelivery(
  dispatch: OnceDispatch & { id: DeliveryId },
  requestBody: string,
  nextAttemptAt: Date,
): Delivery {
  return {
    ...dispatch,
    testId: null,
    trigger: "retry",
    status: "pending",
    requestBody,
    requestHeaders: null,
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    latencyMs: 0,
    error: null,
    sentAt: null,
    replayId: null,
    nextAttemptAt,
  };
}
