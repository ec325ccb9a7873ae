import assert from "node:assert/strict";
import type { TenantPool } from "../../src/database/tenant-pool.ts";

/** The connections for a tenant's reads, which are taken in turns: any other that is asked for is a failure. */
export function readingOnly(tenants: TenantPool): TenantPool {
  return {
    of: () => assert.fail("it would hold a connection that others wait for"),
    reading: (tenantId) => tenants.reading(tenantId),
    end: () => tenants.end(),
  };
}
