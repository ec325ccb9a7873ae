import type { Client } from "pg";
import { clientFor } from "./make-client.ts";

/** A pooler that gives its servers out in turn shows itself after as many transactions as it has servers. */
const ROUNDS = 20;

/** The pooler in front of the database must not be used. */
export class SharedConnectionsError extends Error {
  override readonly name = "SharedConnectionsError";
}

/**
 * Throws {@link SharedConnectionsError} where a pooler shares one server connection among several
 * clients, as PgBouncer does in transaction mode. There `SET ROLE` of one
 * connection leaks to others, prepared statements are another's, and no process
 * hears a NOTIFY: rights would be a matter of luck. A pool in session mode is
 * none of that.
 *
 * Told by the server process's number: that of a pooler differs from the one it
 * answered when the client connected, and where it shares, two clients that are
 * both connected meet the same one.
 */
export async function refuseSharedConnections(url: string, connectionTimeoutMs: number): Promise<void> {
  await withClient(url, connectionTimeoutMs, async (one) => {
    if ((await serverOf(one)) === announcedTo(one)) return;
    await withClient(url, connectionTimeoutMs, async (other) => {
      const seen = new Set<number>();
      for (let round = 0; round < ROUNDS; round++) {
        seen.add(await serverOf(one));
        if (seen.has(await serverOf(other))) throw new SharedConnectionsError(REFUSAL);
      }
    });
  });
}

const REFUSAL =
  "DATABASE_URL leads to a pooler in transaction or statement mode, such as PgBouncer: there SET ROLE leaks to others' connections";

async function withClient(
  url: string,
  connectionTimeoutMs: number,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const { Client, connection } = clientFor(url, undefined);
  const client = new Client({
    ...connection,
    application_name: "postern start",
    connectionTimeoutMillis: connectionTimeoutMs,
    query_timeout: connectionTimeoutMs,
  });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function serverOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(/* sql */ `SELECT pg_backend_pid() AS pid`);
  return rows[0]?.pid ?? 0;
}

/** As the server, or the pooler, called itself when the client connected: `pg` keeps it, and its types leave it out. */
function announcedTo(client: Client): number | null {
  return "processID" in client && typeof client.processID === "number" ? client.processID : null;
}
