/** An event sent to an endpoint once more: what goes out, what stays, and who is refused. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sentAnswer } from "../src/api/event-schemas.ts";
import { serviceSignature, steered, webhookSignature } from "./support/receivers.ts";
import { MEMBER, OTHER_OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const DISABLED = [409, { error: "Endpoint is disabled" }] as const;
const UNUSABLE = [500, { error: "The endpoint's signing secret cannot be decrypted" }] as const;

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s,1h" } });
  webhooks = webhooksOf(service);
});
beforeEach(async () => {
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
  receiver.answer = () => ({});
});
after(() => service.stop());

const call = (eventId: string, options: CallOptions) =>
  service.call("POST", `/api/events/${eventId}/send`, options);

async function send(eventId: string, endpointId: string) {
  const answer = await call(eventId, { json: { endpoint_id: endpointId } });
  assert.equal(answer.status, 202, answer.text);
  return sentAnswer.strict().parse(answer.body).delivery;
}

async function counts(): Promise<unknown[]> {
  const { rows } = await service.database.pool.query(
    `SELECT (SELECT count(*) FROM postern.dispatches) AS dispatches, (SELECT count(*) FROM postern.deliveries) AS deliveries,
      (SELECT count(*) FROM postern.audit_log WHERE action = 'event.sent') AS entries`,
  );
  return rows;
}

/** Refused alike for each, and neither a dispatch nor an entry of the audit log comes of it. */
async function assertNothing(refusal: readonly [number, object], calls: [string, CallOptions][]) {
  const earlier = await counts();
  for (const [eventId, options] of calls) assertRefused(await call(eventId, options), refusal);
  assert.deepEqual(await counts(), earlier);
}

describe("POST /api/events/{event_id}/send", () => {
  it("sends the same body under an id of its own, as the next attempt, and leaves the pending one", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint, secret } = await webhooks.create();
    const event = await publish(service, { type: TYPE, data: { text: "süß" } });
    await webhooks.waitFor(endpoint.id, "failed");
    const automatic = first(await webhooks.waitFor(endpoint.id, "pending"));
    receiver.answer = () => ({ body: "thanks" });
    const { status, trigger, attempt, ...sent } = await send(event.id, endpoint.id);
    assert.deepEqual([status, trigger, attempt, sent.event_id], ["pending", "retry", 2, event.id]);
    const made = first(await webhooks.waitFor(endpoint.id, "delivered"));
    assert.deepEqual(
      [made.id, made.trigger, made.attempt, made.request_body],
      [sent.id, "retry", 2, sent.request_body],
    );
    const request = service.receiver.requests.at(-1);
    assert.ok(request !== undefined);
    assert.equal(request.headers["x-service-delivery"], sent.id);
    assert.equal(request.headers["webhook-id"], event.id);
    assert.equal(request.body.toString("utf8"), sent.request_body);
    assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
    assert.equal(request.headers["webhook-signature"], webhookSignature(secret, request));
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), [automatic]);
  });

  it("makes one attempt, whatever its outcome", async () => {
    const { endpoint } = await webhooks.create();
    const event = await publish(service, { type: TYPE });
    await webhooks.waitFor(endpoint.id, "delivered");
    receiver.answer = () => ({ status: 503 });
    const { id } = await send(event.id, endpoint.id);
    const [failed] = await webhooks.waitFor(endpoint.id, "failed");
    assert.deepEqual([failed?.id, failed?.attempt, failed?.trigger], [id, 2, "retry"]);
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
    assert.equal((await webhooks.retry(endpoint.id, id)).attempt, 3);
  });

  it("sends to an endpoint that never had the event, as its first attempt", async () => {
    const event = await publish(service, { type: TYPE });
    assert.equal(event.deliveries, 0);
    const { endpoint } = await webhooks.create({ events: ["document.deleted"] });
    assert.equal((await send(event.id, endpoint.id)).attempt, 1);
    const made = first(await webhooks.waitFor(endpoint.id, "delivered"));
    assert.deepEqual([made.trigger, made.attempt], ["retry", 1]);
  });

  it("stays when a manual retry delivers the event meanwhile", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create();
    const event = await publish(service, { type: TYPE });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    receiver.answer = () => ({});
    const { pool } = service.database;
    // As it is while its lane is full: nobody claims it yet.
    await pool.query(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once)
        VALUES ('acme', $1, postern.uuid_v7(), $2, $3, 2, now(), now() + interval '1 hour', true)`,
      [endpoint.id, event.id, TYPE],
    );
    await webhooks.retry(endpoint.id, failed.id);
    const pending = await webhooks.deliveries(endpoint.id, "?status=pending");
    assert.deepEqual(
      pending.map(({ trigger }) => trigger),
      ["retry"],
    );
    await webhooks.remove(endpoint.id);
    const [ended] = await webhooks.deliveries(endpoint.id, "?status=failed");
    assert.deepEqual([ended?.trigger, ended?.error], ["retry", "endpoint_deleted"]);
  });

  it("is in the audit log", async () => {
    const { endpoint } = await webhooks.create();
    const event = await publish(service, { type: TYPE });
    const { id } = await send(event.id, endpoint.id);
    const { rows } = await service.database.pool.query(
      "SELECT actor_sub, details FROM postern.audit_log WHERE action = 'event.sent' AND endpoint_id = $1",
      [endpoint.id],
    );
    assert.deepEqual(rows, [{ actor_sub: "ada", details: { event_id: event.id, delivery_id: id } }]);
  });

  it("refuses a disabled endpoint, and one whose secret does not open", async () => {
    const [disabled, unusable] = [await webhooks.create({ enabled: false }), await webhooks.create()];
    const event = await publish(service, { type: TYPE });
    await webhooks.waitFor(unusable.endpoint.id, "delivered");
    await service.database.pool.query("UPDATE postern.endpoints SET secret = 'x' WHERE id = $1", [
      unusable.endpoint.id,
    ]);
    await assertNothing(DISABLED, [[event.id, { json: { endpoint_id: disabled.endpoint.id } }]]);
    await assertNothing(UNUSABLE, [[event.id, { json: { endpoint_id: unusable.endpoint.id } }]]);
  });

  it("does not find what is deleted, another tenant's, unknown or malformed", async () => {
    const own = await webhooks.create();
    const gone = (await webhooks.create()).endpoint.id;
    await webhooks.remove(gone);
    const foreign = (await webhooksOf(service, OTHER_OWNER).create()).endpoint.id;
    const event = await publish(service, { type: TYPE });
    await webhooks.waitFor(own.endpoint.id, "delivered");
    await assertNothing(
      REFUSED.endpointNotFound,
      [gone, foreign, UNKNOWN_ID, "x", "", "\u0000"].map((id) => [event.id, { json: { endpoint_id: id } }]),
    );
    const json = { endpoint_id: own.endpoint.id };
    await assertNothing(REFUSED.notFound, [
      [UNKNOWN_ID, { json }],
      ["x", { json }],
      ["%00", { json }],
      [event.id, { json: { endpoint_id: foreign }, as: OTHER_OWNER }],
    ]);
  });

  it("checks the session, the permission, the body and then what there is", async () => {
    const huge = "x".repeat(1024 * 1024 + 1);
    assertRefused(await call(UNKNOWN_ID, { as: null, raw: huge }), REFUSED.unauthorized);
    assertRefused(await call(UNKNOWN_ID, { as: PRODUCER, raw: huge }), REFUSED.unauthorized);
    assertRefused(await call(UNKNOWN_ID, { as: MEMBER, raw: huge }), REFUSED.forbidden);
    assertRefused(await call(UNKNOWN_ID, { raw: huge }), REFUSED.tooLarge);
    const bad: [unknown, string][] = [
      [{}, "endpoint_id"],
      [{ endpoint_id: 1 }, "endpoint_id"],
      [{ endpointId: UNKNOWN_ID }, "endpointId"],
      [{ endpoint_id: UNKNOWN_ID, force: true }, ""],
      [[], ""],
    ];
    for (const [json, path] of bad) {
      assert.ok(path in issuesOf(await call(UNKNOWN_ID, { json })), JSON.stringify(json));
    }
    const get = await service.call("GET", `/api/events/${UNKNOWN_ID}/send`);
    assertRefused(get, REFUSED.methodNotAllowed);
  });
});
