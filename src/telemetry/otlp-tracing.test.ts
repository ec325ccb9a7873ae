import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, it } from "node:test";
import * as z from "zod";
import { newDeliveryId, newEventId } from "../shared/id.ts";
import { makeLog } from "./log.ts";
import { makeTracing } from "./otlp-tracing.ts";

const value = z.object({ stringValue: z.string().optional(), intValue: z.number().optional() });
const span = z.object({
  traceId: z.string(),
  name: z.string(),
  attributes: z.array(z.object({ key: z.string(), value })),
  status: z.object({ code: z.number() }),
});
const batch = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

const bodies: string[] = [];
const collector = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    bodies.push(body);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
let url: string;
before(async () => {
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  const address = collector.address();
  assert.ok(typeof address === "object" && address !== null);
  url = `http://127.0.0.1:${address.port}`;
});
after(() => collector.close());

it("an attempt has failed unless its answer is a 2xx, and says why there is none", async () => {
  const tracing = makeTracing({ url, headers: {}, serviceName: "hooks", share: 1 }, makeLog("silent"));
  const traced = { eventId: newEventId(), eventType: "invoice.paid", tenantId: "acme", endpointId: "e" };
  const outcomes: [responseStatus: number | null, error: string | null][] = [
    [199, null],
    [200, null],
    [299, null],
    [300, null],
    [500, null],
    [null, "timeout"],
  ];
  outcomes.forEach(([responseStatus, error], place) => {
    tracing.attempt({ ...traced, id: newDeliveryId(), attempt: place + 1 }).end({ responseStatus, error });
  });
  await tracing.close();
  const spans = bodies.flatMap((body) =>
    batch
      .parse(JSON.parse(body))
      .resourceSpans.flatMap((of) => of.scopeSpans.flatMap((scope) => scope.spans)),
  );
  const told = spans.map(({ attributes, status }) => {
    const of = (name: string) => attributes.find(({ key }) => key === name)?.value;
    return [
      of("postern.attempt")?.intValue,
      of("http.response.status_code")?.intValue ?? null,
      of("error.type")?.stringValue ?? null,
      status.code === 2 ? "failed" : "delivered",
    ];
  });
  assert.deepEqual(
    told,
    outcomes.map(([status, error], place) => [
      place + 1,
      status,
      error,
      status === 200 || status === 299 ? "delivered" : "failed",
    ]),
  );
});
