/**
 * The connections to all origins, in place of undici's Agent and Pool: those
 * look through every connection of an origin, busy or not, twice for each
 * request.
 */
import { together } from "../shared/ending.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";

export type Connections = {
  /** One that is free, the last used first so that surplus ones end by themselves; else a new one. */
  take(origin: string): Connection;
  /** One that nobody used before. */
  open(origin: string): Connection;
  /** What was taken or opened, once its request has ended. */
  giveBack(connection: Connection): void;
  /** Closes all of them; what is under way fails. */
  destroy(): Promise<void>;
};

export function makeConnections(options: ConnectionOptions): Connections {
  const all = new Set<Connection>();
  /** By origin, the last used at the end; no list is empty. */
  const free = new Map<string, Connection[]>();

  function open(origin: string): Connection {
    const connection = new Connection(origin, options);
    all.add(connection);
    // The receiver closed it, or it was idle for too long.
    connection.on("disconnect", () => {
      if (removeFree(connection)) discard(connection);
    });
    return connection;
  }

  function removeFree(connection: Connection): boolean {
    const ofOrigin = free.get(connection.origin);
    const place = ofOrigin?.lastIndexOf(connection) ?? -1;
    if (ofOrigin === undefined || place === -1) return false;
    ofOrigin.splice(place, 1);
    if (ofOrigin.length === 0) free.delete(connection.origin);
    return true;
  }

  function discard(connection: Connection): void {
    all.delete(connection);
    void connection.destroy();
  }

  return {
    open,
    take(origin) {
      for (;;) {
        const last = free.get(origin)?.at(-1);
        if (last === undefined) return open(origin);
        removeFree(last);
        if (last.isUsable()) return last;
        discard(last);
      }
    },
    giveBack(connection) {
      if (!connection.isUsable()) return discard(connection);
      const ofOrigin = free.get(connection.origin);
      if (ofOrigin === undefined) free.set(connection.origin, [connection]);
      else ofOrigin.push(connection);
    },
    destroy: () => together([...all], (connection) => connection.destroy()),
  };
}
