import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { after, before, beforeEach, it } from "node:test";
import * as z from "zod";
import { newDeliveryId, newEventId } from "../shared/id.ts";
import { VERSION } from "../shared/version.ts";
import { makeLog } from "./log.ts";
import { makeTracing } from "./otlp-tracing.ts";

const value = z.object({ stringValue: z.string().optional(), intValue: z.number().optional() });
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  name: z.string(),
  attributes: z.array(z.object({ key: z.string(), value })),
  status: z.object({ code: z.number() }),
});
const batch = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value })) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

let asked: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
/** What the collector answers with. */
let status = 200;
const collector = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    asked.push({ path: request.url, headers: request.headers, body });
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
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
beforeEach(() => {
  asked = [];
  status = 200;
});
after(() => collector.close());

const resourceSpans = () => asked.flatMap(({ body }) => batch.parse(JSON.parse(body)).resourceSpans);
const spansSent = () => resourceSpans().flatMap((of) => of.scopeSpans.flatMap((scope) => scope.spans));
const attributesOf = ({ attributes }: { attributes: z.infer<typeof span>["attributes"] }) =>
  Object.fromEntries(attributes.map(({ key, value: of }) => [key, of.stringValue ?? of.intValue]));

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
  const spans = spansSent();
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

const PRODUCER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparentOf = (flags: string) => `00-${PRODUCER.traceId}-${PRODUCER.spanId}-${flags}`;

it("an event's first span and its attempts are of one trace: the producer's, or the event's own", async () => {
  const tracing = makeTracing(
    { url, headers: { "x-key": "a b" }, serviceName: "hooks", share: 1 },
    makeLog("silent"),
  );
  const started = Date.UTC(2026, 0, 31);
  const events = [traceparentOf("01"), undefined].map((traceparent) => {
    const event = { eventId: newEventId(), eventType: "invoice.paid", tenantId: "acme", traceparent };
    tracing.accepted(event, started);
    const attempt = tracing.attempt({ ...event, endpointId: "e", id: "d", attempt: 2 });
    attempt.end({ responseStatus: 200, error: null });
    return Object.assign(event, { sent: attempt.traceparent });
  });
  await tracing.close();
  const [first, ...more] = asked;
  assert.deepEqual([first?.path, first?.headers["x-key"], more.length], ["/v1/traces", "a b", 0]);
  const [resource] = resourceSpans().map((of) => attributesOf(of.resource));
  assert.deepEqual([resource?.["service.name"], resource?.["service.version"]], ["hooks", VERSION]);
  const spans = spansSent();
  for (const { eventId, traceparent, sent } of events) {
    const digits = eventId.replaceAll("-", "");
    const [traceId, spanId] = [traceparent === undefined ? digits : PRODUCER.traceId, digits.slice(16)];
    const own = {
      "postern.event.id": eventId,
      "postern.event.type": "invoice.paid",
      "postern.tenant.id": "acme",
    };
    const [accepted, attempt] = spans.filter((one) => attributesOf(one)["postern.event.id"] === eventId);
    assert.ok(accepted !== undefined && attempt !== undefined);
    assert.deepEqual(
      [accepted.name, accepted.kind, accepted.traceId, accepted.spanId, accepted.parentSpanId],
      ["event accepted", 4, traceId, spanId, traceparent === undefined ? undefined : PRODUCER.spanId],
    );
    assert.deepEqual(attributesOf(accepted), own);
    assert.equal(accepted.startTimeUnixNano, `${started}000000`);
    assert.deepEqual(
      [attempt.name, attempt.kind, attempt.traceId, attempt.parentSpanId],
      ["webhook attempt", 3, traceId, spanId],
    );
    assert.deepEqual(attributesOf(attempt), {
      ...own,
      "postern.endpoint.id": "e",
      "postern.delivery.id": "d",
      "postern.attempt": 2,
      "http.response.status_code": 200,
    });
    assert.equal(sent, `00-${traceId}-${attempt.spanId}-01`);
    assert.match(attempt.spanId, /^[0-9a-f]{16}$/);
    assert.notEqual(attempt.spanId, spanId);
  }
});

it("a producer's flag decides whether its events are traced, and else their share does", async () => {
  for (const [share, traceparent, isTraced] of [
    [0, undefined, false],
    [0, traceparentOf("01"), true],
    [1, traceparentOf("00"), false],
    [1, traceparentOf("02"), false],
    [0, traceparentOf("03"), true],
  ] as const) {
    asked = [];
    const tracing = makeTracing({ url, headers: {}, serviceName: "hooks", share }, makeLog("silent"));
    const event = { eventId: newEventId(), eventType: "a.b", tenantId: "acme", traceparent };
    tracing.accepted(event, Date.now());
    const attempt = tracing.attempt({ ...event, endpointId: "e", id: "d", attempt: 1 });
    attempt.end({ responseStatus: 200, error: null });
    await tracing.close();
    assert.equal(spansSent().length, isTraced ? 2 : 0, `${share} ${traceparent}`);
    assert.equal(attempt.traceparent.slice(-3), isTraced ? "-01" : "-00");
  }
});

it("a header is continued as it came where it is a traceparent", async () => {
  const tracing = makeTracing({ url, headers: {}, serviceName: "hooks", share: 1 }, makeLog("silent"));
  assert.equal(tracing.continues(traceparentOf("01")), traceparentOf("01"));
  const others = [
    undefined,
    null,
    7,
    [traceparentOf("01")],
    "",
    traceparentOf("01").slice(1),
    `${traceparentOf("01")}x`,
  ];
  for (const header of others) assert.equal(tracing.continues(header), undefined, String(header));
  await tracing.close();
});

it("traces that the collector refuses are told in the log", async () => {
  status = 400;
  const told: string[] = [];
  const log = makeLog("silent");
  Object.assign(log, { warn: (...words: unknown[]) => void told.push(String(words.at(-1))) });
  const tracing = makeTracing({ url, headers: {}, serviceName: "hooks", share: 1 }, log);
  tracing.accepted({ eventId: newEventId(), eventType: "a.b", tenantId: "acme" }, Date.now());
  await tracing.close();
  assert.ok(told.length > 0);
  for (const line of told) assert.match(line, /^traces: |^the last traces were not sent$/);
});
