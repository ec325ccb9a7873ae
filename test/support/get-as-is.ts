import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** An answer as it comes: neither decompressed, nor with the URL's path put in order. */
export async function getAsIs(url: string, path: string, headers: Record<string, string>) {
  const { hostname, port, pathname } = new URL(url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get({ hostname, port, path: `${pathname.replace(/\/$/, "")}${path}`, headers }, resolve).on(
      "error",
      reject,
    ),
  );
  return { statusCode: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}
