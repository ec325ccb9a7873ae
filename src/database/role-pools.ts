/** The connections of one process: a pool for each database role that it serves under. */
import { createPool, type Pool, type PoolOptions } from "./pool.ts";
import { createTenantPool, type TenantPool } from "./tenant-pool.ts";

export type RolePools = {
  /** For a tenant's users. */
  tenants: TenantPool;
  /** For events that producers publish over HTTP. */
  publisher: Pool;
  /** For attempts and upkeep, and in every process to see whether the queue is worked on. */
  worker: Pool;
  /** One connection beside the pool's size, so that a process can say how it is while all others are busy. */
  status: Pool;
  close(): Promise<void>;
};

/**
 * Shares `poolSize` connections out. Beside an API the worker has half of them,
 * as its upkeep can keep some busy while outcomes wait to be recorded;
 * publishing and people halve the rest. An API alone keeps one for its looks at
 * the queue. A pool whose role the process does not have never connects.
 */
export function openRolePools(
  { poolSize, ...options }: Omit<PoolOptions, "role">,
  { servesApi, works }: { servesApi: boolean; works: boolean },
): RolePools {
  const workers = works ? Math.floor(servesApi ? poolSize / 2 : poolSize) : 1;
  const publishers = Math.floor((poolSize - workers) / 2);
  const tenants = createTenantPool({ ...options, poolSize: atLeastOne(poolSize - workers - publishers) });
  const publisher = createPool({ ...options, poolSize: atLeastOne(publishers), role: "postern_publisher" });
  const worker = createPool({ ...options, poolSize: atLeastOne(workers), role: "postern_worker" });
  // Beyond the size: a process whose pool is busy can still say so.
  const status = createPool({
    ...options,
    applicationName: `${options.applicationName} status`,
    poolSize: 1,
    role: "postern_worker",
  });
  return {
    tenants,
    publisher,
    worker,
    status,
    async close() {
      await Promise.all([tenants.end(), publisher.end(), worker.end(), status.end()]);
    },
  };
}

/** A pool of none would be one of ten: the package's default. */
function atLeastOne(share: number): number {
  return Math.max(share, 1);
}
