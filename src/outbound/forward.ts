/**
 * Passing a request on to a program of this machine, byte for byte: for a
 * developer who receives here what Postern would send. Loopback only, whatever
 * the name resolves to, so no rule of the guard is needed.
 */
import { Agent, request, type IncomingMessage } from "node:http";
import { isIPv4, type LookupFunction } from "node:net";

const KEPT_BYTES = 4096;

export type Forwarded =
  | { kind: "answered"; status: number; /** Its beginning. */ body: string }
  /** `code` as Node names it, such as ECONNREFUSED. */
  | { kind: "failed"; code: string };

export type Forwarder = {
  forward(headers: Readonly<Record<string, string>>, body: string): Promise<Forwarded>;
  close(): void;
};

/** Null for anything but an http URL of this machine. */
export function parseLoopbackUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "http:" || url.username !== "" || url.password !== "") return null;
  const { hostname } = url;
  const isLoopback =
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
  return isLoopback ? url : null;
}

/** @param url of {@link parseLoopbackUrl}. */
export function makeForwarder(url: URL, timeoutMs: number): Forwarder {
  const agent = new Agent({ keepAlive: true, lookup: loopback });
  return {
    forward: (headers, body) =>
      new Promise((resolve) => {
        const signal = AbortSignal.timeout(timeoutMs);
        const sent = request(url, { agent, method: "POST", headers, signal }, (answer) => {
          readBeginning(answer).then(
            (text) => resolve({ kind: "answered", status: answer.statusCode ?? 0, body: text }),
            (error: unknown) => resolve(failed(error)),
          );
        });
        sent.once("error", (error) => resolve(failed(error)));
        // As bytes: Node would write a text together with the headers, whose Latin-1 then becomes UTF-8.
        sent.end(Buffer.from(body));
      }),
    close: () => agent.destroy(),
  };
}

/** Answers `localhost` alone: an address is not looked up. */
const loopback: LookupFunction = (_name, { all }, answer) => {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  if (all === true) answer(null, addresses);
  else answer(null, "127.0.0.1", 4);
};

async function readBeginning(answer: IncomingMessage): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    if (!Buffer.isBuffer(chunk)) continue;
    if (bytes < KEPT_BYTES) kept.push(chunk);
    bytes += chunk.length;
  }
  return Buffer.concat(kept).subarray(0, KEPT_BYTES).toString("utf8");
}

function failed(error: unknown): Forwarded {
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
    return { kind: "failed", code: "timeout" };
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : String(inner);
  return { kind: "failed", code };
}
