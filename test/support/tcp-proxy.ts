/** A way to a server that a test can make silent: connections stay, and nothing passes. */
import { connect, createServer, type Socket } from "node:net";
import { listen } from "./tls-receiver.ts";

export type TcpProxy = {
  port: number;
  /** From here on nothing passes, nor does anybody new get through; nobody is told. */
  pause(): void;
  /** What came meanwhile passes now. */
  resume(): void;
  /** Ends all connections. New ones get through. */
  cut(): void;
  /** Ends all connections, and refuses new ones. */
  close(): Promise<void>;
};

/** On 127.0.0.1, to a port there. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isPaused = false;
  let waiting: (() => void)[] = [];

  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    if (isPaused) waiting.push(() => join(client));
    else join(client);
  });

  function join(client: Socket): void {
    const target = connect(targetPort, "127.0.0.1");
    keep(target);
    forward(client, target);
    forward(target, client);
  }

  function forward(from: Socket, to: Socket): void {
    from.on("data", (chunk: Buffer) => {
      if (isPaused) waiting.push(() => to.write(chunk));
      else to.write(chunk);
    });
    from.on("close", () => to.destroy());
    from.resume();
  }

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    port: await listen(server),
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      const passing = waiting;
      waiting = [];
      for (const pass of passing) pass();
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
