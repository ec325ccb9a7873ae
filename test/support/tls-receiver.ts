/**
 * Real receivers for tests, on 127.0.0.1 and a free port: one that speaks HTTPS
 * and records what it got, and one that hands each TLS connection to a function,
 * for behaviours that no HTTP server would show.
 */
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { createServer as createTlsServer, type SecureVersion, type TLSSocket } from "node:tls";
import { makeTestCa, type KeyAndCertificate } from "./certificates.ts";

export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values by turns, as they came. */
  rawHeaders: readonly string[];
  body: Buffer;
  /** The server name the client asked for in TLS; absent for an IP address. */
  serverName: string | undefined;
};

export type Answer = {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
};

/** What to answer to a request; undefined never answers. `index` counts from 0. */
export type Respond = (
  request: ReceivedRequest,
  index: number,
) => Answer | undefined | Promise<Answer | undefined>;

export type ReceiverOptions = {
  respond?: Respond;
  /** By default signed by a CA made for this receiver. */
  certificate?: KeyAndCertificate;
  maxTlsVersion?: SecureVersion;
  wantsClientCertificate?: boolean;
};

type Listening = { port: number; url: string; caPem: string; close(): Promise<void> };

export type TlsReceiver = Listening & {
  requests: ReceivedRequest[];
  /** TLS connections accepted so far. */
  connectionCount(): number;
  /** Closes every open connection at once. */
  dropConnections(): void;
};

export async function startReceiver(options: ReceiverOptions = {}): Promise<TlsReceiver> {
  const respond: Respond = options.respond ?? (() => ({}));
  const tls = await tlsOptions(options);
  const requests: ReceivedRequest[] = [];
  let connections = 0;
  const server: HttpsServer = createHttpsServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const received: ReceivedRequest = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        serverName: serverNameOf(request.socket),
      };
      requests.push(received);
      void Promise.resolve(respond(received, requests.length - 1)).then((answer) => {
        if (answer === undefined) return undefined;
        response.writeHead(answer.status ?? 200, answer.headers);
        return response.end(answer.body ?? "");
      });
    });
  });
  server.on("secureConnection", () => {
    connections++;
  });
  const port = await listen(server);
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    caPem: tls.caPem,
    requests,
    connectionCount: () => connections,
    dropConnections: () => server.closeAllConnections(),
    close: () => {
      server.closeAllConnections();
      return closed(server);
    },
  };
}

export type RawReceiver = Listening & { connectionCount(): number };

/** `handle` gets each TLS connection once; its errors are swallowed, for clients hang up on hostile servers. */
export async function startRawReceiver(
  handle: (socket: TLSSocket, index: number) => void,
  options: Omit<ReceiverOptions, "respond"> = {},
): Promise<RawReceiver> {
  const tls = await tlsOptions(options);
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  const server = createTlsServer(tls, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    handle(socket, connections++);
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    caPem: tls.caPem,
    connectionCount: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return closed(server);
    },
  };
}

/** Listens on 127.0.0.1 and a free port; resolves with the port. */
export function listen(server: NetServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(portOf(server.address())));
  });
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function serverNameOf(socket: object): string | undefined {
  const name = "servername" in socket ? socket.servername : undefined;
  return typeof name === "string" ? name : undefined;
}

async function tlsOptions(options: Omit<ReceiverOptions, "respond">) {
  const ca = options.certificate === undefined ? await makeTestCa() : undefined;
  const certificate = options.certificate ?? (await ca?.issue());
  if (certificate === undefined) throw new Error("no certificate");
  const old =
    options.maxTlsVersion === undefined
      ? {}
      : // OpenSSL 3 offers TLS 1.1 at security level 0 only.
        {
          maxVersion: options.maxTlsVersion,
          minVersion: "TLSv1" as const,
          ciphers: "DEFAULT@SECLEVEL=0",
        };
  const clientCertificate =
    options.wantsClientCertificate === true ? { requestCert: true, rejectUnauthorized: true } : {};
  return {
    ...clientCertificate,
    key: certificate.keyPem,
    cert: certificate.certPem,
    caPem: ca?.caPem ?? "",
    ...old,
  };
}
