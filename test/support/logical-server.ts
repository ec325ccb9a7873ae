/** A PostgreSQL of its own for a test file that moves tenants: the one that all share has no logical replication. */
import { SERVER, startTestServer } from "./postgres.ts";

const SETTINGS = {
  wal_level: "logical",
  // Less of the time in which a copy waits for its next look.
  wal_writer_delay: "10ms",
  wal_retrieve_retry_interval: "100ms",
};

/** Until it is stopped, new test databases are on it. */
export async function startLogicalServer(): Promise<{ stop(): Promise<void> }> {
  const given = process.env[SERVER.url];
  const server = await startTestServer(undefined, SETTINGS);
  process.env[SERVER.url] = server.url;
  return {
    async stop() {
      await server.stop();
      process.env[SERVER.url] = given;
    },
  };
}
