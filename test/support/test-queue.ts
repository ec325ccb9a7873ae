import type { Pool } from "../../src/database/pool.ts";
import { inTransaction } from "../../src/database/transaction.ts";
import { makePostgresQueue } from "../../src/queue/postgres/postgres-queue.ts";
import type { DispatchQueue, OwnLane } from "../../src/queue/queue.ts";

/** The queue in PostgreSQL, with one pool and its rights for everything. */
export function openTestQueue(pool: Pool): DispatchQueue {
  const tenants = {
    of: () => ({
      query: pool.query.bind(pool),
      transaction: <T>(work: Parameters<typeof inTransaction<T>>[1]) => inTransaction(pool, work),
    }),
  };
  return makePostgresQueue({ publisher: pool, worker: pool, tenants }, 0);
}

/** Of a process without a worker: what it accepts is left to others. */
export const NO_LANE: OwnLane = {
  accept: (work) => work({ lease: null, parked: [] }),
  acceptUnleased: (work) => work([]),
};
