/** Retries by a person: which deliveries can be retried, what is sent, and what becomes of automatic attempts. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { serviceSignature, steered } from "./support/receivers.ts";
import { MEMBER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Endpoint,
  type Webhooks,
} from "./support/webhooks.ts";

const TYPE = "invoice.paid";

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  // The second attempt is an hour away: no test waits for it, and it stands in the log as pending.
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s,1h" } });
  webhooks = webhooksOf(service);
});
beforeEach(async () => {
  // Each test has its endpoint for itself.
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
  receiver.answer = () => ({});
});
after(() => service.stop());

/** An endpoint whose event failed once, with the automatic attempt pending. */
async function failedEvent() {
  receiver.answer = () => ({ status: 500, body: "broken" });
  const { endpoint, secret } = await webhooks.create();
  const event = await publish(service, { type: TYPE, data: { n: 1, text: "süß" } });
  const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
  receiver.answer = () => ({ body: "well again" });
  return { endpoint, secret, event, failed };
}

async function retryAnswer(endpoint: Pick<Endpoint, "id">, deliveryId: string) {
  return webhooks.call("POST", `/${endpoint.id}/deliveries/${deliveryId}/retry`);
}

describe("POST /api/webhooks/:id/deliveries/:did/retry", () => {
  it("sends the same body again, signed anew, and logs a delivered row of its own", async () => {
    const { endpoint, secret, event, failed } = await failedEvent();
    const {
      id,
      request_headers,
      response_headers: _,
      latency_ms,
      sent_at,
      created_at,
      ...rest
    } = await webhooks.retry(endpoint.id, failed.id);
    assert.deepEqual(rest, {
      endpoint_id: endpoint.id,
      event_id: event.id,
      event_type: TYPE,
      event_version: 1,
      trigger: "retry",
      replay_id: null,
      status: "delivered",
      attempt: 2,
      request_body: failed.request_body,
      response_status: 200,
      response_body: "well again",
      error: null,
      next_attempt_at: null,
    });
    assert.notEqual(id, failed.id);
    assert.ok(latency_ms >= 0 && created_at >= failed.created_at);
    assert.ok(sent_at !== null && sent_at >= created_at);
    const request = service.receiver.requests.at(-1);
    assert.ok(request !== undefined);
    assert.equal(request.body.toString("utf8"), failed.request_body);
    assert.equal(request.headers["x-service-delivery"], failed.id);
    assert.equal(request.headers["webhook-id"], event.id);
    assert.equal(request.headers["x-service-event"], TYPE);
    assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
    assert.equal(request_headers?.["X-Service-Delivery"], failed.id);
    const row = await webhooks.delivery(endpoint.id, id);
    assert.deepEqual([row.status, row.attempt, row.request_body], ["delivered", 2, failed.request_body]);
    assert.deepEqual(await webhooks.delivery(endpoint.id, failed.id), failed);
  });

  it("cancels the pending automatic attempt once it is delivered", async () => {
    const { endpoint, failed } = await failedEvent();
    assert.equal((await webhooks.deliveries(endpoint.id, "?status=pending")).length, 1);
    await webhooks.retry(endpoint.id, failed.id);
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
  });

  for (const status of [300, 302, 400, 410, 503]) {
    it(`logs a failed row for an answer of ${status}, and leaves the automatic attempt`, async () => {
      const { endpoint, failed } = await failedEvent();
      const pending = await webhooks.deliveries(endpoint.id, "?status=pending");
      receiver.answer = () => ({ status });
      const again = await webhooks.retry(endpoint.id, failed.id);
      assert.deepEqual([again.status, again.response_status, again.attempt], ["failed", status, 2]);
      assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), pending);
      assert.deepEqual(await webhooks.delivery(endpoint.id, failed.id), failed);
      assert.equal((await webhooks.detail(endpoint.id)).endpoint.enabled, true);
    });
  }

  it("logs a failed row for a network error, which can be retried in turn", async () => {
    const { endpoint, failed } = await failedEvent();
    receiver.answer = () => {
      service.receiver.dropConnections();
      return undefined;
    };
    const second = await webhooks.retry(endpoint.id, failed.id);
    assert.deepEqual(
      [second.status, second.attempt, second.error, second.response_status, second.response_body],
      ["failed", 2, "reset", null, null],
    );
    receiver.answer = () => ({});
    const third = await webhooks.retry(endpoint.id, second.id);
    assert.deepEqual([third.status, third.attempt], ["delivered", 3]);
  });

  it("retries a failed test under the first test's webhook-id", async () => {
    receiver.answer = () => {
      service.receiver.dropConnections();
      return undefined;
    };
    const { endpoint } = await webhooks.create();
    await webhooks.test(endpoint.id, TYPE);
    const failed = first(await webhooks.deliveries(endpoint.id));
    const second = await webhooks.retry(endpoint.id, failed.id);
    receiver.answer = () => ({});
    const third = await webhooks.retry(endpoint.id, second.id);
    assert.deepEqual([third.status, third.trigger, third.event_id], ["delivered", "retry", null]);
    assert.equal(third.request_body, failed.request_body);
    assert.equal(service.receiver.requests.at(-1)?.headers["webhook-id"], failed.id);
  });

  it("sends {} where the body is no longer kept", async () => {
    const { endpoint, failed } = await failedEvent();
    await service.database.pool.query("DELETE FROM postern.events");
    assert.equal((await webhooks.delivery(endpoint.id, failed.id)).request_body, null);
    await webhooks.retry(endpoint.id, failed.id);
    assert.equal(service.receiver.requests.at(-1)?.body.toString("utf8"), "{}");
  });

  it("retries for a disabled endpoint too", async () => {
    const { endpoint, failed } = await failedEvent();
    await webhooks.update(endpoint.id, { enabled: false });
    assert.equal((await webhooks.retry(endpoint.id, failed.id)).status, "delivered");
  });

  it("answers 409 for a delivered, a test and a pending delivery, and sends nothing", async () => {
    const { endpoint, failed } = await failedEvent();
    const pending = first(await webhooks.deliveries(endpoint.id, "?status=pending"));
    const delivered = await webhooks.retry(endpoint.id, failed.id);
    await webhooks.test(endpoint.id, TYPE);
    const test = first(await webhooks.deliveries(endpoint.id, "?status=test"));
    const sent = service.receiver.requests.length;
    assertRefused(await retryAnswer(endpoint, delivered.id), REFUSED.notFailed);
    assertRefused(await retryAnswer(endpoint, test.id), REFUSED.notFailed);
    // The retry above was delivered and so ended the pending attempt: its id names nothing any more.
    assertRefused(await retryAnswer(endpoint, pending.id), REFUSED.notFound);
    assert.equal(service.receiver.requests.length, sent);
  });

  it("answers 409 for a pending delivery", async () => {
    const { endpoint } = await failedEvent();
    const pending = first(await webhooks.deliveries(endpoint.id, "?status=pending"));
    assertRefused(await retryAnswer(endpoint, pending.id), REFUSED.notFailed);
  });

  it("answers not found for another endpoint's delivery, or none", async () => {
    const { endpoint, failed } = await failedEvent();
    const other = await webhooks.create();
    assertRefused(await retryAnswer(other.endpoint, failed.id), REFUSED.notFound);
    assertRefused(await retryAnswer(endpoint, UNKNOWN_ID), REFUSED.notFound);
    assertRefused(await retryAnswer(endpoint, failed.id.toUpperCase()), REFUSED.notFound);
    assertRefused(await retryAnswer({ id: UNKNOWN_ID }, failed.id), REFUSED.notFound);
  });

  it("names the endpoint when that is deleted, though the delivery is still there", async () => {
    const { endpoint, failed } = await failedEvent();
    await webhooks.remove(endpoint.id);
    assertRefused(await retryAnswer(endpoint, failed.id), REFUSED.endpointNotFound);
  });

  it("refuses a URL that is not safe any more, and logs nothing", async () => {
    const { endpoint, failed } = await failedEvent();
    const before = await webhooks.deliveries(endpoint.id);
    await service.database.pool.query(
      "UPDATE postern.endpoints SET url = 'https://10.0.0.1/' WHERE id = $1",
      [endpoint.id],
    );
    assertRefused(await retryAnswer(endpoint, failed.id), REFUSED.unsafeUrl);
    assert.deepEqual(await webhooks.deliveries(endpoint.id), before);
  });

  it("takes no body: whatever is sent is ignored", async () => {
    const { endpoint, failed } = await failedEvent();
    const path = `/${endpoint.id}/deliveries/${failed.id}/retry`;
    for (const raw of ["{", "[]", '{"status":"x"}']) {
      assert.equal((await webhooks.call("POST", path, { raw })).status, 200);
    }
  });

  it("needs settings:write", async () => {
    const { endpoint, failed } = await failedEvent();
    const path = `/${endpoint.id}/deliveries/${failed.id}/retry`;
    assertRefused(await webhooks.call("POST", path, { as: MEMBER }), REFUSED.forbidden);
  });
});
