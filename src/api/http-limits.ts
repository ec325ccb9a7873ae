/**
 * How much and how long a client may send before anybody knows who it is, and
 * how long it may leave an answer unread. Node's server has a limit for most;
 * here they are set and not inherited.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";
import { Connections, type ConnectionLimits } from "./connections.ts";
import { createServer } from "./node-http.ts";

export type HttpLimits = ConnectionLimits & {
  /** From a connection's or a request's first byte to the end of the headers. */
  headersTimeoutMs: number;
  /** To the end of the body. */
  requestTimeoutMs: number;
  /** How long a connection may wait for its next request. */
  keepAliveTimeoutMs: number;
  /** How long a connection may move no byte either way while a request is answered on it. */
  stallTimeoutMs: number;
  /** Concurrent answers from a tenant's log per process. Others wait up to `logTurnTimeoutMs`. */
  maxLogAnswers: number;
  logTurnTimeoutMs: number;
  /** A stream of the log sends a ping at least this often, and ends after `streamLifeMs`. */
  streamPingMs: number;
  streamLifeMs: number;
  /** How often too slow clients are checked for. */
  checkEveryMs: number;
  /** Request line and headers together; trailers by themselves. */
  maxHeaderBytes: number;
};

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  // Longer than load balancers usually keep idle connections, so the load balancer closes them first.
  keepAliveTimeoutMs: 72_000,
  // Longer than any answer takes to begin: a person's test waits 15 s for its receiver.
  stallTimeoutMs: 60_000,
  maxConnections: 4_000,
  // So that one address alone leaves half of them to others.
  maxConnectionsPerAddress: 2_000,
  reservedConnections: 64,
  // Each holds 3 to 6 MiB where its bodies are large.
  maxLogAnswers: 16,
  // Shorter than most clients' patience, and than the time after which their connection counts as stalled.
  logTurnTimeoutMs: 20_000,
  // Often enough for the stall limit above, and for proxies that close quiet connections.
  streamPingMs: 15_000,
  streamLifeMs: 600_000,
  checkEveryMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

type ServerParts = {
  handle: RequestListener;
  trustedProxies: readonly string[];
  /** Whether a request is for one of the operator's routes, by its path. */
  isOperational: (url: string) => boolean;
  closed: (why: "idle" | "refused") => void;
};

/** A server with these limits. What comes behind too many requests of its connection ends the connection. */
export function makeHttpServer(limits: HttpLimits, parts: ServerParts): Server {
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Node's own answer to a missing one has neither body nor request id: see `namesOneHost`.
    requireHostHeader: false,
  };
  const server = createServer(options);
  const connections = new Connections(server, limits, parts);
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => connections.closeIdle(closeIdle);
  server.on("request", (request, response) => {
    if (comesBehindTooMany(request, response)) {
      request.socket.destroy();
      return;
    }
    const { isReserved } = connections.startRequest(request, response);
    if (isReserved) response.setHeader("Connection", "close");
    if (isReserved && !parts.isOperational(request.url ?? "")) refuse(response, 503, "Service unavailable");
    else parts.handle(request, response);
  });
  return server.setTimeout(limits.stallTimeoutMs);
}

/**
 * Whether a request has the Host header that RFC 9112 section 3.2 asks for: one,
 * and only HTTP/1.0 may do without. Two could mean one thing to a proxy and
 * another here.
 */
export function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

/** How many requests may wait on a connection behind the one that is being answered. */
const MAX_WAITING = 8;

const waiting = new WeakMap<IncomingMessage["socket"], number>();

/**
 * Whether a request comes behind too many on its connection that still wait for
 * their answers. Node takes in all that one packet holds, some thousand small
 * ones, and keeps each answer until those before it are read.
 */
function comesBehindTooMany({ socket }: IncomingMessage, response: ServerResponse): boolean {
  // The one that is being answered has the connection; those behind it have none yet.
  if (response.socket !== null) return false;
  const count = waiting.get(socket) ?? 0;
  if (count === MAX_WAITING) return true;
  waiting.set(socket, count + 1);
  response.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  return false;
}

/** Answers expectations other than 100-continue, which Node would refuse without a body or request id. */
export function refuseExpectations(server: Server): void {
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, 417, "Expectation Failed");
  });
}

function refuse(response: ServerResponse, status: number, error: string): void {
  const body = JSON.stringify({ error });
  const headers = {
    "X-Request-Id": randomUUID(),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": body.length,
    Connection: "close",
    ...(status === 503 ? { "Retry-After": "2" } : {}),
  };
  response.writeHead(status, headers).end(body);
}
