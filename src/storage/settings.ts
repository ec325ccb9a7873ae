/** What a tenant chooses for its artifacts. Changes are seen by attempts within a second. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { TenantId } from "../shared/id.ts";
import { readTenantSettings, writeTenantSettings, type TenantSettings } from "./tenant-settings-store.ts";

export type StorageSettings = ReturnType<typeof makeStorageSettings>;

export function makeStorageSettings(tenants: TenantPool) {
  async function get(tenantId: TenantId): Promise<TenantSettings> {
    return readTenantSettings(tenants.of(tenantId), tenantId);
  }

  /** Counts for what is stored from now on: an announced deadline stays. */
  async function put(tenantId: TenantId, settings: TenantSettings): Promise<TenantSettings> {
    await writeTenantSettings(tenants.of(tenantId), tenantId, settings);
    return settings;
  }

  return { get, put };
}
