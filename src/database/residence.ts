/**
 * With several databases: whether a tenant lives in this one. Each transaction
 * for a tenant begins with that question, so a process whose knowledge of the
 * tenant's place is out of date does nothing in the wrong database.
 */
import { escapeLiteral } from "pg";
import { codeOf } from "../shared/error-code.ts";
import type { TenantId } from "../shared/id.ts";

/** The version under which this process knows the tenant to live here; null: it does not know it here. */
export type Residence = { versionOf(tenantId: TenantId): number | null };

const MISROUTED = "PS001";

class MisroutedError extends Error {
  override readonly name = "MisroutedError";
  readonly code = MISROUTED;
}

/** Whether nothing was done because a tenant does not live here, or not under that version. */
export function isMisrouted(error: unknown): boolean {
  return codeOf(error) === MISROUTED;
}

export type Residents = { tenantIds: readonly TenantId[]; versions: readonly number[] };

/** Tenants that this process knows to live here, for `postern.require_here`. Fails with what {@link isMisrouted} knows. */
export function residentsOf(residence: Residence, tenantIds: readonly TenantId[]): Residents {
  const versions = tenantIds.map((tenantId) => {
    const version = residence.versionOf(tenantId);
    if (version === null) throw new MisroutedError("the tenant is not known in this shard");
    return version;
  });
  return { tenantIds, versions };
}

/** SQL for the beginning of a transaction. It, or this function, fails with what {@link isMisrouted} knows. */
export function requireHere(residence: Residence, tenantIds: readonly TenantId[]): string {
  const { versions } = residentsOf(residence, tenantIds);
  // Quoted, since a tenant may be named `null`. An id has neither quotes nor backslashes.
  const tenants = escapeLiteral(`{${tenantIds.map((tenantId) => `"${tenantId}"`).join(",")}}`);
  return `SELECT postern.require_here(${tenants}, '{${versions.join(",")}}')`;
}
