import { PassThrough } from "node:stream";
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { LOGGED_STATUSES, type Delivery } from "../../deliveries/delivery.ts";
import type { TailSink } from "../../deliveries/tail.ts";
import { parseEndpointId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { userOf } from "../access.ts";
import type { HttpLimits } from "../http-limits.ts";
import { describeRoute } from "../openapi.ts";
import { idText } from "../page-query.ts";
import { parseQuery } from "../parse.ts";
import { deliveryHeadView } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

/** A stream of server-sent events: what is added to a tenant's log, as it is added. */
export function logStreamRoute(
  app: FastifyInstance,
  { logTail, sessions }: Pick<ApiServices, "logTail" | "sessions">,
  { streamPingMs, streamLifeMs }: Pick<HttpLimits, "streamPingMs" | "streamLifeMs">,
): void {
  const keep = keepUntilClose(app, () => logTail.close());

  app.get(
    "/stream",
    {
      config: { permission: "settings:read" },
      schema: describeRoute({
        operationId: "streamDeliveries",
        tag: "Deliveries",
        summary: "Watch deliveries as they are logged (server-sent events)",
        description:
          "The event `delivery` has one delivery without bodies, as `GET /api/deliveries` lists it. At most 50 a " +
          "second are sent; `gap` with `{skipped}` says how many others there were at most, or null where that is " +
          "not known, and `GET /api/deliveries` has them. A comment comes every 15 seconds. A stream ends after ten " +
          "minutes, or within 15 seconds after its token expires or its session ends: connect again. At most 10 streams of a tenant and 200 in a process; when those are taken, the tenant that has most loses one to a tenant with fewer. Read it with `fetch`, since " +
          "`EventSource` sends no token.",
        query: streamQuery,
        answers: { 200: z.string() },
        mediaType: "text/event-stream",
        examples: { 200: [EXAMPLE] },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const { endpoint_id: endpointId = null, status = null } = parseQuery(streamQuery, request.query);
      const headers = {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      };
      if (request.method === "HEAD") return reply.headers(headers).send("");
      const stream = new PassThrough();
      // The headers leave with the first bytes. Written now, since a watch that waits may have to leave its place.
      stream.write(": watching\n\n");
      keep(stream);
      const end = await logTail
        .watch(tenantId, { endpointId, status }, sinkTo(stream))
        .catch((error: unknown) => {
          stream.destroy();
          throw error;
        });
      const { authorization } = request.headers;
      const ping = setInterval(() => pingWhileGood(stream, sessions.verify(authorization)), streamPingMs);
      const life = setTimeout(() => stream.end(), streamLifeMs);
      stream.once("close", () => {
        clearInterval(ping);
        clearTimeout(life);
        end();
      });
      return reply.headers(headers).send(stream);
    },
  );
}

/** Streams that end as the process stops: also where that comes while a session is verified, or a watch begins. */
function keepUntilClose(app: FastifyInstance, close: () => Promise<void>): (stream: PassThrough) => void {
  const open = new Set<PassThrough>();
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const stream of open) stream.end();
    await close();
  });
  return (stream) => {
    open.add(stream);
    stream.once("close", () => open.delete(stream));
    if (isClosing) stream.end();
  };
}

/** A token is good for as long as it is, also for an answer that goes on. What can't be told now is asked again. */
function pingWhileGood(stream: PassThrough, verification: Promise<unknown>): void {
  if (stream.writable) stream.write(": ping\n\n");
  verification.catch((error: unknown) => {
    if (error instanceof Refusal && error.code === "unauthorized") stream.end();
  });
}

function sinkTo(stream: PassThrough): TailSink {
  return {
    // One that has ended may be unread for long. Node says that it needs no drain.
    hasRoom: () => stream.writable && !stream.writableNeedDrain,
    // One write, since each is a packet.
    send: (deliveries) => void stream.write(deliveries.map(deliveryMessage).join("")),
    skip: (skipped) => void stream.write(message("gap", { skipped })),
    end: () => void stream.end(),
  };
}

function message(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** What a row's watchers are sent, written once for all of them. */
const messages = new WeakMap<Delivery, string>();

function deliveryMessage(delivery: Delivery): string {
  const known = messages.get(delivery) ?? message("delivery", deliveryHeadView(delivery));
  messages.set(delivery, known);
  return known;
}

const streamQuery = z.strictObject({
  endpoint_id: idText(parseEndpointId, "an endpoint's id").describe("Of this endpoint alone."),
  status: z.enum(LOGGED_STATUSES).optional(),
});

const EXAMPLE =
  ': watching\n\nevent: delivery\ndata: {"id":"019c1335-1c12-7e0a-b5ae-1f0d3a5c9b01","status":"failed"}\n\n';
