/** Deletes what a tenant has in a shard that it does not live in. */
import type { Pool } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { deleteTenantRows, hasTenantRows } from "./move-store.ts";

/**
 * Again where a day got its partition meanwhile: its rows went to a table that was not
 * there when the tables were listed, or were copied into one that was done.
 */
export async function deleteAllRows(
  db: Pool,
  tenantId: TenantId,
  told: (count: number) => void,
): Promise<void> {
  do await deleteTenantRows(db, tenantId, told);
  while (await hasTenantRows(db, tenantId));
}
