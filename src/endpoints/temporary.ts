/** Temporary endpoints: pull ones of a client that ends soon, as `postern listen`. */
import { recordDone } from "../audit/audit.ts";
import { NO_REQUEST, POSTERN } from "../audit/audit-entry.ts";
import type { Db, Pool } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { EndpointTarget } from "./endpoint.ts";
import { softDeleteEndpoint } from "./endpoint-store.ts";
import { followChange, type Following } from "./follow-change.ts";
import { extendTemporary, findAbandoned, lockAbandoned } from "./temporary-store.ts";

/** Less than their hour by so much that a busy client's calls write to it once a minute. */
const EXTENDED_BELOW_MS = 59 * 60_000;

/** Each call of its client gives a temporary endpoint another hour. */
export async function keepTemporary(
  db: Db,
  target: Pick<EndpointTarget, "tenantId" | "endpointId" | "temporaryUntil">,
): Promise<void> {
  const { temporaryUntil } = target;
  if (temporaryUntil === null || temporaryUntil.getTime() - Date.now() > EXTENDED_BELOW_MS) return;
  await extendTemporary(db, target);
}

/** Deletes temporary endpoints whose client has not called for an hour, of all tenants. */
export async function removeAbandoned({
  db,
  tenants,
  ...following
}: Following & { db: Pool; tenants: TenantPool }): Promise<void> {
  for (const endpoint of await findAbandoned(db)) {
    const { tenantId, endpointId } = endpoint;
    const isRemoved = await tenants.of(tenantId).transaction(async (transaction) => {
      if (!(await lockAbandoned(transaction, endpoint))) return false;
      await softDeleteEndpoint(transaction, tenantId, endpointId);
      const details = { reason: "abandoned" };
      await recordDone(
        transaction,
        { tenantId, actor: POSTERN, ...NO_REQUEST },
        { action: "endpoint.deleted", endpointId, details },
      );
      return true;
    });
    if (isRemoved) await followChange(following, endpoint);
  }
}
