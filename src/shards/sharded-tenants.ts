import type { TenantPool } from "../database/tenant-pool.ts";
import type { Router } from "./router.ts";

/** One pool for the tenants of all shards. The shards' own are ended by their owners. */
export function makeShardedTenants(router: Pick<Router<TenantPool>, "atHome">): TenantPool {
  return {
    of: (tenantId) => ({
      query: (text, values) => router.atHome(tenantId, (tenants) => tenants.of(tenantId).query(text, values)),
      transaction: (work) =>
        // It is refused at its beginning, before any of the work.
        router.atHome(tenantId, (tenants) => tenants.of(tenantId).transaction(work)),
    }),
    reading: (tenantId) => ({
      query: (text, values) =>
        router.atHome(tenantId, (tenants) => tenants.reading(tenantId).query(text, values)),
    }),
    end: async () => undefined,
  };
}
