/** Connecting to servers that take connections and do not answer. */
import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { connectOrClose } from "./nats-connect.ts";

const INFO = 'INFO {"server_id":"x","version":"2.12.0","proto":1,"headers":true,"max_payload":1024}\r\n';

describe("a try to connect to a server of the intake", () => {
  let server: Server;
  let says: string;
  let port: number;
  let made: number;
  const sockets = new Set<Socket>();

  before(async () => {
    server = createServer((socket) => {
      made++;
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      socket.resume().write(says);
    });
    port = await listen(server);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  for (const [words, how] of [
    ["", "says nothing"],
    [INFO, "greets and says nothing more"],
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "is no NATS server"],
  ] as const) {
    it(`leaves no connection to one that ${how}`, { timeout: 10_000 }, async () => {
      says = words;
      made = 0;
      const options = { servers: [`127.0.0.1:${port}`, `localhost:${port}`], timeout: 200 };
      await assert.rejects(connectOrClose(options));
      await eventually(async () => made > 0 && sockets.size === 0);
    });
  }
});

describe("a connection to a server of the intake", () => {
  it("that is closed while a silent server is asked again leaves none", async (test) => {
    let made = 0;
    const sockets = new Set<Socket>();
    const closeAll = () => {
      for (const socket of sockets) socket.destroy();
    };
    const server = createServer((socket) => {
      made++;
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      // The first alone is greeted, and its PING is answered.
      if (made === 1) socket.once("data", () => socket.write("PONG\r\n")).write(INFO);
      else socket.resume();
    });
    test.after(() => server.close());
    test.after(closeAll);
    const options = { maxReconnectAttempts: -1, reconnectTimeWait: 10, reconnectJitter: 0, timeout: 1000 };
    const connection = await connectOrClose({ servers: [`127.0.0.1:${await listen(server)}`], ...options });
    test.after(() => connection.close());
    closeAll();
    await eventually(async () => made > 1);
    await connection.close();
    await eventually(async () => sockets.size === 0);
  });
});
