import { createTenantPool } from "../../src/database/tenant-pool.ts";
import type { TestDatabase } from "./postgres.ts";

export type OpenedTenantPool = ReturnType<typeof createTenantPool>;

/** Tenants' connections to the database, with their rights. */
export function openTenantPool({ url }: Pick<TestDatabase, "url">, poolSize: number): OpenedTenantPool {
  return createTenantPool({ url, poolSize, applicationName: "postern test", connectionTimeoutMs: 30_000 });
}
