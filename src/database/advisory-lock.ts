/** Work that one process at a time does, of all that share the database. */
import { createPool, type PoolOptions } from "./pool.ts";

export type LockOptions = Pick<
  PoolOptions,
  "url" | "applicationName" | "connectionTimeoutMs" | "role" | "log"
>;

/**
 * Runs `work` while this process holds the named lock; null when another one
 * has it. The lock is a connection's own, opened for it alone: it ends with the
 * process, however that ends, and takes no connection from the pools meanwhile.
 *
 * Should the connection be lost in the middle, another process may begin while
 * `work` continues. So it spares doing things twice, and must not be all that makes
 * doing them twice harmless.
 */
export async function withAdvisoryLock<T>(
  options: LockOptions,
  name: string,
  work: () => Promise<T>,
): Promise<{ result: T } | null> {
  const pool = createPool({ ...options, poolSize: 1 });
  try {
    const client = await pool.connect();
    const key = [`postern.${name}`];
    try {
      const { rows } = await client.query<{ locked: boolean }>(
        /* sql */ `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked`,
        key,
      );
      if (rows[0]?.locked !== true) return null;
      try {
        return { result: await work() };
      } finally {
        // The server notices the end of a connection a moment later, and whoever is next would find the lock taken.
        const unlock = /* sql */ `SELECT pg_advisory_unlock(hashtextextended($1, 0))`;
        await client.query(unlock, key).catch(() => undefined);
      }
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}
