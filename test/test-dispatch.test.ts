/** Test dispatches: what the receiver gets, what the caller is told, and what the log keeps. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { builtInCatalog } from "../src/events/built-in-catalog.ts";
import { serviceSignature, steered, webhookSignature } from "./support/receivers.ts";
import { MEMBER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const EXAMPLE = builtInCatalog.find((entry) => entry.type === TYPE)?.payloadShape;

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ respond: receiver.respond });
  webhooks = webhooksOf(service);
});
beforeEach(() => {
  receiver.answer = () => ({});
});
after(() => service.stop());

describe("POST /api/webhooks/:id/test", () => {
  it("sends the catalog's example, signed both ways, and logs it as a test", async () => {
    receiver.answer = () => ({ status: 202, headers: { "X-Answer": "yes" }, body: "thanks" });
    const { endpoint, secret } = await webhooks.create({ headers: { "X-Team": "billing" } });
    const { latency_ms, ...answer } = await webhooks.test(endpoint.id, TYPE);
    assert.deepEqual(answer, { status: "test", response_status: 202, response_body: "thanks" });

    const request = service.receiver.requests.at(-1);
    assert.ok(request !== undefined);
    const { headers } = request;
    const body = request.body.toString("utf8");
    assert.equal(body, JSON.stringify({ event: TYPE, data: EXAMPLE, _test: true }));
    assert.equal(request.method, "POST");
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["x-service-event"], TYPE);
    assert.match(String(headers["x-service-timestamp"]), /^[0-9]{10}$/);
    assert.equal(headers["x-service-signature"], serviceSignature(secret, request));
    assert.equal(headers["webhook-signature"], webhookSignature(secret, request));
    assert.equal(headers["x-team"], "billing");

    const row = first(await webhooks.deliveries(endpoint.id));
    assert.equal(headers["webhook-id"], row.id);
    assert.equal(headers["x-service-delivery"], `test-${Date.parse(row.created_at)}`);
    const { request_headers, response_headers, ...rest } = row;
    assert.deepEqual(rest, {
      id: row.id,
      endpoint_id: endpoint.id,
      event_id: null,
      event_type: TYPE,
      event_version: 1,
      trigger: "test",
      replay_id: null,
      status: "test",
      attempt: 1,
      request_body: body,
      response_status: 202,
      response_body: "thanks",
      latency_ms,
      error: null,
      next_attempt_at: null,
      sent_at: row.sent_at,
      created_at: row.created_at,
    });
    assert.equal(headers["x-service-timestamp"], String(Math.floor(Date.parse(row.sent_at ?? "") / 1000)));
    assert.equal(request_headers?.["X-Service-Signature"], headers["x-service-signature"]);
    assert.equal(response_headers?.["x-answer"], "yes");
  });

  for (const status of [200, 204, 301, 404, 410, 500]) {
    it(`reports an answer of ${status} as a test, and follows nothing`, async () => {
      receiver.answer = () => ({ status, headers: { Location: "/elsewhere" } });
      const { endpoint } = await webhooks.create();
      const before = service.receiver.requests.length;
      const { latency_ms: _, ...answer } = await webhooks.test(endpoint.id, TYPE);
      assert.deepEqual(answer, { status: "test", response_status: status, response_body: "" });
      assert.equal(service.receiver.requests.length, before + 1);
      assert.equal((await webhooks.detail(endpoint.id)).endpoint.enabled, true);
    });
  }

  it("reports a network error as failed, with nothing of an answer", async () => {
    receiver.answer = () => {
      service.receiver.dropConnections();
      return undefined;
    };
    const { endpoint } = await webhooks.create();
    const { latency_ms: _, ...answer } = await webhooks.test(endpoint.id, TYPE);
    assert.deepEqual(answer, { status: "failed", response_status: null, response_body: null });
    const row = first(await webhooks.deliveries(endpoint.id));
    assert.deepEqual(
      [row.status, row.attempt, row.trigger, row.error, row.response_headers],
      ["failed", 1, "test", "reset", null],
    );
  });

  it("keeps the first 1,000 characters of the answer, and splits none", async () => {
    receiver.answer = () => ({ body: `${"a".repeat(999)}🍰 and more` });
    const { endpoint } = await webhooks.create();
    assert.equal((await webhooks.test(endpoint.id, TYPE)).response_body, `${"a".repeat(999)}🍰`);
  });

  it("tests a disabled endpoint too", async () => {
    const { endpoint } = await webhooks.create({ enabled: false });
    assert.equal((await webhooks.test(endpoint.id, TYPE)).status, "test");
  });

  it("sends where a dry run is expressly not asked for", async () => {
    const { endpoint } = await webhooks.create();
    const json = { event_type: TYPE, dry_run: false };
    const { status, text } = await service.call("POST", `/api/webhooks/${endpoint.id}/test`, { json });
    assert.equal(status, 200, text);
    assert.equal(JSON.parse(text).status, "test");
  });

  it("sends what the subscription covers by type, by prefix and by *", async () => {
    for (const events of [[TYPE], ["invoice.*"], ["*"]]) {
      const { endpoint } = await webhooks.create({ events });
      assert.equal((await webhooks.test(endpoint.id, TYPE)).status, "test");
    }
    const { endpoint } = await webhooks.create({ events: ["*"] });
    assert.equal((await webhooks.test(endpoint.id, "endpoint.disabled")).status, "test");
  });

  it("answers 422 for a type that the endpoint is not subscribed to", async () => {
    const { endpoint } = await webhooks.create({ events: ["customer.*", "invoice.sent"] });
    assertRefused(
      await webhooks.call("POST", `/${endpoint.id}/test`, { json: { event_type: TYPE } }),
      REFUSED.notSubscribed,
    );
    assert.deepEqual(await webhooks.deliveries(endpoint.id), []);
  });

  it("answers Validation failed for an unknown type, before it looks for the endpoint", async () => {
    const { endpoint } = await webhooks.create();
    for (const id of [endpoint.id, UNKNOWN_ID]) {
      for (const event_type of ["nope", "invoice.*", "*", "", "__proto__", "constructor"]) {
        const answer = await webhooks.call("POST", `/${id}/test`, { json: { event_type } });
        assert.deepEqual(issuesOf(answer), { event_type: "unknown_event_type" });
      }
    }
  });

  it("answers Validation failed for a body without a string", async () => {
    const { endpoint } = await webhooks.create();
    for (const json of [{}, { event_type: 7 }, { event_type: null }, [], null, "invoice.paid"]) {
      issuesOf(await webhooks.call("POST", `/${endpoint.id}/test`, { json }));
    }
    for (const raw of ["", "{"]) issuesOf(await webhooks.call("POST", `/${endpoint.id}/test`, { raw }));
  });

  it("answers not found for an endpoint that is not there", async () => {
    for (const id of [UNKNOWN_ID, "x"]) {
      const answer = await webhooks.call("POST", `/${id}/test`, { json: { event_type: TYPE } });
      assertRefused(answer, REFUSED.notFound);
    }
  });

  it("refuses a URL that is not safe any more, and logs nothing", async () => {
    const { endpoint } = await webhooks.create();
    await service.database.pool.query(
      "UPDATE postern.endpoints SET url = 'https://10.0.0.1/' WHERE id = $1",
      [endpoint.id],
    );
    const answer = await webhooks.call("POST", `/${endpoint.id}/test`, { json: { event_type: TYPE } });
    assertRefused(answer, REFUSED.unsafeUrl);
    assert.deepEqual(await webhooks.deliveries(endpoint.id), []);
  });

  it("needs settings:write", async () => {
    const { endpoint } = await webhooks.create();
    const answer = await webhooks.call("POST", `/${endpoint.id}/test`, {
      as: MEMBER,
      json: { event_type: TYPE },
    });
    assertRefused(answer, REFUSED.forbidden);
  });
});
