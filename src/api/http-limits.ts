/**
 * How much and how long a client may send before anybody knows who it is.
 * Node's server has a limit for each; here they are set and not inherited.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";

export type HttpLimits = {
  /** From a connection's or a request's first byte to the end of the headers. */
  headersTimeoutMs: number;
  /** To the end of the body. */
  requestTimeoutMs: number;
  /** How long a connection may wait for its next request. */
  keepAliveTimeoutMs: number;
  /** How often the clients are looked at that are too slow. */
  checkEveryMs: number;
  /** Request line and headers together; trailers by themselves. */
  maxHeaderBytes: number;
};

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  // Longer than load balancers usually keep idle connections, so that it is they who close them.
  keepAliveTimeoutMs: 72_000,
  checkEveryMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

/** The limits as Fastify takes them. */
export function serverOptions(limits: HttpLimits) {
  return {
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Node's own answer to a missing one has neither body nor request id: see `namesOneHost`.
      requireHostHeader: false,
    },
  };
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

/** Answers expectations other than 100-continue, which Node would refuse without a body or request id. */
export function refuseExpectations(server: Server): void {
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ error: "Expectation Failed" });
    const headers = {
      "X-Request-Id": randomUUID(),
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": body.length,
      Connection: "close",
    };
    response.writeHead(417, headers).end(body);
  });
}
