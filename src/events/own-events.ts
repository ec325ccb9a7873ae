/**
 * Events of Postern's own, which announce a change: they enter the outbox in
 * the transaction of that change, and a worker relays them within milliseconds.
 */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { writeEvent } from "./new-event.ts";
import { addToOutbox } from "./outbox-store.ts";

export async function publishOwn(
  transaction: Db,
  tenantId: TenantId,
  { type, data }: { type: string; data: Readonly<Record<string, unknown>> },
): Promise<void> {
  await addToOutbox(transaction, { tenantId, type, ...writeEvent(type, data) });
}
