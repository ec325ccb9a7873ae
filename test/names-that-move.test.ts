/** Names whose DNS answer changes between create, update, test, retry and dispatch. A real DNS server answers. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeTestCa } from "./support/certificates.ts";
import { startDnsServer, type DnsAnswer, type DnsServer } from "./support/dns-server.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver } from "./support/tls-receiver.ts";
import { assertRefused, first, publish, REFUSED, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const OPEN: DnsAnswer = { kind: "addresses", addresses: ["127.0.0.1"], ttlSeconds: 0 };
const PRIVATE: DnsAnswer = { kind: "addresses", addresses: ["10.0.0.1"], ttlSeconds: 0 };
const METADATA: DnsAnswer = { kind: "addresses", addresses: ["169.254.169.254"], ttlSeconds: 0 };
const MIXED: DnsAnswer = { kind: "addresses", addresses: ["127.0.0.1", "10.0.0.1"], ttlSeconds: 0 };
const ALIASED: DnsAnswer = { ...PRIVATE, alias: "db.corp" };
const SIX: DnsAnswer = { kind: "addresses", addresses: ["127.0.0.1", "fd00::1"], ttlSeconds: 0 };

/** Names are `<what it leads to>.dev`, or as a test says. */
const answers = new Map<string, DnsAnswer>([
  ["private.dev", PRIVATE],
  ["metadata.dev", METADATA],
  ["mixed.dev", MIXED],
  ["aliased.dev", ALIASED],
  ["six.dev", SIX],
  ["open.dev", OPEN],
]);
const names = ["moves-test.dev", "moves-retry.dev", "moves-dispatch.dev", "vanishes.dev"];

let dns: DnsServer;
let service: TestService;
let webhooks: Webhooks;
let status = 200;

before(async () => {
  dns = await startDnsServer((name) => answers.get(name) ?? { kind: "nxdomain" });
  const ca = await makeTestCa();
  const receiver = await startReceiver({
    certificate: await ca.issue({ names: ["open.dev", ...names] }),
    respond: () => ({ status }),
  });
  service = await startTestService({
    receiver: { ...receiver, caPem: ca.caPem },
    env: { DNS_SERVERS: dns.address, RETRY_SCHEDULE: "0s" },
  });
  webhooks = webhooksOf(service);
});
after(async () => {
  await service.stop();
  await service.receiver.close();
  await dns.close();
});

const urlOf = (name: string): string => `https://${name}:${service.receiver.port}/`;

describe("a name that leads to an address that is closed", () => {
  for (const name of ["private.dev", "PRIVATE.dev.", "metadata.dev", "mixed.dev", "aliased.dev", "six.dev"]) {
    it(`is refused at create and at update: ${name}`, async () => {
      const json = { url: urlOf(name) };
      assertRefused(await webhooks.call("POST", "", { json }), REFUSED.unsafeUrl);
      const { endpoint } = await webhooks.create({ url: urlOf("open.dev") });
      assertRefused(await webhooks.call("PATCH", `/${endpoint.id}`, { json }), REFUSED.unsafeUrl);
      assert.equal((await webhooks.detail(endpoint.id)).endpoint.url, urlOf("open.dev"));
      await webhooks.remove(endpoint.id);
    });
  }
});

/** An endpoint whose name was open when it was created. */
async function openEndpoint(name: string, type: string): Promise<string> {
  answers.set(name, OPEN);
  const { endpoint } = await webhooks.create({ url: urlOf(name), events: [type] });
  return endpoint.id;
}

const requestsTo = (name: string): number =>
  service.receiver.requests.filter(({ headers }) => headers.host?.startsWith(name)).length;

describe("a name that moves after its endpoint was created", () => {
  it("is refused at a test once the earlier answer has run out, and nothing is sent or logged", async () => {
    const id = await openEndpoint("moves-test.dev", "invoice.paid");
    answers.set("moves-test.dev", PRIVATE);
    const refused = await eventually(async () => {
      const answer = await webhooks.call("POST", `/${id}/test`, { json: { event_type: "invoice.paid" } });
      return answer.status === 400 && answer;
    });
    assertRefused(refused, REFUSED.unsafeUrl);
    const [sent, logged] = [requestsTo("moves-test.dev"), (await webhooks.deliveries(id)).length];
    assertRefused(
      await webhooks.call("POST", `/${id}/test`, { json: { event_type: "invoice.paid" } }),
      REFUSED.unsafeUrl,
    );
    assert.deepEqual([requestsTo("moves-test.dev"), (await webhooks.deliveries(id)).length], [sent, logged]);
  });

  it("is refused at a retry, and nothing is sent or logged", async () => {
    const id = await openEndpoint("moves-retry.dev", "invoice.sent");
    status = 500;
    await publish(service, { type: "invoice.sent" });
    const failed = first(await webhooks.waitFor(id, "failed"));
    answers.set("moves-retry.dev", METADATA);
    const refused = await eventually(async () => {
      const answer = await webhooks.call("POST", `/${id}/deliveries/${failed.id}/retry`);
      return answer.status === 400 && answer;
    });
    status = 200;
    assertRefused(refused, REFUSED.unsafeUrl);
    assert.equal(requestsTo("moves-retry.dev"), (await webhooks.deliveries(id)).length);
  });

  it("is a blocked target for automatic attempts, recorded, and nothing is sent", async () => {
    const id = await openEndpoint("moves-dispatch.dev", "invoice.overdue");
    answers.set("moves-dispatch.dev", MIXED);
    const blocked = await eventually(async () => {
      await publish(service, { type: "invoice.overdue" });
      const rows = await webhooks.deliveries(id, "?status=failed");
      return rows.find(({ error }) => error === "blocked_target");
    });
    assert.deepEqual([blocked.response_status, blocked.response_body], [null, null]);
    // One that was sent by the earlier answer may be recorded after one that was blocked.
    await eventually(async () => (await webhooks.deliveries(id, "?status=pending")).length === 0);
    const delivered = (await webhooks.deliveries(id, "?status=delivered")).length;
    assert.equal(requestsTo("moves-dispatch.dev"), delivered);
  });

  it("is a dns error once it is gone, for attempts and for tests", async () => {
    const id = await openEndpoint("vanishes.dev", "payment.failed");
    answers.delete("vanishes.dev");
    await eventually(async () => {
      await publish(service, { type: "payment.failed" });
      return (await webhooks.deliveries(id, "?status=failed")).some(({ error }) => error === "dns");
    });
    assert.equal((await webhooks.test(id, "payment.failed")).response_status, null);
    assert.equal(first(await webhooks.deliveries(id)).error, "dns");
  });

  it("may be registered before it exists, and is dialled when it does", async () => {
    const { endpoint } = await webhooks.create({ url: urlOf("open.dev"), events: ["payment.refunded"] });
    await publish(service, { type: "payment.refunded" });
    await webhooks.waitFor(endpoint.id, "delivered");
  });
});
