/** What a tenant chooses for its artifacts. Changes are seen by attempts within a second. */
import { recordDone } from "../../audit/audit.ts";
import type { Caller } from "../../audit/audit-entry.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { TenantId } from "../../shared/id.ts";
import {
  readTenantSettings,
  writeTenantSettings,
  type TenantSettings,
} from "../rows/tenant-settings-store.ts";

export type StorageSettings = ReturnType<typeof makeStorageSettings>;

export function makeStorageSettings(tenants: TenantPool) {
  async function get(tenantId: TenantId): Promise<TenantSettings> {
    return readTenantSettings(tenants.of(tenantId), tenantId);
  }

  /** Counts for what is stored from now on: an announced deadline stays. */
  async function put(caller: Caller, settings: TenantSettings): Promise<TenantSettings> {
    const { tenantId } = caller;
    const details = {
      keep_request_bodies: settings.keepRequestBodies,
      keep_response_bodies: settings.keepResponseBodies,
      artifact_days: settings.artifactDays,
    };
    await tenants.of(tenantId).transaction(async (transaction) => {
      await writeTenantSettings(transaction, tenantId, settings);
      await recordDone(transaction, caller, {
        action: "storage_settings.updated",
        endpointId: null,
        details,
      });
    });
    return settings;
  }

  return { get, put };
}
