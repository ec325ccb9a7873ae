/** One trace of an event, over processes: from its producer's request to its receiver. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { readConfig, makeSecrets, type Environment } from "../src/config.ts";
import { createEndpoint } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { temporaryPath } from "./support/temporary.ts";
import { listen, startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";
import { freePort } from "./support/free-port.ts";

const attribute = z.object({
  key: z.string(),
  value: z.looseObject({ stringValue: z.string().optional(), intValue: z.number().optional() }),
});
const spanShape = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  attributes: z.array(attribute),
  status: z.object({ code: z.number() }),
});
const exportShape = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanShape) })),
    }),
  ),
});
type Span = z.infer<typeof spanShape>;

/** A collector that takes OTLP over HTTP and keeps what it got. */
async function startCollector() {
  const requests: { headers: IncomingHttpHeaders; path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      requests.push({ headers: request.headers, path: request.url ?? "", body });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    spans: (): Span[] =>
      requests
        .flatMap(({ body }) => exportShape.parse(JSON.parse(body)).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

let database: TestDatabase;
let receiver: TlsReceiver;
let collector: Awaited<ReturnType<typeof startCollector>>;
let env: Environment;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver({ respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200 }) });
  collector = await startCollector();
  env = {
    ...(await sharedSettings(database.url, receiver.caPem)),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20of-the-operator",
    OTEL_SERVICE_NAME: "hooks",
  };
});
after(async () => {
  await receiver.close();
  await collector.close();
  await database.drop();
});

/** Twice, as a producer does that got no answer. */
async function publish(program: Program, note: string, headers: Record<string, string> = {}) {
  const json = { type: "invoice.paid", data: { note }, id: JSON.stringify([note, headers]) };
  const send = () => program.call("POST", "/api/events", { as: PRODUCER, json, headers });
  const { status, text, body } = await send();
  assert.equal(status, 202, text);
  assert.equal((await send()).status, 200);
  const { id } = z.object({ id: z.string() }).parse(body);
  return { id, traceId: id.replaceAll("-", "") };
}

const received = (path: string, id: string) =>
  eventually(() =>
    Promise.resolve(receiver.requests.find((one) => one.path === path && one.headers["webhook-id"] === id)),
  );

const PRODUCERS = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const traceparentOf = (flags: string) => `00-${PRODUCERS.traceId}-${PRODUCERS.spanId}-${flags}`;

const valueOf = ({ attributes }: Span, name: string) => attributes.find(({ key }) => key === name)?.value;

describe("an event, with a collector", () => {
  it("continues its producer's trace, from its acceptance in one process to each attempt in another", async () => {
    const api = await startProgram(["api"], env);
    const worker = await startProgram(["worker"], env);
    const origin = new URL(receiver.url).origin;
    await createEndpoint(api, { url: `${origin}/works` });
    await createEndpoint(api, { url: `${origin}/fails` });
    const tenants = "00-11111111111111111111111111111111-2222222222222222-01";
    await createEndpoint(api, { url: `${origin}/own`, headers: { Traceparent: tenants } });
    const event = await publish(api, "traced", { traceparent: traceparentOf("01") });
    const noTrace = `00-${"0".repeat(32)}-${PRODUCERS.spanId}-01`;
    const hostile = await publish(api, "hostile", { traceparent: noTrace });
    const [works, fails, replaced] = await Promise.all(
      ["/works", "/fails", "/own"].map((path) => received(path, event.id)),
    );
    await received("/works", hostile.id);
    for (const program of [api, worker]) {
      assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    }

    const spans = collector.spans().filter(({ traceId }) => traceId === PRODUCERS.traceId);
    const [first, ...again] = spans.filter(({ name }) => name === "event accepted");
    assert.equal(first?.parentSpanId, PRODUCERS.spanId);
    assert.deepEqual(again, []);
    assert.equal(valueOf(first, "postern.event.id")?.stringValue, event.id);
    // It begins with its request, so not after the event got its id, which has the time in whole milliseconds.
    assert.ok(Number(first.startTimeUnixNano) / 1e6 < Number(`0x${event.traceId.slice(0, 12)}`) + 1);
    const attempts = spans.filter(({ parentSpanId }) => parentSpanId === first.spanId);
    assert.equal(attempts.length, 3);
    const spanIds = [works, fails].map((request) => {
      const [version, traceId, spanId, flags] = String(request?.headers["traceparent"]).split("-");
      assert.deepEqual([version, traceId, flags], ["00", PRODUCERS.traceId, "01"]);
      return spanId;
    });
    const [delivered, failed] = spanIds.map((id) => attempts.find(({ spanId }) => spanId === id));
    assert.ok(delivered !== undefined && failed !== undefined);
    assert.equal(valueOf(delivered, "http.response.status_code")?.intValue, 200);
    assert.equal(delivered.status.code, 0);
    assert.equal(valueOf(failed, "http.response.status_code")?.intValue, 500);
    assert.equal(failed.status.code, 2);
    assert.equal(replaced?.headers["traceparent"], tenants, "an endpoint's own header is its tenant's");
    const own = collector.spans().filter(({ traceId }) => traceId === hostile.traceId);
    const [root, ...others] = own.sort((one) => (one.name === first.name ? -1 : 1));
    assert.deepEqual([root?.name, root?.parentSpanId], [first.name, undefined]);
    assert.ok(others.length > 0 && others.every(({ parentSpanId }) => parentSpanId === root?.spanId));

    const [request] = collector.requests;
    assert.equal(request?.path, "/v1/traces");
    assert.equal(request.headers.authorization, "Bearer of-the-operator");
    assert.match(request.body, /"service\.name","value":\{"stringValue":"hooks"\}/);
    assert.doesNotMatch(request.body, /127\.0\.0\.1|traced/, "neither URLs nor data");
  });

  it("has a trace from its acceptance on where it was published from SQL", async () => {
    const program = await startProgram(["up"], env);
    await createEndpoint(program, { url: `${new URL(receiver.url).origin}/from-sql` });
    const { rows } = await database.pool.query("SELECT postern.publish('acme', 'invoice.paid', '{}') AS id");
    const { id } = z.object({ id: z.string() }).parse(rows[0]);
    await received("/from-sql", id);
    await program.end("SIGTERM");
    const spans = collector.spans().filter(({ traceId }) => traceId === id.replaceAll("-", ""));
    const [accepted, ...again] = spans.filter(({ name }) => name === "event accepted");
    assert.ok(accepted !== undefined && again.length === 0);
    assert.ok(spans.some(({ parentSpanId }) => parentSpanId === accepted.spanId));
  });

  it("is sent on as not sampled where it is not of the part that is traced", async () => {
    const program = await startProgram(["up"], { ...env, OTEL_TRACES_SAMPLER_ARG: "0" });
    const event = await publish(program, "unsampled");
    const { headers } = await received("/works", event.id);
    assert.match(String(headers["traceparent"]), new RegExp(`^00-${event.traceId}-[0-9a-f]{16}-00$`));
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    assert.ok(!collector.spans().some(({ traceId }) => traceId === event.traceId));
  });

  it("is not sampled where its producer's trace is not, which the receiver is told", async () => {
    const program = await startProgram(["up"], env);
    const event = await publish(program, "unsampled", { traceparent: traceparentOf("00") });
    const { headers } = await received("/works", event.id);
    assert.match(String(headers["traceparent"]), new RegExp(`^00-${PRODUCERS.traceId}-[0-9a-f]{16}-00$`));
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    assert.ok(!collector.spans().some((span) => valueOf(span, "postern.event.id")?.stringValue === event.id));
  });

  it("is delivered although the collector is down, which the log tells", async () => {
    const down = `http://127.0.0.1:${await freePort()}`;
    const program = await startProgram(["up"], { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: down });
    const event = await publish(program, "nobody collects");
    await received("/works", event.id);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
    assert.match(program.output(), /"level":"warn".*ECONNREFUSED.*"the last traces were not sent"/);
  });
});

describe("an event, without a collector", () => {
  it("has no trace, whatever its producer sends", async () => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: _none, ...without } = env;
    const program = await startProgram(["up"], without);
    const event = await publish(program, "untraced", { traceparent: traceparentOf("01") });
    assert.equal((await received("/works", event.id)).headers["traceparent"], undefined);
    const { rows } = await database.pool.query("SELECT traceparent FROM postern.events WHERE id = $1", [
      event.id,
    ]);
    assert.deepEqual(rows, [{ traceparent: null }]);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });

  it("loads nothing that makes or sends traces", async () => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: _none, ...without } = env;
    const traced = await loadedBy(env);
    assert.ok((await filter(traced, sendsTraces)).length > 0, traced.join("\n"));
    const untraced = await loadedBy(without);
    assert.ok(untraced.length > 0);
    assert.deepEqual(await filter(untraced, sendsTraces), []);
  });
});

/** The files that the program loads until it serves. */
async function loadedBy(settings: Environment): Promise<string[]> {
  const list = temporaryPath("loaded-modules");
  const NODE_OPTIONS = `--import ${new URL("support/list-modules.ts", import.meta.url).href}`;
  const program = await startProgram(["up"], { ...settings, NODE_OPTIONS, LOADED_MODULES: list });
  assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  const urls = (await readFile(list, "utf8")).split("\n");
  return urls.filter((url) => url.startsWith("file:"));
}

/** In the sources one of its packages, in the bundle a file that has its exporter. */
async function sendsTraces(url: string): Promise<boolean> {
  // The client of the metrics requires the API's types, which do nothing by themselves.
  if (url.includes("/@opentelemetry/")) return !url.includes("/@opentelemetry/api/");
  return (await readFile(new URL(url), "utf8")).includes("OTLPTraceExporter");
}

async function filter<T>(all: readonly T[], isWanted: (one: T) => Promise<boolean>): Promise<T[]> {
  const found = await Promise.all(all.map(isWanted));
  return all.filter((_one, place) => found[place]);
}

const read = (settings: Environment) => readConfig({ ...makeSecrets(), ...settings }).tracing;

describe("the settings of traces", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example/otlp/";

  it("are read by OpenTelemetry's names, and refused where they are wrong", () => {
    assert.equal(read({}), undefined);
    const OTEL_EXPORTER_OTLP_HEADERS = "x-key=a%20b%3D, y=2";
    assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS }), {
      url: "https://collector.example/otlp",
      headers: { "x-key": "a b=", y: "2" },
      serviceName: "postern",
      share: 1,
    });
    for (const wrong of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector.example:4318" },
      { OTEL_EXPORTER_OTLP_HEADERS: "nothing" },
      { OTEL_EXPORTER_OTLP_HEADERS: "x=a%0d%0ay" },
      { OTEL_TRACES_SAMPLER_ARG: "2" },
    ]) {
      assert.throws(
        () => read({ OTEL_EXPORTER_OTLP_ENDPOINT, ...wrong }),
        new RegExp(Object.keys(wrong)[0] ?? ""),
      );
    }
  });
});
