/**
 * Connections: an undici Client each, which knows its own socket.
 *
 * undici shows a handler neither its request's socket nor whether
 * that was used before. A Client of our own, made by the pool's factory, does.
 */
import { Agent, Client, Pool, type Dispatcher } from "undici";
import { Attempt, type AttemptConnection } from "./attempt.ts";
import type { Dial } from "./connect.ts";

export type ConnectionCounters = { open: number; opened: number };

export type ConnectionOptions = {
  dial: Dial;
  counters: ConnectionCounters;
  keepAliveTimeoutMs: number;
  keepAliveMaxTimeoutMs: number;
  /** After this long a connection takes no new request, so that receivers can move. */
  maxConnectionAgeMs: number;
  maxHeaderBytes: number;
};

/** The socket under one Client, and the request that is on it. */
export class Connection implements AttemptConnection {
  #socket: { bytesRead: number } | undefined;
  #requests = 0;
  #bytesBefore = 0;
  #current: Attempt | undefined;

  /** Whether the request under way is not the first on its socket. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  opened(socket: { bytesRead: number }): void {
    this.#socket = socket;
    this.#requests = 0;
  }

  requestStarted(attempt: Attempt): void {
    this.#requests++;
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#current = attempt;
  }

  requestEnded(attempt: Attempt): void {
    if (this.#current === attempt) this.#current = undefined;
  }

  bytesArrived(): void {
    if (this.#socket !== undefined) this.#current?.bytesRead(this.#socket.bytesRead - this.#bytesBefore);
  }
}

class WatchedClient extends Client {
  #connection: Connection;

  constructor(origin: string | URL, connection: Connection, options: Client.Options) {
    super(origin, options);
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Attempt) handler.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}

/** One agent for all origins; how many connections an origin may have is the sender's business. */
export function makeAgent(options: ConnectionOptions): Agent {
  return new Agent({
    factory: (origin) =>
      new Pool(origin, {
        allowH2: false,
        connections: null,
        clientTtl: options.maxConnectionAgeMs,
        factory: (clientOrigin) => makeClient(clientOrigin, options),
      }),
  });
}

/** A client of one connection: those of the pools, or one on its own. */
export function makeClient(origin: string | URL, options: ConnectionOptions): Client {
  const connection = new Connection();
  return new WatchedClient(origin, connection, {
    connect: makeConnector(connection, options),
    // On by default in undici 8; over TLS it costs twice the CPU of HTTP/1.1 here.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    keepAliveMaxTimeout: options.keepAliveMaxTimeoutMs,
    maxHeaderSize: options.maxHeaderBytes,
    // Off: each attempt has one deadline over everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

type Connector = Extract<Client.Options["connect"], (...args: never[]) => unknown>;

function makeConnector(connection: Connection, options: ConnectionOptions): Connector {
  const { counters } = options;
  async function open(host: string, port: number, callback: Parameters<Connector>[1]): Promise<void> {
    let socket;
    try {
      socket = await options.dial({ host, port });
    } catch (error) {
      // In a turn of its own: what undici does in the callback is not part of this promise.
      setImmediate(callback, error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    counters.open++;
    counters.opened++;
    socket.once("close", () => {
      counters.open--;
    });
    connection.opened(socket);
    // Before undici's own listener, so that a flood is seen before it is parsed.
    socket.on("readable", () => connection.bytesArrived());
    setImmediate(callback, null, socket);
  }
  return (target, callback) => {
    void open(target.hostname, target.port === "" ? 443 : Number(target.port), callback);
  };
}
