/** A server that is there only for the second who comes: whoever waits for it has asked in vain, however late it asks. */
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { listen } from "./tls-receiver.ts";

export type LateServer = { url: string; close(): void };

/** @param url of the server that is there then. */
export async function startLateServer(url: string): Promise<LateServer> {
  const { hostname, port } = new URL(url);
  let isThere = false;
  const door = createServer((socket) => {
    if (isThere) pipeline(socket, connect(Number(port), hostname), socket, () => undefined);
    else socket.destroy();
    isThere = true;
  });
  const late = new URL(url);
  late.port = String(await listen(door));
  return { url: late.href, close: () => void door.close() };
}
