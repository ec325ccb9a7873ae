/**
 * Connects to NATS, and leaves no connection behind where that fails.
 *
 * The package ends a try that the server does not answer, but not its socket,
 * which stays until the server closes it. A process that tries until a silent
 * server answers would collect one every two seconds. The package hands its
 * sockets to nobody, so they are noted as Node opens them.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { Duplex } from "node:stream";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";

/** `sockets`: null once connected, since later ones are the connection's own to close. */
const trying = new AsyncLocalStorage<{ sockets: Duplex[] | null }>();

subscribe("net.client.socket", (opened) => {
  if (typeof opened !== "object" || opened === null || !("socket" in opened)) return;
  if (opened.socket instanceof Duplex) trying.getStore()?.sockets?.push(opened.socket);
});

export async function connectOrClose(options: NodeConnectionOptions): Promise<NatsConnection> {
  const sockets: Duplex[] = [];
  const store: { sockets: Duplex[] | null } = { sockets };
  try {
    const connection = await trying.run(store, () => connect(options));
    store.sockets = null;
    return connection;
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error;
  }
}
