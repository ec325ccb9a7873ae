/** A way to PostgreSQL that ends a connection in the middle of what the server says. */
import { connect, createServer, type Socket } from "node:net";
import { listen } from "./tls-receiver.ts";

/** `half`: in the middle of the message. `fatal`: behind it, and in one piece with the server's farewell. */
export type Cut = "half" | "fatal";

export type MessageCutter = {
  /** The same database through here. */
  url: string;
  /** Ends the connection on which the server's message of that number comes, counted from now over all connections. */
  cutAt(message: number, cut: Cut): void;
  hasCut(): boolean;
  /** Connections now. */
  open(): number;
  close(): Promise<void>;
};

/** Of a type and its own length. */
const HEAD = 5;

export async function startMessageCutter(databaseUrl: string): Promise<MessageCutter> {
  const url = new URL(databaseUrl);
  const { hostname, port } = url;
  const clients = new Set<Socket>();
  let next: Cut | null = null;
  let left = 0;

  const server = createServer((client) => {
    clients.add(client);
    const target = connect(Number(port), hostname);
    for (const socket of [client, target]) socket.on("error", () => undefined);
    client.on("close", () => {
      clients.delete(client);
      target.destroy();
    });
    target.on("close", () => client.destroy());
    client.on("data", (chunk) => target.write(chunk));
    let rest = Buffer.alloc(0);
    target.on("data", (chunk: Buffer) => {
      const messages = messagesOf(Buffer.concat([rest, chunk]));
      rest = messages.pop() ?? rest;
      const last = next === null ? -1 : left;
      left -= messages.length;
      const ending = messages[last];
      if (next === null || ending === undefined) {
        client.write(Buffer.concat(messages));
        return;
      }
      const end =
        next === "half" ? ending.subarray(0, ending.length / 2) : Buffer.concat([ending, farewell()]);
      next = null;
      target
        .removeAllListeners()
        .on("error", () => undefined)
        .destroy();
      client.end(Buffer.concat([...messages.slice(0, last), end]));
    });
  });

  url.port = String(await listen(server));
  url.hostname = "127.0.0.1";
  return {
    url: url.href,
    cutAt(message, cut) {
      left = message;
      next = cut;
    },
    hasCut: () => next === null,
    open: () => clients.size,
    async close() {
      for (const client of clients) client.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Whole messages, and behind them what there is of the next. */
function messagesOf(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer>[] {
  const found: Buffer<ArrayBuffer>[] = [];
  for (;;) {
    const length = bytes.length < HEAD ? Infinity : bytes.readInt32BE(1) + 1;
    if (bytes.length < length) return [...found, bytes];
    found.push(bytes.subarray(0, length));
    bytes = bytes.subarray(length);
  }
}

/** As of a server that is being stopped. */
function farewell(): Buffer<ArrayBuffer> {
  const fields = ["SFATAL", "C57P01", "Mterminating connection due to administrator command"];
  const body = Buffer.from(`${fields.join("\0")}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
