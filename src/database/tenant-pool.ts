/**
 * Connections of the role `postern_tenant`, to which row-level security shows
 * the rows of one tenant: the one named at the beginning of each transaction.
 *
 * Why no query runs for the wrong tenant: the pool is reached only through a
 * tenant. The setting is the transaction's own (`SET LOCAL`), so it ends with
 * it, however that ends. And a setting that failed leaves the transaction
 * aborted, so the query behind it fails too.
 *
 * The three messages of a query (begin, query, commit) are written at once and
 * answered in order, so a query costs one round trip, as it would alone.
 */
import { escapeLiteral, type QueryConfig, type QueryResult, type QueryResultRow } from "pg";
import { makeFairTurns, type Patience } from "../shared/fair-turns.ts";
import type { TenantId } from "../shared/id.ts";
import { createPool, type Db, type PoolOptions } from "./pool.ts";
import { requireHere, type Residence } from "./residence.ts";
import { inTransaction } from "./transaction.ts";

/** What its connections plan by. */
export const BY_INDEX = [
  "plan_cache_mode = force_generic_plan",
  // A method that is off has a cost at which PostgreSQL would compile the statement.
  "jit = off",
  ...["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"].map((method) => `enable_${method} = off`),
]
  .map((setting) => `SET LOCAL ${setting}`)
  .join("; ");

/** The statements of a silent database end one behind the other, each at its own limit. */
const READ_PATIENCE: Patience = {
  ms: 20_000,
  // As the pool says it, and as passing.
  late: () => new Error("timeout exceeded when trying to connect: the reads before it take too long"),
};

/** Runs each query, and each transaction, as one tenant. */
export type TenantDb = Db & {
  transaction<T>(work: (transaction: Db) => Promise<T>): Promise<T>;
};

export type TenantPool = {
  of(tenantId: TenantId): TenantDb;
  /**
   * For reading the tables that have a partition for each day. Statements are
   * planned once for any values, and by index however small a partition was
   * then: planning them for each call took longer than they do.
   *
   * One tenant's reads have half of the connections at most, and all reads
   * together leave one: whatever is read, other statements and other tenants
   * find a connection, or wait for the few statements that are under way.
   */
  reading(tenantId: TenantId): Db;
  end(): Promise<void>;
};

export function createTenantPool(options: Omit<PoolOptions, "role">): TenantPool & {
  /** The same connections, where each transaction begins with the residence's question. */
  residing(residence: Residence): TenantPool;
} {
  const pool = createPool({ ...options, role: "postern_tenant", pipeline: true });
  const readers = Math.max(1, options.poolSize - 1);
  const share = Math.max(1, Math.floor(readers / 2));
  const turns = makeFairTurns<TenantId>({ total: readers, share }, READ_PATIENCE);

  async function query<Row extends QueryResultRow>(
    begin: string,
    text: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<Row>> {
    const client = await pool.connect();
    let failed = true;
    try {
      const [, result] = await Promise.all([
        client.query(begin),
        client.query<Row>(text, values),
        client.query("COMMIT"),
      ]);
      failed = false;
      return result;
    } finally {
      client.release(failed);
    }
  }

  function viewOf(residence: Residence | null): TenantPool {
    const beginAs = (tenantId: TenantId): string => {
      const begin = `BEGIN; SET LOCAL postern.tenant = ${escapeLiteral(tenantId)}`;
      return residence === null ? begin : `${begin}; ${requireHere(residence, [tenantId])}`;
    };
    return {
      of: (tenantId) => ({
        query: async (text, values) => query(beginAs(tenantId), text, values),
        transaction: async (work) => inTransaction(pool, work, beginAs(tenantId)),
      }),
      reading: (tenantId) => ({
        query: (text, values) =>
          turns.run(tenantId, async () => query(`${beginAs(tenantId)}; ${BY_INDEX}`, text, values)),
      }),
      end: () => pool.end(),
    };
  }

  return { ...viewOf(null), residing: viewOf };
}
