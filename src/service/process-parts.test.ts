import assert from "node:assert/strict";
import { createServer } from "node:http";
import { it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { startDnsServer } from "../../test/support/dns-server.ts";
import { eventually } from "../../test/support/eventually.ts";
import { listen, startReceiver } from "../../test/support/tls-receiver.ts";
import { makeSecrets, readConfig, type Environment } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { newEventId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeProcessParts } from "./process-parts.ts";

const partsOf = async (env: Environment, extraCaPems: readonly string[] = []) =>
  makeProcessParts({
    extraCaPems,
    config: readConfig({ ...makeSecrets(), ...env }),
    catalog: await openCatalog(undefined),
    databaseUrl: "postgres://unused",
    migrations: [],
    roles: new Set(["worker"]),
    log: makeLog("silent"),
  });

it("a process that stops sending waits for no name server", async (test) => {
  const dns = await startDnsServer(() => ({ kind: "silent" }));
  test.after(() => dns.close());
  const process = await partsOf({ DNS_SERVERS: dns.address });
  const host = "hooks.example.com";
  const looked = process.guard.pin({ host, isIp: false });
  await eventually(async () => dns.questionCount(host, "A") > 0);
  await process.stopSending();
  assert.deepEqual(await looked, { kind: "unresolved", code: "ECANCELLED" });
  await process.close();
});

it("a process that stops sending has the answer of what is under way, and leaves receivers no connection", async (test) => {
  const answering = Promise.withResolvers<void>();
  let asked = 0;
  const receiver = await startReceiver({
    async respond() {
      asked++;
      await answering.promise;
      return {};
    },
  });
  test.after(() => receiver.close());
  const process = await partsOf({ OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8" }, [receiver.caPem]);
  const sending = process.sender.send({ url: receiver.url, headers: {}, body: "{}" });
  await eventually(async () => asked > 0);
  let isStopped = false;
  const stopped = process.stopSending().then(() => (isStopped = true));
  await setImmediate();
  assert.equal(isStopped, false);
  answering.resolve();
  await stopped;
  assert.equal((await sending).kind, "answered");
  assert.equal(process.sender.stats().openConnections, 0);
});

/** Whether this machine may be a target, at this port. */
async function isTarget(env: Environment): Promise<boolean> {
  const process = await partsOf(env);
  const verdict = await process.guard.checkUrl("https://localhost:4711/");
  await process.stopSending();
  return verdict === "safe";
}

it("this machine is a target only where its addresses are allowed, and neither they nor the port are denied", async () => {
  const allowed = { OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8" };
  const settings = [
    {},
    allowed,
    { ...allowed, OUTBOUND_DENIED_CIDRS: "127.0.0.1/32" },
    { ...allowed, BLOCKED_PORTS: "4711" },
  ];
  assert.deepEqual(await Promise.all(settings.map(isTarget)), [false, true, false, false]);
});

it("a process that ends has sent its last traces", async (test) => {
  let batches = 0;
  const collector = createServer((request, response) => {
    batches++;
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const url = `http://127.0.0.1:${await listen(collector)}`;
  test.after(() => collector.close().closeAllConnections());
  const process = await partsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const event = { eventId: newEventId(), eventType: "invoice.paid", tenantId: "acme" };
  process.tracing?.accepted(event, Date.now());
  await process.stopSending();
  await process.close();
  assert.equal(batches, 1);
});
