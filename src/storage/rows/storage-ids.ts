/**
 * Tenants and users as storage knows them.
 *
 * Both are always derived, never passed through: keys then have one grammar, no
 * two tenants differ by case alone, and no tenant id can name another's folder.
 */
import { v5 } from "uuid";
import type { TenantId } from "../../shared/id.ts";

/** Never to be changed: every key in every bucket hangs on it. */
const NAMESPACE = "7b1f0d52-4c5e-4f6a-9d37-2a86c1e0b943";

/** The tenant part of the keys of this tenant's objects. */
export function storageTenantId(tenantId: TenantId): string {
  return v5(tenantId, NAMESPACE);
}

/** A person of a tenant: two tenants may know people by the same subject. */
export function storageUserId(tenantId: TenantId, subject: string): string {
  return v5(JSON.stringify([tenantId, subject]), NAMESPACE);
}
