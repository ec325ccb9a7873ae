import { Duplex } from "node:stream";

/**
 * Closes a connection at once, as though the network had: what runs on it fails
 * with `reason`, whose code must be one of a lost connection.
 */
export function cutOff(client: object, reason: Error): void {
  streamOf(client)?.destroy(reason);
}

/** Whether a client has been closed before it connected. */
export function isCutOff(client: object): boolean {
  return streamOf(client)?.destroyed === true;
}

/** `pg` keeps it, and its types leave it out. */
function streamOf(client: object): Duplex | null {
  const connection = "connection" in client ? client.connection : null;
  if (typeof connection !== "object" || connection === null || !("stream" in connection)) return null;
  return connection.stream instanceof Duplex ? connection.stream : null;
}
