/** Bytes to a server as they are, for requests that no HTTP client would send. */
import { connect, type Socket } from "node:net";

/**
 * Sends the text and answers all that came back when the server has closed the
 * connection, or has sent `answers` answers with JSON objects as bodies.
 */
export async function exchange(url: string, text: string, answers = 1): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = open(url);
  let received = "";
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("utf8");
    const isWhole = received.endsWith("}") && received.split("HTTP/1.1 ").length > answers;
    if (isWhole) socket.destroy();
  });
  socket.on("close", () => resolve(received));
  socket.write(text);
  return promise;
}

/** Writes the start at once, then `drop` every few milliseconds; answers what came when the server has closed. */
export async function exchangeSlowly(url: string, start: string, drop: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = open(url);
  let received = "";
  const timer = setInterval(() => socket.write(drop), 20);
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("utf8");
  });
  socket.on("close", () => {
    clearInterval(timer);
    resolve(received);
  });
  socket.write(start);
  return promise;
}

/** A connection whose errors are nobody's concern: servers hang up on such clients. */
export function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  return socket;
}

/** Status, headers and body of the first answer in what came back. */
export function parseAnswer(received: string): { status: number; requestId: string; body: unknown } {
  const [head = "", body = ""] = received.split("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]),
    requestId: /^X-Request-Id: (.*)$/im.exec(head)?.[1] ?? "",
    body: body === "" ? null : JSON.parse(body),
  };
}
