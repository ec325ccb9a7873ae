/** What becomes of an event after it is accepted: retries, holding, ending, disabling, and the log of it all. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  createEndpoint,
  getEndpoint,
  listDeliveries,
  patchEndpoint,
  publish,
  wholeLog,
} from "./support/api.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import type { Answer, ReceivedRequest } from "./support/tls-receiver.ts";

let service: TestService;
/** What the receiver answers, by the path of the request; 200 where nothing is set. */
const answers = new Map<string, (request: ReceivedRequest, count: number) => Answer | undefined>();
const counts = new Map<string, number>();

before(async () => {
  service = await startTestService({
    env: { RETRY_SCHEDULE: "0s,20ms,20ms,20ms" },
    respond(request) {
      const count = (counts.get(request.path) ?? 0) + 1;
      counts.set(request.path, count);
      const answer = answers.get(request.path);
      return answer === undefined ? {} : answer(request, count);
    },
  });
});
after(() => service.stop());

const urlOf = (path: string): string => `https://127.0.0.1:${service.receiver.port}${path}`;
const received = (path: string): ReceivedRequest[] =>
  service.receiver.requests.filter((one) => one.path === path);

describe("automatic retries", () => {
  it("repeat the same bytes and webhook-id until the receiver answers 2xx, with a delivery id each", async () => {
    answers.set("/third", (_request, count) => ({ status: count < 3 ? 500 : 204 }));
    const { endpoint } = await createEndpoint(service, { url: urlOf("/third"), events: ["invoice.*"] });
    const event = await publish(service, "invoice.paid", { data: { n: 1 } });
    const log = await eventually(async () => {
      const rows = await listDeliveries(service, endpoint.id);
      return rows.some((row) => row.status === "delivered") && rows;
    });
    assert.deepEqual(
      log.map((row) => [row.attempt, row.status, row.trigger, row.response_status]),
      [
        [3, "delivered", "auto_retry", 204],
        [2, "failed", "auto_retry", 500],
        [1, "failed", "event", 500],
      ],
    );
    const requests = received("/third");
    assert.deepEqual(
      requests.map((request) => request.headers["x-service-delivery"]),
      log.map((row) => row.id).toReversed(),
    );
    assert.deepEqual(new Set(requests.map((request) => request.headers["webhook-id"])), new Set([event.id]));
    assert.equal(new Set(requests.map((request) => request.body.toString())).size, 1);
  });

  it("end after the last attempt of the schedule", async () => {
    answers.set("/never", () => ({ status: 500 }));
    const { endpoint } = await createEndpoint(service, { url: urlOf("/never"), events: ["invoice.*"] });
    await publish(service);
    const log = await eventually(async () => {
      const rows = await listDeliveries(service, endpoint.id);
      return rows.length === 4 && rows.every((row) => row.status === "failed") && rows;
    });
    assert.deepEqual(
      log.map((row) => row.attempt),
      [4, 3, 2, 1],
    );
    const { rows } = await service.database.pool.query(
      "SELECT FROM postern.dispatches WHERE endpoint_id = $1",
      [endpoint.id],
    );
    assert.equal(rows.length, 0);
  });

  it("wait for as long as the receiver asks with Retry-After, shown as a pending delivery", async () => {
    answers.set("/busy", () => ({ status: 503, headers: { "retry-after": "3600" } }));
    const { endpoint } = await createEndpoint(service, { url: urlOf("/busy"), events: ["invoice.*"] });
    await publish(service);
    const pending = await eventually(async () =>
      (await listDeliveries(service, endpoint.id, "?status=pending")).find((row) => row.attempt === 2),
    );
    const waitMs = Date.parse(pending.next_attempt_at ?? "") - Date.parse(pending.created_at);
    assert.equal(pending.latency_ms, 0);
    assert.ok(waitMs >= 3_590_000 && waitMs <= 3_610_000, `waits ${waitMs} ms`);
    const { recent_deliveries: recent } = await getEndpoint(service, endpoint.id);
    assert.deepEqual(
      recent.map((row) => row.status),
      ["pending", "failed"],
    );
  });

  it("stop for an event that a person delivered meanwhile", async () => {
    answers.set("/person", (_request, count) =>
      count === 1 ? { status: 503, headers: { "retry-after": "3600" } } : { status: 200 },
    );
    const { endpoint } = await createEndpoint(service, { url: urlOf("/person"), events: ["invoice.*"] });
    await publish(service);
    const failed = await eventually(
      async () => (await listDeliveries(service, endpoint.id, "?status=failed"))[0],
    );
    await eventually(async () =>
      (await listDeliveries(service, endpoint.id, "?status=pending")).find((row) => row.attempt === 2),
    );
    const answer = await service.call("POST", `/api/webhooks/${endpoint.id}/deliveries/${failed.id}/retry`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      (await listDeliveries(service, endpoint.id)).map((row) => [row.trigger, row.status]),
      [
        ["retry", "delivered"],
        ["event", "failed"],
      ],
    );
  });
});

describe("an endpoint that changes", () => {
  it("is disabled by a 410, says so in an event, and holds what is pending until it is enabled", async () => {
    answers.set("/gone", (_request, count) => ({ status: count === 1 ? 410 : 200 }));
    answers.set("/notices", () => ({}));
    const { endpoint } = await createEndpoint(service, { url: urlOf("/gone"), events: ["customer.*"] });
    await createEndpoint(service, { url: urlOf("/notices"), events: ["endpoint.disabled"] });
    await publish(service, "customer.created");
    const notice = await eventually(async () => received("/notices")[0]);
    assert.deepEqual(JSON.parse(notice.body.toString()).data, {
      endpoint_id: endpoint.id,
      url: endpoint.url,
      reason: "gone",
    });
    const { endpoint: disabled } = await getEndpoint(service, endpoint.id);
    assert.deepEqual([disabled.enabled, disabled.disabled_reason], [false, "gone"]);
    await eventually(async () => {
      const { rows } = await service.database.pool.query(
        "SELECT FROM postern.dispatches WHERE endpoint_id = $1 AND held",
        [endpoint.id],
      );
      return rows.length === 1;
    });
    // What is published meanwhile is not for it.
    await publish(service, "customer.updated");
    assert.equal((await listDeliveries(service, endpoint.id, "?status=pending")).length, 1);

    await patchEndpoint(service, endpoint.id, { enabled: true });
    await eventually(async () => (await listDeliveries(service, endpoint.id, "?status=delivered"))[0]);
    const { endpoint: enabled } = await getEndpoint(service, endpoint.id);
    assert.deepEqual([enabled.enabled, enabled.disabled_reason], [true, null]);
  });

  it("ends its pending dispatches as failed deliveries when it is deleted", async () => {
    answers.set("/deleted", () => ({ status: 503, headers: { "retry-after": "3600" } }));
    const { endpoint } = await createEndpoint(service, { url: urlOf("/deleted"), events: ["invoice.*"] });
    await publish(service);
    const pending = await eventually(async () =>
      (await listDeliveries(service, endpoint.id, "?status=pending")).find((row) => row.attempt === 2),
    );
    assert.equal((await service.call("DELETE", `/api/webhooks/${endpoint.id}`)).status, 200);
    const [ended] = await listDeliveries(service, endpoint.id);
    assert.deepEqual([ended?.id, ended?.status, ended?.error], [pending.id, "failed", "endpoint_deleted"]);
    assert.equal((await listDeliveries(service, endpoint.id, "?status=pending")).length, 0);
  });

  it("is sent to with its new URL, headers and secret, not with the old ones", async () => {
    const { endpoint, secret } = await createEndpoint(service, {
      url: urlOf("/old"),
      headers: { "X-Team": "one" },
    });
    await publish(service);
    await eventually(async () => received("/old")[0]);
    await patchEndpoint(service, endpoint.id, { url: urlOf("/new"), headers: { "X-Team": "two" } });
    const rotated = await service.call("POST", `/api/webhooks/${endpoint.id}/rotate-secret`);
    assert.equal(rotated.status, 200);
    // Every process knows of a change within a second.
    const request = await eventually(async () => {
      await publish(service);
      return received("/new")[0];
    });
    assert.equal(request.headers["x-team"], "two");
    assert.notEqual(JSON.parse(rotated.text).secret, secret);
  });
});

describe("the log", () => {
  it("accounts for every request of 1,000 events to a receiver that fails a third of its answers", async () => {
    // No event fails more than twice, and the schedule has four attempts.
    const failures = new Map<string, number>();
    answers.set("/flaky", (request, count) => {
      const event = String(request.headers["webhook-id"]);
      const failed = failures.get(event) ?? 0;
      if (count % 3 !== 0 || failed === 2) return { status: 200 };
      failures.set(event, failed + 1);
      return { status: 500 };
    });
    const { endpoint } = await createEndpoint(service, { url: urlOf("/flaky"), events: ["document.*"] });
    const events = Array.from({ length: 100 }, (_, n) => ({ type: "document.signed", data: { n } }));
    for (let batch = 0; batch < 10; batch++) {
      const answer = await service.call("POST", "/api/events", { as: PRODUCER, json: events });
      assert.equal(answer.status, 202, answer.text);
    }
    await eventually(async () => {
      const { rows } = await service.database.pool.query(
        "SELECT FROM postern.dispatches WHERE endpoint_id = $1",
        [endpoint.id],
      );
      return rows.length === 0;
    });
    const log = await wholeLog(service, endpoint.id);
    const seen = received("/flaky");
    assert.deepEqual(
      new Set(log.map((row) => row.id)),
      new Set(seen.map((request) => String(request.headers["x-service-delivery"]))),
    );
    assert.equal(log.length, seen.length);
    const delivered = log.filter((row) => row.status === "delivered").map((row) => row.event_id);
    const failed = log.filter((row) => row.status === "failed");
    assert.equal(
      failed.length,
      failures.values().reduce((sum, count) => sum + count, 0),
    );
    assert.equal(delivered.length, 1000);
    assert.equal(new Set(delivered).size, delivered.length);
  });
});
