import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { assumeRole } from "./pool.ts";
import { connectTo, type ServingRole } from "./session-settings.ts";

const CONNECTION_TIMEOUT_MS = 3000;
/** A server that has gone silent is not waited for. */
const CLOSE_LIMIT_MS = 1000;

export type Listener = {
  /** Resolves when the connection is gone, whoever closed it. */
  ended: Promise<void>;
  close(): Promise<void>;
};

/**
 * A connection of its own that hears one channel's notifications; LISTEN does
 * not work through a pool. It needs no rights, and has only those of `role`.
 */
export async function createListener(
  { url, role, channel }: { url: string; role: ServingRole; channel: string },
  onNotify: (payload: string) => void,
): Promise<Listener> {
  const client = new Client({
    ...connectTo(url, role),
    application_name: "postern listener",
    keepAlive: true,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  });
  const ended = new Promise<void>((resolve) => {
    client.once("end", () => resolve());
    // An error is followed by the end; without a listener it would end the process.
    client.on("error", () => undefined);
  });
  client.on("notification", ({ payload = "" }) => onNotify(payload));
  try {
    await client.connect();
    await client.query(assumeRole(role));
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  return { ended, close: () => Promise.race([client.end(), delay(CLOSE_LIMIT_MS)]) };
}
