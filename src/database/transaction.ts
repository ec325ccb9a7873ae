import { isConnectionSpent } from "./passing-errors.ts";
import type { Pool, PoolClient } from "./pool.ts";

/**
 * Runs `work` in one transaction and commits it. Any error rolls back and is
 * thrown on; an error from the commit itself leaves open whether it happened,
 * as it must when the connection breaks at that moment. `begin` is the SQL that
 * opens it.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  begin = "BEGIN",
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // A connection that has gone silent would not answer this either; closing it rolls back as well.
    broken = isConnectionSpent(error);
    // The first error is the one to tell; a connection that cannot even roll back is thrown away.
    if (!broken) {
      await client.query("ROLLBACK").catch(() => {
        broken = true;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Runs `work` on a connection, which outlives an error unless that ended it: a pool's own `query` closes it at any. */
export async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    broken = isConnectionSpent(error);
    throw error;
  } finally {
    client.release(broken);
  }
}
