/** Hostile receivers as the delivery log records them, beside a healthy endpoint of the same tenant. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { issueExpired, makeSelfSigned, makeTestCa, type TestCa } from "./support/certificates.ts";
import type { SenderLimits } from "../src/outbound/send.ts";
import { freePort } from "./support/free-port.ts";
import { BEHAVIOURS, startHostileReceiver, type Ending } from "./support/hostile-receivers.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { listen, startReceiver, type ReceiverOptions } from "./support/tls-receiver.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const EVENTS = 2;

type Target = { name: string; url: string; ending: Ending };
type Bench = {
  service: TestService;
  webhooks: Webhooks;
  healthyId: string;
  targets: Map<string, Target & { id: string }>;
};

/** Ended by a time limit alone. */
const SLOW = ["silent", "slow-headers", "slow-body", "no-handshake"];
const QUICK = [
  ...Object.keys(BEHAVIOURS).filter((name) => !SLOW.includes(name)),
  "self-signed",
  "expired",
  "wrong-name",
  "tls-1.1",
  "refuses",
];

/** On a busy machine connecting takes seconds, beside receivers that flood in the same process: the limits are short only where one is to be met. */
const LIMITS = {
  slow: { attemptTimeoutMs: 4_000, connectTimeoutMs: 2_000 },
  quick: { attemptTimeoutMs: 30_000, connectTimeoutMs: 30_000 },
};

const closing: (() => unknown)[] = [];
let quick: Bench;
let slow: Bench;

before(async () => {
  const ca = await makeTestCa();
  const targets = await startTargets(ca);
  quick = await startBench(ca, pick(targets, QUICK), LIMITS.quick);
  slow = await startBench(ca, pick(targets, SLOW), LIMITS.slow);
});
after(async () => {
  for (const close of closing.toReversed()) await close();
});

async function startTargets(ca: TestCa): Promise<Target[]> {
  const raw = await startHostileReceiver({ certificate: await ca.issue() });
  closing.push(() => raw.close());
  const targets: Target[] = Object.entries(BEHAVIOURS).map(([name, { ending }]) => ({
    name,
    url: raw.url.replace("/hook", `/${name}`),
    ending,
  }));
  const bad: [string, ReceiverOptions][] = [
    ["self-signed", { certificate: await makeSelfSigned() }],
    ["expired", { certificate: await issueExpired(ca) }],
    ["wrong-name", { certificate: await ca.issue({ names: ["other.dev"], ips: ["127.0.0.2"] }) }],
    ["tls-1.1", { certificate: await ca.issue(), maxTlsVersion: "TLSv1.1" }],
  ];
  for (const [name, options] of bad) {
    const refused = await startReceiver(options);
    closing.push(() => refused.close());
    targets.push({ name, url: refused.url, ending: "tls" });
  }
  const mute = createServer((socket) => socket.on("error", () => {}));
  targets.push({ name: "no-handshake", url: `https://127.0.0.1:${await listen(mute)}/`, ending: "timeout" });
  targets.push({ name: "refuses", url: `https://127.0.0.1:${await freePort()}/`, ending: "connect" });
  closing.push(() => mute.close());
  return targets;
}

function pick(targets: readonly Target[], names: readonly string[]): Target[] {
  const picked = targets.filter(({ name }) => names.includes(name));
  assert.equal(picked.length, names.length);
  return picked;
}

/** An endpoint for each target, a healthy one beside them, and events to all. */
async function startBench(
  ca: TestCa,
  targets: readonly Target[],
  senderLimits: Partial<SenderLimits>,
): Promise<Bench> {
  const receiver = await startReceiver({ certificate: await ca.issue() });
  closing.push(() => receiver.close());
  const service = await startTestService({
    receiver: { ...receiver, caPem: ca.caPem },
    env: { RETRY_SCHEDULE: "0s" },
    senderLimits,
  });
  closing.push(() => service.stop());
  const webhooks = webhooksOf(service);
  const known = new Map<string, Target & { id: string }>();
  for (const target of targets) {
    const { endpoint } = await webhooks.create({ url: target.url, events: [TYPE] });
    known.set(target.name, { ...target, id: endpoint.id });
  }
  const healthyId = (await webhooks.create({ events: [TYPE] })).endpoint.id;
  for (let count = 0; count < EVENTS; count++) await publish(service, { type: TYPE });
  return { service, webhooks, healthyId, targets: known };
}

const benches: [names: string[], bench: () => Bench][] = [
  [QUICK, () => quick],
  [SLOW, () => slow],
];

describe("an automatic attempt", () => {
  for (const [names, bench] of benches) {
    for (const name of names) {
      it(`is recorded as it ended: ${name}`, async () => {
        const { webhooks, targets } = bench();
        const { ending, id } = targets.get(name) ?? assert.fail();
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
  }

  it("beside all these is delivered, each event once", async () => {
    for (const { webhooks, service, healthyId } of [quick, slow]) {
      assert.equal((await webhooks.waitFor(healthyId, "delivered", EVENTS)).length, EVENTS);
      assert.equal(service.receiver.requests.length, EVENTS);
    }
  });

  it("is counted by how it ended", async () => {
    for (const { service, targets } of [quick, slow]) {
      const expected = new Map([["delivered none", EVENTS]]);
      for (const { ending } of targets.values()) {
        const key =
          ending === 200 ? "delivered none" : `failed ${typeof ending === "number" ? "status" : ending}`;
        expected.set(key, (expected.get(key) ?? 0) + EVENTS);
      }
      const { text } = await service.call("GET", "/metrics", { as: null });
      const counted = text.matchAll(
        /^webhook_delivery_attempts_total\{outcome="(\w+)",reason="(\w+)"\} (\d+)$/gm,
      );
      assert.deepEqual(
        new Map(Array.from(counted, ([, outcome, reason, count]) => [`${outcome} ${reason}`, Number(count)])),
        expected,
      );
    }
  });
});

describe("a test by a person", () => {
  it("of each of them is answered, and the next request is served", async () => {
    for (const { webhooks, service, healthyId, targets } of [quick, slow]) {
      await Promise.all(
        [...targets.values()].map(async ({ id, ending }) => {
          const answer = await webhooks.test(id, TYPE);
          assert.equal(answer.response_status, typeof ending === "number" ? ending : null);
          const row = first(await webhooks.deliveries(id));
          assert.equal(row.error, typeof ending === "number" ? null : ending);
        }),
      );
      assert.equal((await service.call("GET", "/health", { as: null })).status, 200);
      assert.equal((await webhooks.test(healthyId, TYPE)).response_status, 200);
    }
  });
});
