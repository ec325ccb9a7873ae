/** The connections of one process: a pool for each database role that it serves under. */
import { createPool, type Pool, type PoolOptions } from "./pool.ts";
import { createTenantPool, type TenantPool } from "./tenant-pool.ts";

export type RolePools = {
  /** For a tenant's users. */
  tenants: TenantPool;
  /** For events that producers publish over HTTP. */
  publisher: Pool;
  /** For attempts and upkeep. */
  worker: Pool;
  close(): Promise<void>;
};

/**
 * Shares `poolSize` connections out equally: an API needs two roles, a worker
 * one, both together three. A pool whose role the process does not have never
 * connects.
 */
export function openRolePools(
  { poolSize, ...options }: Omit<PoolOptions, "role">,
  { servesApi, works }: { servesApi: boolean; works: boolean },
): RolePools {
  const share = Math.floor(poolSize / ((servesApi ? 2 : 0) + (works ? 1 : 0)));
  // What does not divide goes to people, who ask for many things at once.
  const tenants = createTenantPool({
    ...options,
    poolSize: servesApi ? poolSize - share * (works ? 2 : 1) : share,
  });
  const publisher = createPool({ ...options, poolSize: share, role: "postern_publisher" });
  const worker = createPool({ ...options, poolSize: share, role: "postern_worker" });
  return {
    tenants,
    publisher,
    worker,
    async close() {
      await Promise.all([tenants.end(), publisher.end(), worker.end()]);
    },
  };
}
