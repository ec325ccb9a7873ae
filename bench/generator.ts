/** The load: requests written straight to sockets, as fast as answers come or at a steady rate. */
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { makeMessageReader, type Message } from "./http-stream.ts";

export type Target = { host: string; port: number; path: string; token: string };

export type Connection = {
  /** Sends one request and answers its status and body; one at a time. */
  post(body: string): Promise<{ status: number; body: string }>;
  get(path: string): Promise<{ status: number; body: string }>;
  close(): void;
};

export async function openConnection(target: Target): Promise<Connection> {
  const socket: Socket = connect(target.port, target.host);
  socket.setNoDelay(true);
  await once(socket, "connect");
  let answer: ((message: Message) => void) | null = null;
  let fail: ((error: Error) => void) | null = null;
  socket.on(
    "data",
    makeMessageReader((message) => answer?.(message)),
  );
  socket.on("error", (error) => fail?.(error));
  const closed = new Error("the service closed the connection");
  socket.on("close", () => fail?.(closed));
  const head = `host: ${target.host}\r\nauthorization: Bearer ${target.token}\r\n`;

  function exchange(text: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      // A write to a socket that was closed between two requests emits no event.
      if (socket.destroyed) return reject(closed);
      fail = reject;
      answer = (message) => resolve({ status: Number(message.head.slice(9, 12)), body: message.body });
      socket.write(text);
    });
  }

  return {
    post: (body) =>
      exchange(
        `POST ${target.path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    get: (path) => exchange(`GET ${path} HTTP/1.1\r\n${head}\r\n`),
    close() {
      fail = null;
      socket.destroy();
    },
  };
}

/** `senders` connections, each sending its next body when its last is answered. Answers statuses and the time taken. */
export async function sendAsFastAsAnswered(
  target: Target,
  load: { senders: number; count: number; body: (index: number) => string },
): Promise<{ elapsedMs: number; statuses: Map<number, number> }> {
  const connections = await Promise.all(Array.from({ length: load.senders }, () => openConnection(target)));
  const statuses = new Map<number, number>();
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < load.count) {
        const { status } = await connection.post(load.body(next++));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  for (const connection of connections) connection.close();
  return { elapsedMs, statuses };
}

/** `perSecond` requests at even distances for `seconds`, on as many connections as it takes. */
export async function sendSteadily(
  target: Target,
  load: { perSecond: number; seconds: number; body: (index: number) => string },
): Promise<{ statuses: Map<number, number> }> {
  const idle: Connection[] = [];
  const statuses = new Map<number, number>();
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();

  async function send(index: number): Promise<void> {
    const connection = idle.pop() ?? (await openConnection(target));
    const { status } = await connection.post(load.body(index));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    idle.push(connection);
  }

  for (let index = 0; index < load.perSecond * load.seconds; index++) {
    const dueMs = startedAt + (index * 1000) / load.perSecond - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    pending.push(send(index));
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return { statuses };
}
