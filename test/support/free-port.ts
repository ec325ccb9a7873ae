/** Ports for programs that cannot choose one themselves, and whether they listen there. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { hasCode } from "../../src/shared/error-code.ts";

/** Below those that the system gives to whoever asks for any: nobody takes one between its choice and its use. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A process owns a block of ports while it listens on the first of them: so two that run at once share none. */
const BLOCK_SIZE = 60;

/** What is left of this process's blocks, in order. */
const owned: number[] = [];

/** One that nobody has, and that no other process will be given while this one runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = owned.shift();
    if (port === undefined) await takeBlock();
    else if (await isFree(port)) return port;
  }
}

async function takeBlock(): Promise<void> {
  for (;;) {
    const first = FIRST_PORT + BLOCK_SIZE * randomInt((LAST_PORT - FIRST_PORT) / BLOCK_SIZE);
    const guard = await listening(first);
    if (guard === null) continue;
    guard.unref();
    owned.push(...Array.from({ length: BLOCK_SIZE - 1 }, (_, n) => first + 1 + n));
    return;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening(port);
  server?.close();
  if (server !== null) await once(server, "close");
  return server !== null;
}

/** A server on the port; null where somebody else has it. */
async function listening(port: number): Promise<Server | null> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (hasCode(error, "EADDRINUSE")) return null;
    throw error;
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
