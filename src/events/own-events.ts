/**
 * Events of Postern's own, which announce a change: they enter the outbox in
 * the transaction of that change, and a worker relays them within milliseconds.
 */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { writeEvent } from "./new-event.ts";
import { addToOutbox } from "./outbox-store.ts";

export type OwnEvent = { type: string; data: Readonly<Record<string, unknown>> };

export async function publishOwn(transaction: Db, tenantId: TenantId, event: OwnEvent): Promise<void> {
  await publishOwnEach(transaction, [{ tenantId, ...event }]);
}

/** In one statement. */
export async function publishOwnEach(
  transaction: Db,
  events: readonly (OwnEvent & { tenantId: TenantId })[],
): Promise<void> {
  if (events.length === 0) return;
  await addToOutbox(
    transaction,
    events.map(({ tenantId, type, data }) => ({ tenantId, type, ...writeEvent(type, data) })),
  );
}
