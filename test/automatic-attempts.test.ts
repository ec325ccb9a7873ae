/** What the worker does by itself: attempts by the schedule, and what becomes of an endpoint that does not work. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { steered } from "./support/receivers.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const TYPE = "invoice.paid";

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s,20ms,20ms" } });
  webhooks = webhooksOf(service);
});
beforeEach(async () => {
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
  service.receiver.requests.length = 0;
  receiver.answer = () => ({});
});
after(() => service.stop());

describe("an event that is not delivered at once", () => {
  it("is tried again by the schedule, each attempt with a row and a delivery id of its own", async () => {
    receiver.answer = () => ({ status: service.receiver.requests.length < 3 ? 500 : 204 });
    const { endpoint } = await webhooks.create();
    const event = await publish(service, { type: TYPE, data: { n: 1 } });
    await webhooks.waitFor(endpoint.id, "delivered");
    const rows = (await webhooks.deliveries(endpoint.id)).toReversed();
    assert.deepEqual(
      rows.map(({ status, attempt, trigger, response_status }) => [
        status,
        attempt,
        trigger,
        response_status,
      ]),
      [
        ["failed", 1, "event", 500],
        ["failed", 2, "auto_retry", 500],
        ["delivered", 3, "auto_retry", 204],
      ],
    );
    const { requests } = service.receiver;
    assert.deepEqual(
      requests.map(({ headers }) => headers["x-service-delivery"]),
      rows.map(({ id }) => id),
    );
    assert.deepEqual(new Set(requests.map(({ headers }) => headers["webhook-id"])), new Set([event.id]));
    assert.deepEqual(
      new Set([...requests.map(({ body }) => body.toString("utf8")), ...rows.map((row) => row.request_body)])
        .size,
      1,
    );
  });

  it("is given up after the last attempt", async () => {
    receiver.answer = () => ({ status: 302, headers: { Location: service.receiver.url } });
    const { endpoint } = await webhooks.create();
    await publish(service, { type: TYPE });
    const rows = await webhooks.waitFor(endpoint.id, "failed", 3);
    assert.deepEqual(
      rows.map(({ sent_at }) => String(Math.floor(Date.parse(sent_at ?? "") / 1000))),
      service.receiver.requests.map(({ headers }) => headers["x-service-timestamp"]).toReversed(),
    );
    assert.deepEqual(
      rows.map(({ attempt }) => attempt),
      [3, 2, 1],
    );
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
    assert.equal(service.receiver.requests.length, 3);
    assert.equal((await webhooks.detail(endpoint.id)).endpoint.enabled, true);
  });

  it("is not tried again once a person delivered it, not even after an attempt that was under way", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<{ status: number }>();
    receiver.answer = () => (service.receiver.requests.length === 1 ? { status: 500 } : released);
    const { endpoint } = await webhooks.create();
    await publish(service, { type: TYPE });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    await eventually(async () => service.receiver.requests.length === 2);
    receiver.answer = () => ({});
    assert.equal((await webhooks.retry(endpoint.id, failed.id)).status, "delivered");
    release({ status: 500 });
    await webhooks.waitFor(endpoint.id, "failed", 2);
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
  });

  it("waits as long as the receiver asks with 503 and Retry-After", async () => {
    receiver.answer = () => ({ status: 503, headers: { "Retry-After": "3600" } });
    const { endpoint } = await webhooks.create();
    await publish(service, { type: TYPE });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    const pending = first(await webhooks.waitFor(endpoint.id, "pending"));
    assert.equal(pending.attempt, 2);
    const waitMs = Date.parse(pending.next_attempt_at ?? "") - Date.parse(failed.created_at);
    assert.ok(waitMs >= 3_600_000, String(waitMs));
  });

  it("is not sent to a target that is no longer public, and the log says so", async () => {
    const { endpoint } = await webhooks.create();
    await service.database.pool.query(
      "UPDATE postern.endpoints SET url = 'https://10.0.0.1/' WHERE id = $1",
      [endpoint.id],
    );
    await publish(service, { type: TYPE });
    const rows = await webhooks.waitFor(endpoint.id, "failed", 3);
    assert.deepEqual(
      new Set(rows.map(({ error, response_status }) => `${error} ${response_status}`)),
      new Set(["blocked_target null"]),
    );
    assert.equal(service.receiver.requests.length, 0);
  });

  it("is logged with the network's error when no answer comes", async () => {
    receiver.answer = () => {
      service.receiver.dropConnections();
      return undefined;
    };
    const { endpoint } = await webhooks.create();
    await publish(service, { type: TYPE });
    const row = first(await webhooks.waitFor(endpoint.id, "failed"));
    assert.deepEqual([row.error, row.response_status, row.response_body], ["reset", null, null]);
  });
});

describe("an endpoint that is gone", () => {
  it("is disabled by a 410, and its tenant is told by an event", async () => {
    receiver.answer = (request) => ({ status: request.path.endsWith("/gone") ? 410 : 200 });
    const watcher = await webhooks.create({ events: ["endpoint.*"] });
    const { endpoint } = await webhooks.create({ url: `${service.receiver.url}/gone`, events: [TYPE] });
    await publish(service, { type: TYPE });
    const row = first(await webhooks.waitFor(watcher.endpoint.id, "delivered"));
    assert.equal(row.event_type, "endpoint.disabled");
    assert.deepEqual(Object(JSON.parse(row.request_body ?? "")).data, {
      endpoint_id: endpoint.id,
      url: endpoint.url,
      reason: "gone",
    });
    const shown = (await webhooks.detail(endpoint.id)).endpoint;
    assert.deepEqual([shown.enabled, shown.disabled_reason], [false, "gone"]);
    assert.equal((await publish(service, { type: TYPE })).deliveries, 0);
  });
});

describe("a slow endpoint", () => {
  it("does not hold up another", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<object>();
    receiver.answer = (request) => (request.path.endsWith("/slow") ? released : {});
    const slow = await webhooks.create({ url: `${service.receiver.url}/slow` });
    const quick = await webhooks.create({ url: `${service.receiver.url}/quick` });
    for (let n = 0; n < 100; n++) await publish(service, { type: TYPE });
    await eventually(async () => {
      const { rows } = await service.database.pool.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM postern.deliveries WHERE endpoint_id = $1 AND status = 'delivered'",
        [quick.endpoint.id],
      );
      return first(rows).count === 100;
    });
    assert.deepEqual(await webhooks.deliveries(slow.endpoint.id, "?status=delivered"), []);
    release({});
    await webhooks.waitFor(slow.endpoint.id, "delivered", 50);
  });
});

describe("an endpoint that only fails", () => {
  it("is disabled after DISABLE_AFTER, and starts anew when it is enabled", async () => {
    const failing = await startTestService({
      respond: receiver.respond,
      env: { RETRY_SCHEDULE: "0s", DISABLE_AFTER: "1ms" },
    });
    const theirs = webhooksOf(failing);
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await theirs.create();
    const disabled = () =>
      eventually(async () => {
        await publish(failing, { type: TYPE });
        const { endpoint: now } = await theirs.detail(endpoint.id);
        return !now.enabled && now;
      });
    assert.equal((await disabled()).disabled_reason, "failing");
    const enabled = await theirs.update(endpoint.id, { enabled: true });
    assert.deepEqual([enabled.enabled, enabled.disabled_reason], [true, null]);
    assert.equal((await disabled()).disabled_reason, "failing");
    await failing.stop();
  });
});

describe("an API process and a worker process of their own", () => {
  it("deliver together over the database", async () => {
    const api = await startTestService({ roles: ["api"] });
    const { endpoint } = await webhooksOf(api).create();
    const accepted = await publish(api, { type: TYPE });
    const pending = first(await webhooksOf(api).waitFor(endpoint.id, "pending"));
    const worker = await startTestService({
      roles: ["worker"],
      database: api.database,
      receiver: api.receiver,
      env: { INTEGRATION_ENCRYPTION_KEY: api.env["INTEGRATION_ENCRYPTION_KEY"] },
    });
    const delivered = first(await webhooksOf(api).waitFor(endpoint.id, "delivered"));
    assert.deepEqual([delivered.id, delivered.event_id], [pending.id, accepted.id]);
    for (const path of ["/api/webhooks", "/api/events"]) {
      assert.equal((await worker.call("GET", path)).status, 404);
    }
    assert.equal((await worker.call("GET", "/health")).status, 200);
    await worker.stop();
    await api.stop();
  });
});
