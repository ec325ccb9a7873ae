/**
 * Connects to NATS, and leaves no connection behind.
 *
 * The package ends a try that the server does not answer, but its socket only
 * with the next try: that of the last one stays until the server closes it. A
 * process that tries until a silent server answers would collect one every two
 * seconds. The package does not give its sockets out, so they are noted as
 * Node opens them.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { Duplex } from "node:stream";
import { connect, errors, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { messageOf } from "../shared/message-of.ts";

/** The socket of the last try of each connection, also where one that was lost is opened again. */
const lastOf = new AsyncLocalStorage<{ socket: Duplex | null }>();

subscribe("net.client.socket", (opened) => {
  const last = lastOf.getStore();
  if (last === undefined || typeof opened !== "object" || opened === null || !("socket" in opened)) return;
  last.socket = opened.socket instanceof Duplex ? opened.socket : null;
});

export async function connectOrClose(options: NodeConnectionOptions): Promise<NatsConnection> {
  const last: { socket: Duplex | null } = { socket: null };
  try {
    const connection = await lastOf.run(last, () => connect(options));
    // It may be closed in the middle of a try.
    void connection.closed().then(() => last.socket?.destroy());
    return connection;
  } catch (error) {
    last.socket?.destroy();
    throw error;
  }
}

/**
 * Answers why the connection is lost at the moment; null where it is not. The
 * package opens it again by itself, and requests only time out meanwhile: what a
 * server says as it refuses, such as of a password that was changed, comes as a
 * status alone.
 *
 * @param tell is called with each refusal that is another than the one before
 */
export function watchLoss(connection: NatsConnection, tell: (refusal: Error) => void): () => string | null {
  let isLost = false;
  let refusal: Error | null = null;
  let told: string | null = null;
  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") isLost = true;
      else if (status.type === "reconnect") [isLost, refusal, told] = [false, null, null];
      // One of a subject leaves the connection as it is.
      else if (status.type === "error" && !(status.error instanceof errors.PermissionViolationError))
        refusal = status.error;
      if (!isLost || refusal === null || refusal.message === told) continue;
      told = refusal.message;
      tell(refusal);
    }
  };
  void watch();
  return () => {
    if (!isLost) return null;
    return refusal === null ? "the connection was lost" : messageOf(refusal);
  };
}
