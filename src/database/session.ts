import type { Client } from "pg";
import { assumeRole, type Db } from "./pool.ts";
import { clientFor } from "./make-client.ts";
import { noteAtOpening } from "./passing-errors.ts";
import type { ServingRole } from "./session-settings.ts";
import { refuseUnreplicated } from "./replication/unreplicated.ts";

const CONNECTION_TIMEOUT_MS = 3000;
/** A server that has gone silent is not waited for. */
const CLOSE_LIMIT_MS = 1000;

export type SessionOptions = {
  url: string;
  role: ServingRole;
  applicationName: string;
  /** A query that is not answered for so long rejects; default never. */
  queryTimeoutMs?: number;
  onNotify?: (payload: string) => void;
};

/** A connection outside the pools, for what lasts as long as it does: LISTEN, and locks. */
export type Session = Db & {
  /** Resolves when the connection is gone, whichever side closed it. */
  ended: Promise<void>;
  close(): Promise<void>;
};

/** Connects with the rights of `role` and no others. Throws what the database throws. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { url, role, queryTimeoutMs, onNotify } = options;
  const { Client, connection } = clientFor(url, role);
  const client = new Client({
    ...connection,
    application_name: options.applicationName,
    keepAlive: true,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
  });
  const ended = new Promise<void>((resolve) => {
    client.once("end", () => resolve());
  });
  refuseUnreplicated(client);
  client.on("notification", ({ payload = "" }) => onNotify?.(payload));
  try {
    await client.connect();
    await client.query(assumeRole(role));
  } catch (error) {
    noteAtOpening(error);
    await client.end().catch(() => undefined);
    throw error;
  }
  return {
    query: (text, values) => client.query(text, values),
    ended,
    close: () => endSoon(client),
  };
}

/** Leaves no timer behind: it would keep a process that has nothing else to do. */
async function endSoon(client: Client): Promise<void> {
  const late = Promise.withResolvers<void>();
  const limit = setTimeout(late.resolve, CLOSE_LIMIT_MS);
  try {
    await Promise.race([client.end(), late.promise]);
  } finally {
    clearTimeout(limit);
  }
}
