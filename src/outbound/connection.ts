/**
 * One connection: an undici Client that knows its own socket.
 *
 * undici shows a handler neither its request's socket nor whether
 * that was used before. A Client of our own does.
 */
import { Client, type Dispatcher } from "undici";
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

type Socket = { readonly bytesRead: number; readonly destroyed: boolean };

/** For one request at a time, of which the first opens it. */
export class Connection extends Client implements AttemptConnection {
  readonly origin: string;
  #options: ConnectionOptions;
  #socket: Socket | undefined;
  #openedAtMs = 0;
  #requests = 0;
  #bytesBefore = 0;
  #current: Attempt | undefined;

  constructor(origin: string, options: ConnectionOptions) {
    super(origin, {
      connect: (target, callback) => void this.#open(target.hostname, target.port, callback),
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
    this.origin = origin;
    this.#options = options;
  }

  /** Whether it may take another request. */
  isUsable(): boolean {
    const ageMs = performance.now() - this.#openedAtMs;
    return this.#socket?.destroyed === false && ageMs <= this.#options.maxConnectionAgeMs;
  }

  /** Whether the request under way is not the first on its socket. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Attempt) handler.connection = this;
    return super.dispatch(options, handler);
  }

  requestStarted(attempt: Attempt): void {
    this.#requests++;
    this.#bytesBefore = this.#socket?.bytesRead ?? 0;
    this.#current = attempt;
  }

  requestEnded(attempt: Attempt): void {
    if (this.#current === attempt) this.#current = undefined;
  }

  async #open(host: string, port: string, callback: Parameters<Connector>[1]): Promise<void> {
    const { dial, counters } = this.#options;
    let socket;
    try {
      socket = await dial({ host, port: port === "" ? 443 : Number(port) });
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
    this.#socket = socket;
    this.#openedAtMs = performance.now();
    this.#requests = 0;
    // Before undici's own listener, so that a flood is seen before it is parsed.
    socket.on("readable", () => this.#bytesArrived());
    setImmediate(callback, null, socket);
  }

  #bytesArrived(): void {
    if (this.#socket !== undefined) this.#current?.bytesRead(this.#socket.bytesRead - this.#bytesBefore);
  }
}

type Connector = Extract<Client.Options["connect"], (...args: never[]) => unknown>;
