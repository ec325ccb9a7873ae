import { createTenantPool, type TenantPool } from "../../src/database/tenant-pool.ts";
import type { TestDatabase } from "./postgres.ts";

/** Tenants' connections to the database, with their rights. */
export function openTenantPool({ url }: Pick<TestDatabase, "url">, poolSize: number): TenantPool {
  return createTenantPool({ url, poolSize, applicationName: "postern test", connectionTimeoutMs: 30_000 });
}
