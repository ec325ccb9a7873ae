/** Which port of 127.0.0.1 the embedded database listens on. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";

const START_TRIES = 3;

/**
 * Starts on the `wanted` port, or on the last one, which the file `path` names, or on any. Another
 * process may take the port between our choice and the start: then another is chosen.
 */
export async function startOnFreePort<T>(
  path: string,
  wanted: number | undefined,
  start: (port: number) => Promise<T>,
): Promise<{ child: T; port: number }> {
  if (wanted !== undefined) return { child: await start(wanted), port: wanted };
  for (let tries = 1; ; tries += 1) {
    // The same port as last time, so that processes which joined the former server find the new one.
    const last = tries === 1 ? await freePort(readPort(path)) : undefined;
    const port = last ?? (await freePort(0)) ?? 0;
    try {
      const child = await start(port);
      await writeFile(path, String(port));
      return { child, port };
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
}

/** Any where there is no such file. */
function readPort(path: string): number {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return 0;
  }
}

/** `wanted` if it is free (0: any); undefined if it is not, or is no port. */
async function freePort(wanted: number): Promise<number | undefined> {
  const server = createServer();
  try {
    await once(server.listen(wanted, "127.0.0.1"), "listening");
  } catch {
    return undefined;
  }
  const address = server.address();
  await once(server.close(), "close");
  return typeof address === "object" ? address?.port : undefined;
}
