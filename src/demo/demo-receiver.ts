/**
 * A receiver like one that a tenant would write: it verifies each request and
 * says so. Below its path are those of the demonstration's own endpoints, which
 * answer each in its way and print nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../shared/error-code.ts";
import type { DemoCertificates } from "./demo-certificates.ts";
import { answerOf, BEHAVIOURS, type Behaviour } from "./week.ts";
import { messageOf } from "../shared/message-of.ts";

/** `isMoved`: another program had the preferred port. */
export type DemoReceiver = { url: string; isMoved: boolean; stop(): Promise<void> };

type Options = DemoCertificates & {
  host: string;
  /** Used if it is free, so that an endpoint made at an earlier start still leads here. */
  preferredPort: number;
  signingSecrets: () => Promise<string[]>;
  print: (line: string) => void;
};

const PATH = "/webhooks";
/** A request older than that is a replay. */
const MAX_AGE_S = 300;

export async function startDemoReceiver(options: Options): Promise<DemoReceiver> {
  const server = createServer({ cert: options.certificatePem, key: options.keyPem }, (request, response) => {
    receive(request, response, options).catch((error: unknown) => {
      options.print(`receiver: ${messageOf(error)}`);
      response.destroy();
    });
  });
  const port = await listen(server, options.host, options.preferredPort);
  return {
    url: `https://${options.host}:${port}${PATH}`,
    isMoved: port !== options.preferredPort,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, host: string, preferredPort: number): Promise<number> {
  for (const port of [preferredPort, 0]) {
    server.listen(port, host);
    try {
      await once(server, "listening");
      break;
    } catch (error) {
      if (!hasCode(error, "EADDRINUSE") || port === 0) throw error;
    }
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return address.port;
}

async function receive(request: IncomingMessage, response: ServerResponse, options: Options): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks).toString("utf8");
  const secrets = await options.signingSecrets();
  const isRight = secrets.some((secret) => isSignedWith(secret, request, body));
  const behaviour = BEHAVIOURS.find((name) => request.url === `${PATH}/${name}`);
  if (behaviour !== undefined && isRight) return behave(behaviour, response);
  const type = String(request.headers["x-service-event"]);
  options.print(`receiver: ${type} arrived, signature ${isRight ? "right" : "WRONG"}: ${body}`);
  response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
  response.end(JSON.stringify({ received: isRight }));
}

async function behave(behaviour: Behaviour, response: ServerResponse): Promise<void> {
  const answer = answerOf(behaviour, { isLate: true, random: Math.random });
  if (answer.status === null && answer.error !== "timeout") {
    response.destroy();
    return;
  }
  // Beyond the limit the sender gives up by itself.
  await delay(answer.latencyMs * (answer.status === null ? 2 : 1), undefined, { ref: false });
  response.writeHead(answer.status ?? 504, { "content-type": "application/json" });
  response.end(answer.body);
}

function isSignedWith(secret: string, request: IncomingMessage, body: string): boolean {
  const timestamp = String(request.headers["x-service-timestamp"]);
  const expected = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  const given = Buffer.from(String(request.headers["x-service-signature"]));
  const wanted = Buffer.from(`sha256=${expected}`);
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_S;
  return isRecent && given.length === wanted.length && timingSafeEqual(given, wanted);
}
