/** Lets a tenant work in a shard again, where a move had held it. */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { until } from "../shared/until.ts";
import { releaseEndpoints, releaseLate } from "./hold-store.ts";
import { setMoving, unfence, type MoveSite } from "./move-store.ts";
import { endOfOpen } from "./open-transactions.ts";

/** In one transaction: nobody would end what a kill left between two of these steps. */
export async function reopen(db: Db, tenantId: TenantId): Promise<void> {
  await setMoving(db, tenantId, false);
  await releaseEndpoints(db, tenantId);
  await unfence(db, tenantId);
}

/** Behind it, where the tenant's callers may be at work, or a killed command's last statement. */
export async function releaseWhenOpenEnd(
  { name, db }: MoveSite,
  tenantId: TenantId,
  tell: (text: string) => void,
): Promise<void> {
  tell(`waiting for open transactions in ${name}`);
  // One may be adding an endpoint, and have read that the tenant is moving; one may hold dispatches.
  await until(await endOfOpen(db));
  await releaseLate(db, tenantId);
}
