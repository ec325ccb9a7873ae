/**
 * The receiver of the benchmarks, a process of its own: HTTPS for Postern,
 * plain HTTP for services that cannot be told to trust a test CA. It answers
 * by path and counts what arrives; `sent_at` in an event's data gives latency.
 *
 * Paths: `/ok…` 200, `/ok/usual…` the same with the headers of a usual server,
 * `/fail…` 500, `/hang…` never. The parent asks by IPC.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { headerOf, makeMessageReader, nowMs, type Message } from "./http-stream.ts";

export type ReceiverQuestion = "reset" | "report";
export type ReceiverReport = {
  httpPort: number;
  httpsPort: number;
  requests: number;
  unique: number;
  connections: number;
  /** Of each request to an `/ok` path: which delivery, and of which event. */
  deliveryIds: string[];
  eventIds: string[];
  /** Of the requests to `/ok` paths that carried `sent_at`, in order of arrival. */
  latenciesMs: number[];
  /** When the last request to an `/ok` path came (`nowMs`). */
  lastAtMs: number;
};

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/** As nginx in front of a program answers. */
const usual = (): string =>
  `HTTP/1.1 200 OK\r\nserver: nginx\r\ndate: ${new Date().toUTCString()}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 2\r\nconnection: keep-alive\r\nvary: Accept-Encoding\r\n\r\nok`;
const FAILED = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\nno";

let seen = new Map<string, number>();
let requests = 0;
let connections = 0;
let deliveryIds: string[] = [];
let eventIds: string[] = [];
let latenciesMs: number[] = [];
let lastAtMs = 0;

function receive(socket: Socket, message: Message): void {
  const path = message.head.slice(message.head.indexOf(" ") + 1);
  if (path.startsWith("/hang")) return;
  if (path.startsWith("/fail")) {
    socket.write(FAILED);
    return;
  }
  const id = headerOf(message.head, "webhook-id") ?? headerOf(message.head, "svix-id") ?? "";
  // One event may go to several endpoints, whose paths differ.
  const key = `${path.slice(0, path.indexOf(" "))} ${id}`;
  seen.set(key, (seen.get(key) ?? 0) + 1);
  requests++;
  if (process.env["BENCH_KEEP_IDS"] === "1") {
    deliveryIds.push(headerOf(message.head, "x-service-delivery") ?? "");
    eventIds.push(id);
  }
  lastAtMs = nowMs();
  const sentAt = /"sent_at":([0-9.]+)/.exec(message.body)?.[1];
  if (sentAt !== undefined) latenciesMs.push(lastAtMs - Number(sentAt));
  socket.write(path.startsWith("/ok/usual") ? usual() : OK);
}

function serve(socket: Socket): void {
  connections++;
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on(
    "data",
    makeMessageReader((message) => receive(socket, message)),
  );
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    });
  });
}

const httpPort = await listen(createServer(serve));
const httpsPort = await listen(
  createTlsServer({ cert: process.env["BENCH_CERT"], key: process.env["BENCH_KEY"] }, serve),
);

function report(): ReceiverReport {
  return {
    httpPort,
    httpsPort,
    requests,
    unique: seen.size,
    connections,
    deliveryIds,
    eventIds,
    latenciesMs,
    lastAtMs,
  };
}

process.on("message", (question: ReceiverQuestion) => {
  if (question === "reset") {
    seen = new Map();
    requests = 0;
    connections = 0;
    deliveryIds = [];
    eventIds = [];
    latenciesMs = [];
    lastAtMs = 0;
  }
  process.send?.(report());
});
process.on("disconnect", () => process.exit(0));
process.send?.(report());
