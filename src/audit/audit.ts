/** The audit log for the other slices: adding to it, reading it, forgetting what is past its year. */
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { TenantId } from "../shared/id.ts";
import type { AuditEntry, AuditFilter, Doer, NewAuditEntry } from "./audit-entry.ts";
import { insertAuditEntries, listAuditEntries, listAuditOfAll, removeOldAudit } from "./audit-store.ts";

/**
 * Adds the entry of a change. Pass the change's transaction, so that there is
 * neither a change without its entry nor the other way round.
 */
export async function recordDone(
  db: Db,
  by: Doer,
  done: Pick<NewAuditEntry, "action" | "endpointId" | "details">,
): Promise<void> {
  await insertAuditEntries(db, [{ ...by, outcome: "done", ...done }]);
}

export type AuditLog = {
  /** Newest first. A null `endpointId` matches no entry. */
  list(tenantId: TenantId, page: { filter: AuditFilter; limit: number }): Promise<AuditEntry[]>;
};

export function makeAuditLog(tenants: TenantPool): AuditLog {
  return { list: async (tenantId, page) => listAuditEntries(tenants.of(tenantId), tenantId, page) };
}

/** For the operator: of every tenant and of none, or of one. `db` with the owner's rights. */
export async function readAuditOfAll(
  db: Db,
  page: { tenantId: TenantId | null; filter: AuditFilter; limit: number },
): Promise<AuditEntry[]> {
  return listAuditOfAll(db, page);
}

/** Removes some of what is past its year; true when there may be more. */
export async function forgetOldAudit(db: Db): Promise<boolean> {
  return (await removeOldAudit(db)) > 0;
}
