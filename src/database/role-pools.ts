/** The connections of one process: a pool for each database role that it serves under. */
import { together } from "../shared/ending.ts";
import { createPool, type Pool, type PoolOptions } from "./pool.ts";
import type { Residence } from "./residence.ts";
import { createTenantPool, type TenantPool } from "./tenant-pool.ts";

export type RolePools = {
  /** For work on tenants' rows that are in this database. */
  tenants: TenantPool;
  /** The same for calls of tenants' users. With several databases they are refused where the tenant is not. */
  residents: TenantPool;
  /** For events that producers publish over HTTP, and events that a worker takes from an intake. */
  publisher: Pool;
  /** For attempts and upkeep, and in every process to see whether the queue is worked on. */
  worker: Pool;
  /** One connection beside the pool's size, so that a process can say how it is while all others are busy. */
  status: Pool;
  close(): Promise<void>;
};

/** What a process does with its connections; `relays`: if it works, then on events from an intake or from other databases too. */
type Work = { servesApi: boolean; works: boolean; relays: boolean };

export function openRolePools(
  { poolSize, ...options }: Omit<PoolOptions, "role">,
  work: Work,
  residence: Residence | null = null,
): RolePools {
  const shares = sharesOf(poolSize, work);
  const tenants = createTenantPool({ ...options, poolSize: shares.tenants });
  const publisher = createPool({ ...options, poolSize: shares.publisher, role: "postern_publisher" });
  const worker = createPool({ ...options, poolSize: shares.worker, role: "postern_worker" });
  // Beyond the size: a process whose pool is busy can still say so.
  const status = createPool({
    ...options,
    applicationName: `${options.applicationName} status`,
    poolSize: 1,
    role: "postern_worker",
  });
  return {
    tenants,
    residents: residence === null ? tenants : tenants.residing(residence),
    publisher,
    worker,
    status,
    close: () => together([tenants, publisher, worker, status], (pool) => pool.end()),
  };
}

/**
 * Shares `poolSize` connections out. Beside an API the worker has half of them,
 * as its upkeep can keep some busy while outcomes wait to be recorded;
 * publishing and people halve the rest. An API alone keeps one for its looks at
 * the queue. A worker alone has all but one for what tenants' users asked for,
 * such as replays, and with an intake leaves a quarter to the events it relays.
 */
export function sharesOf(poolSize: number, { servesApi, works, relays }: Work) {
  if (!servesApi) {
    const publisher = relays ? atLeastOne(Math.floor(poolSize / 4)) : 0;
    // A pool that is not used never connects.
    return { worker: atLeastOne(poolSize - publisher - 1), publisher: atLeastOne(publisher), tenants: 1 };
  }
  const worker = works ? Math.floor(poolSize / 2) : 1;
  const publisher = Math.floor((poolSize - worker) / 2);
  return {
    worker: atLeastOne(worker),
    publisher: atLeastOne(publisher),
    tenants: atLeastOne(poolSize - worker - publisher),
  };
}

/** A pool of none would be one of ten: the package's default. */
function atLeastOne(share: number): number {
  return Math.max(share, 1);
}
