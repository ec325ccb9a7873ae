/** Hostile receivers as the delivery log records them, beside a healthy endpoint of the same tenant. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { issueExpired, makeSelfSigned, makeTestCa } from "./support/certificates.ts";
import { BEHAVIOURS, startHostileReceiver, type Ending } from "./support/hostile-receivers.ts";
import { eventually, startTestService, type TestService } from "./support/service.ts";
import { listen, startReceiver, type ReceiverOptions } from "./support/tls-receiver.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const EVENTS = 2;

let service: TestService;
let webhooks: Webhooks;
let healthyId: string;
const closing: (() => unknown)[] = [];
/** By name: where the endpoint is, and how its attempts must end. */
const hostile = new Map<string, { url: string; ending: Ending; id: string }>();

before(async () => {
  const ca = await makeTestCa();
  const receiver = await startReceiver({ certificate: await ca.issue() });
  closing.push(() => receiver.close());
  service = await startTestService({
    receiver: { ...receiver, caPem: ca.caPem },
    env: { RETRY_SCHEDULE: "0s" },
    senderLimits: { attemptTimeoutMs: 4_000, connectTimeoutMs: 2_000 },
  });
  webhooks = webhooksOf(service);

  const raw = await startHostileReceiver({ certificate: await ca.issue() });
  closing.push(() => raw.close());
  const targets: [name: string, url: string, ending: Ending][] = Object.entries(BEHAVIOURS).map(
    ([name, { ending }]) => [name, raw.url.replace("/hook", `/${name}`), ending],
  );
  const bad: [string, ReceiverOptions][] = [
    ["self-signed", { certificate: await makeSelfSigned() }],
    ["expired", { certificate: await issueExpired(ca) }],
    ["wrong-name", { certificate: await ca.issue({ names: ["other.dev"], ips: ["127.0.0.2"] }) }],
    ["tls-1.1", { certificate: await ca.issue(), maxTlsVersion: "TLSv1.1" }],
  ];
  for (const [name, options] of bad) {
    const refused = await startReceiver(options);
    closing.push(() => refused.close());
    targets.push([name, refused.url, "tls"]);
  }
  const mute = createServer((socket) => socket.on("error", () => {}));
  targets.push(["no-handshake", `https://127.0.0.1:${await listen(mute)}/`, "timeout"]);
  const gone = createServer();
  targets.push(["refuses", `https://127.0.0.1:${await listen(gone)}/`, "connect"]);
  gone.close();
  closing.push(() => mute.close());

  for (const [name, url, ending] of targets) {
    const { endpoint } = await webhooks.create({ url, events: [TYPE] });
    hostile.set(name, { url, ending, id: endpoint.id });
  }
  healthyId = (await webhooks.create({ events: [TYPE] })).endpoint.id;
  for (let count = 0; count < EVENTS; count++) await publish(service, { type: TYPE });
});
after(async () => {
  await service.stop();
  for (const close of closing) await close();
});

describe("an automatic attempt", () => {
  for (const name of [
    ...Object.keys(BEHAVIOURS),
    "self-signed",
    "expired",
    "wrong-name",
    "tls-1.1",
    "no-handshake",
    "refuses",
  ]) {
    it(`is recorded as it ended: ${name}`, async () => {
      const { ending, id } = known(name);
      const rows = await eventually(async () => {
        const found = await webhooks.deliveries(id);
        return found.length === EVENTS && found.every((row) => row.status !== "pending") && found;
      });
      for (const row of rows) {
        const found = row.error ?? row.response_status;
        assert.equal(found, ending, `${row.error} ${row.response_status}`);
        assert.ok((row.response_body ?? "").length <= 1_000);
      }
    });
  }

  it("beside all these is delivered, each event once", async () => {
    assert.equal((await webhooks.waitFor(healthyId, "delivered", EVENTS)).length, EVENTS);
    assert.equal(service.receiver.requests.length, EVENTS);
  });
});

describe("a test by a person", () => {
  it("of each of them is answered, and the next request is served", async () => {
    await Promise.all(
      [...hostile.values()].map(async ({ id, ending }) => {
        const answer = await webhooks.test(id, TYPE);
        assert.equal(answer.response_status, typeof ending === "number" ? ending : null);
        const row = first(await webhooks.deliveries(id));
        assert.equal(row.error, typeof ending === "number" ? null : ending);
      }),
    );
    assert.equal((await service.call("GET", "/health", { as: null })).status, 200);
    assert.equal((await webhooks.test(healthyId, TYPE)).response_status, 200);
  });
});

function known(name: string) {
  const found = hostile.get(name);
  assert.ok(found !== undefined, `${name} was not set up`);
  return found;
}
