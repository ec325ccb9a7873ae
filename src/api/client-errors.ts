/** Answers bytes that are no HTTP request on the socket, because they reach no route. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { STATUS_CODES } from "./node-http.ts";

const STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

type Exchange = { request: IncomingMessage; response: ServerResponse };

/** The last request of each connection that could be read. */
const lastExchanges = new WeakMap<Duplex, Exchange>();

/** Remembers what is under way on each connection, so that a later error is not taken for its answer. */
export function watchExchanges(server: Server): void {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    lastExchanges.set(request.socket, { request, response });
  });
}

export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const last = lastExchanges.get(socket);
  // Nonsense after a whole request, which was perhaps carried out: its own answer goes first.
  if (last?.request.complete === true && !last.response.writableFinished) {
    last.response.once("close", () => refuse(error, socket));
    return;
  }
  refuse(error, socket);
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.destroyed) return;
  const status = STATUS[error.code ?? ""] ?? 400;
  const reason = STATUS_CODES[status] ?? "";
  const body = JSON.stringify({ error: reason });
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    `X-Request-Id: ${randomUUID()}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  if (socket.writable) socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  socket.destroy(error);
}
