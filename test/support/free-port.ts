/** Ports for programs that cannot choose one themselves, and whether they listen there. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { hasCode } from "../../src/shared/error-code.ts";

/** Below those that the system gives to whoever asks for any: nobody takes one between its choice and its use. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** One that nobody has. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer();
    const isFree = once(server, "listening").then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, "EADDRINUSE")) return false;
        throw error;
      },
    );
    server.listen(port, "127.0.0.1");
    if (!(await isFree)) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Whether a program listens on the port. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
