/** What tenants and the operator are told of endpoints that fail, when, and how often. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { makeDataCheckCompiler } from "../src/events/data-check.ts";
import { serviceEvents } from "../src/events/built-in-catalog.ts";
import { publish, webhooksOf } from "./support/webhooks.ts";
import { OTHER_OWNER, OWNER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const OPERATOR: Claims = { type: "user", tid: "ops", sub: "sam", role: "owner" };
const LISTENERS = [
  [OWNER, "/acme"],
  [OTHER_OWNER, "/globex"],
  [OPERATOR, "/ops"],
] as const;

type Notice = { id: string; event: string; data: Record<string, unknown> };

let service: TestService;
let isBroken = true;
let flaps = 0;

before(async () => {
  service = await startTestService({
    upkeepTimes: { tellOfEndpointsMs: 100 },
    env: { OPERATOR_TENANT: "ops", RETRY_SCHEDULE: "0s", DISABLE_AFTER: "5d", RATE_LIMIT_WRITES: "1000" },
    respond({ path }) {
      if (path.startsWith("/flapping")) return { status: flaps++ % 2 === 0 ? 500 : 200 };
      if (path.startsWith("/broken")) return { status: isBroken ? 500 : 200 };
      return { status: path.startsWith("/down") ? 500 : 200 };
    },
  });
  for (const [as, path] of LISTENERS)
    await webhooksOf(service, as).create({ url: urlOf(path), events: ["endpoint.*", "delivery.exhausted"] });
});
after(() => service.stop());
beforeEach(() => {
  isBroken = true;
});

const urlOf = (path: string): string => `${new URL(service.receiver.url).origin}${path}`;

function noticesAt(path: string, endpointId: string, type?: string): Notice[] {
  return service.receiver.requests
    .filter((request) => request.path === path)
    .map(({ body }): Notice => JSON.parse(body.toString()))
    .filter(({ event, data }) => data["endpoint_id"] === endpointId && (type ?? event) === event);
}

const exhausted = (path: string, id: string) => noticesAt(path, id, "delivery.exhausted");

const typesAt = (path: string, endpointId: string): string[] =>
  noticesAt(path, endpointId).map(({ event }) => event);

async function ofEndpoint(id: string, set: string): Promise<void> {
  await service.database.pool.query(`UPDATE postern.endpoints SET ${set} WHERE id = $1`, [id]);
}

const failsFor = (id: string, interval: string) =>
  ofEndpoint(id, `failing_since = now() - interval '${interval}'`);

/** What one round tells is told in the order of its rounds: so when this came, so did what was due before. */
async function nextRound(): Promise<void> {
  const { endpoint } = await webhooksOf(service).create({
    url: urlOf("/down/round"),
    events: ["invoice.sent"],
  });
  await failsFor(endpoint.id, "1 hour");
  await eventually(async () => noticesAt("/acme", endpoint.id).length === 1);
  await webhooksOf(service).remove(endpoint.id);
}

async function createFailing(path: string, events: string[]) {
  const { endpoint } = await webhooksOf(service).create({ url: urlOf(path), events });
  await publish(service, { type: events[0] ?? "invoice.paid" });
  await webhooksOf(service).waitFor(endpoint.id, "failed");
  return endpoint;
}

describe("of a failing endpoint", () => {
  it("its tenant and the operator are told after an hour, at half of DISABLE_AFTER, and when it works again", async () => {
    const endpoint = await createFailing("/broken", ["invoice.paid"]);
    await failsFor(endpoint.id, "59 minutes");
    await nextRound();
    assert.ok(!typesAt("/acme", endpoint.id).includes("endpoint.failing"));
    await failsFor(endpoint.id, "1 hour");
    await eventually(async () => noticesAt("/ops", endpoint.id, "endpoint.failing").length === 1);
    await nextRound();
    await failsFor(endpoint.id, "59 hours");
    await nextRound();
    assert.equal(noticesAt("/acme", endpoint.id, "endpoint.failing").length, 1);
    await failsFor(endpoint.id, "60 hours");
    await eventually(async () => noticesAt("/ops", endpoint.id, "endpoint.failing").length === 2);
    await nextRound();
    isBroken = false;
    await publish(service, { type: "invoice.paid" });
    await publish(service, { type: "invoice.paid" });
    await eventually(async () => noticesAt("/ops", endpoint.id, "endpoint.recovered").length === 1);
    await webhooksOf(service).waitFor(endpoint.id, "delivered", 2);
    await nextRound();
    const told = noticesAt("/acme", endpoint.id).filter(({ event }) => event.startsWith("endpoint."));
    assert.deepEqual(
      told.map(({ event }) => event),
      ["endpoint.failing", "endpoint.failing", "endpoint.recovered"],
    );
    const copies = noticesAt("/ops", endpoint.id).filter(({ event }) => event.startsWith("endpoint."));
    assert.deepEqual(
      copies.map(({ data }) => data),
      told.map(({ data }) => ({ tenant_id: "acme", ...data })),
    );
    const [, halfway, recovered] = told;
    const { failing_since: since, ...rest } = recovered?.data ?? {};
    assert.deepEqual(rest, { endpoint_id: endpoint.id, url: urlOf("/broken") });
    assert.equal(halfway?.data["failing_since"], since);
    const days =
      (Date.parse(String(halfway?.data["disabled_after"])) - Date.parse(String(since))) / 86_400_000;
    assert.equal(days, 5);
    assert.equal(noticesAt("/globex", endpoint.id).length, 0);
    await webhooksOf(service).remove(endpoint.id);
  });

  it("nobody is told while it flaps, for no failure lasts", async () => {
    const { endpoint } = await webhooksOf(service).create({
      url: urlOf("/flapping"),
      events: ["payment.failed"],
    });
    for (let n = 0; n < 20; n++) await publish(service, { type: "payment.failed" });
    await eventually(async () => (await webhooksOf(service).deliveries(endpoint.id)).length === 20);
    await nextRound();
    assert.ok(!typesAt("/acme", endpoint.id).some((type) => type.startsWith("endpoint.")));
    await webhooksOf(service).remove(endpoint.id);
  });

  it("the recovery by a person's retry is told", async () => {
    const endpoint = await createFailing("/broken", ["customer.created"]);
    await failsFor(endpoint.id, "1 hour");
    await eventually(async () => noticesAt("/acme", endpoint.id, "endpoint.failing").length === 1);
    isBroken = false;
    const [failed] = await webhooksOf(service).deliveries(endpoint.id);
    assert.ok(failed !== undefined);
    await webhooksOf(service).retry(endpoint.id, failed.id);
    await eventually(async () => noticesAt("/ops", endpoint.id, "endpoint.recovered").length === 1);
    await webhooksOf(service).remove(endpoint.id);
  });

  it("enabling it is no recovery, and its failures count anew", async () => {
    const endpoint = await createFailing("/broken", ["customer.updated"]);
    await failsFor(endpoint.id, "1 hour");
    await eventually(async () => noticesAt("/acme", endpoint.id, "endpoint.failing").length === 1);
    await webhooksOf(service).update(endpoint.id, { enabled: false });
    await webhooksOf(service).update(endpoint.id, { enabled: true });
    await publish(service, { type: "customer.updated" });
    await webhooksOf(service).waitFor(endpoint.id, "failed", 2);
    isBroken = false;
    await publish(service, { type: "customer.updated" });
    await webhooksOf(service).waitFor(endpoint.id, "delivered");
    await nextRound();
    assert.ok(!typesAt("/acme", endpoint.id).includes("endpoint.recovered"));
    await webhooksOf(service).remove(endpoint.id);
  });

  it("nothing is told if it gets Postern's own events alone, or is disabled", async () => {
    const { endpoint: own } = await webhooksOf(service).create({
      url: urlOf("/down/own"),
      events: ["endpoint.*", "delivery.exhausted"],
    });
    const { endpoint: disabled } = await webhooksOf(service).create({
      url: urlOf("/down/disabled"),
      events: ["invoice.sent"],
      enabled: false,
    });
    await failsFor(own.id, "2 hours");
    await failsFor(disabled.id, "2 hours");
    await nextRound();
    await webhooksOf(service).waitFor(own.id, "failed");
    await nextRound();
    assert.deepEqual([typesAt("/acme", own.id), typesAt("/acme", disabled.id)], [[], []]);
    await webhooksOf(service).remove(own.id);
  });
});

describe("of events that are given up", () => {
  it("the first is told, and those of the next minute together, with their count", async () => {
    const endpoint = await createFailing("/down/given-up", ["document.signed"]);
    await eventually(async () => exhausted("/ops", endpoint.id).length === 1);
    for (let n = 0; n < 3; n++) await publish(service, { type: "document.signed" });
    const last = await publish(service, { type: "document.signed" });
    const log = await webhooksOf(service).waitFor(endpoint.id, "failed", 5);
    await nextRound();
    assert.equal(exhausted("/acme", endpoint.id).length, 1);
    await ofEndpoint(endpoint.id, "exhausted_told_at = exhausted_told_at - interval '1 minute'");
    await eventually(async () => exhausted("/ops", endpoint.id).length === 2);
    await ofEndpoint(endpoint.id, "exhausted_told_at = exhausted_told_at - interval '1 minute'");
    await nextRound();
    const [one, more, ...others] = exhausted("/acme", endpoint.id);
    assert.deepEqual([one?.data["count"], others], [1, []]);
    assert.deepEqual(more?.data, {
      endpoint_id: endpoint.id,
      url: urlOf("/down/given-up"),
      count: 4,
      delivery_id: log.find(({ event_id: eventId }) => eventId === last.id)?.id,
      event_id: last.id,
      event_type: "document.signed",
    });
    assert.equal(exhausted("/globex", endpoint.id).length, 0);
    await webhooksOf(service).remove(endpoint.id);
  });

  it("nothing is told of tests, of what a person sends again, and of Postern's own events", async () => {
    const endpoint = await createFailing("/down/again", ["document.deleted", "endpoint.failing"]);
    await eventually(async () => exhausted("/acme", endpoint.id).length === 1);
    await ofEndpoint(endpoint.id, "exhausted_told_at = NULL");
    const [failed] = await webhooksOf(service).deliveries(endpoint.id);
    assert.ok(failed !== undefined);
    await webhooksOf(service).retry(endpoint.id, failed.id);
    await webhooksOf(service).test(endpoint.id, "document.deleted");
    const again = await service.call("POST", `/api/events/${failed.event_id}/send`, {
      json: { endpoint_id: endpoint.id },
    });
    assert.equal(again.status, 202, again.text);
    await nextRound();
    // The second of these is the notice of the round, which fails there.
    await eventually(async () =>
      (await webhooksOf(service).waitFor(endpoint.id, "failed", 4)).some(
        ({ event_type: type }) => type === "endpoint.failing",
      ),
    );
    await nextRound();
    assert.equal(exhausted("/acme", endpoint.id).length, 1);
    await webhooksOf(service).remove(endpoint.id);
  });

  it("a deleted endpoint's are dropped", async () => {
    const endpoint = await createFailing("/down/deleted", ["payment.refunded"]);
    await eventually(async () => exhausted("/acme", endpoint.id).length === 1);
    await publish(service, { type: "payment.refunded" });
    await webhooksOf(service).waitFor(endpoint.id, "failed", 2);
    await webhooksOf(service).remove(endpoint.id);
    await ofEndpoint(endpoint.id, "exhausted_told_at = NULL");
    await eventually(async () => {
      const { rowCount } = await service.database.pool.query(
        "SELECT FROM postern.exhausted_events WHERE endpoint_id = $1",
        [endpoint.id],
      );
      return rowCount === 0;
    });
    await nextRound();
    assert.equal(exhausted("/acme", endpoint.id).length, 1);
  });
});

it("every notice that was sent satisfies its type's schema", () => {
  const compile = makeDataCheckCompiler();
  const checks = new Map(serviceEvents.map(({ type, schema = {} }) => [type, compile(schema)]));
  for (const { type, payloadShape } of serviceEvents)
    assert.deepEqual(checks.get(type)?.(payloadShape), [], type);
  const sent = service.receiver.requests
    .filter(({ path }) => path === "/ops")
    .map(({ body }): Notice => JSON.parse(body.toString()));
  assert.deepEqual(new Set(sent.map(({ event }) => event)).size, 3);
  for (const { event, data } of sent) assert.deepEqual(checks.get(event)?.(data), [], event);
});
