/** What a person sends: what is logged and noted of it, whatever becomes of it; over HTTP it is in test/retry.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { startDnsServer } from "../../test/support/dns-server.ts";
import { PersonSendsAtHand } from "../../test/support/person-sends.ts";
import { eventually } from "../../test/support/eventually.ts";
import { ADA, EVENT_TYPE } from "../../test/support/two-tenants.ts";
import { idTimeMs, newDeliveryId, newEndpointId, type EndpointId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { VERSION } from "../shared/version.ts";
import type { Delivery } from "./delivery.ts";
import { findDelivery } from "./delivery-store.ts";
import { ackOffers, leaseOffers } from "./person-offers.ts";

const { tenantId } = ADA;
const hand = new PersonSendsAtHand();
const NOTHING_YET = { replayId: null, nextAttemptAt: null };
const NO_ANSWER = { responseStatus: null, responseHeaders: null, responseBody: null };
const refusedAs = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

const auditRows = () => hand.rowsOf("actor_sub, action, endpoint_id, outcome, details", "audit_log");
const done = { actor_sub: "ada", outcome: "done" };

/** It is in the log just as it was answered, and is not noted as being sent any more. */
async function assertLogged(...deliveries: Delivery[]): Promise<void> {
  for (const delivery of deliveries)
    assert.deepEqual(await findDelivery(hand.database.pool, delivery), delivery);
  assert.deepEqual(await hand.rowsOf("id", "person_sends"), []);
}

const failingSince = async (endpointId: EndpointId) =>
  (await hand.rowsOf("failing_since", "endpoints", { column: "id", is: endpointId }))[0]?.failing_since;

const beginFailing = (endpointId: EndpointId) =>
  hand.database.pool.query("UPDATE postern.endpoints SET failing_since = now() WHERE id = $1", [endpointId]);

describe("a retry by a person", () => {
  it("is logged as it went out and was answered, and ends the event's own attempts once it is delivered", async (test) => {
    const endpointId = await hand.createEndpoint();
    await beginFailing(endpointId);
    const failed = await hand.addFailed(endpointId, { version: 2, attempt: 4 });
    let noted: unknown[] = [];
    hand.answer = async () => {
      noted = await hand.rowsOf(
        "id, event_id, test_id, event_type, version, trigger, attempt, request_body, request_headers",
        "person_sends",
      );
      return { status: 201, body: "made" };
    };
    const delivery = await hand.make(test).retry(ADA, endpointId, failed.id);
    const { id, requestHeaders, responseHeaders, latencyMs, sentAt, ...rest } = delivery;
    assert.deepEqual(rest, {
      tenantId,
      endpointId,
      eventId: failed.eventId,
      testId: null,
      eventType: EVENT_TYPE,
      version: 2,
      trigger: "retry",
      attempt: 5,
      status: "delivered",
      requestBody: '{"a":1}',
      responseStatus: 201,
      responseBody: "made",
      error: null,
      ...NOTHING_YET,
    });
    assert.ok(sentAt !== null && latencyMs >= 0 && responseHeaders !== null);
    const [request = assert.fail()] = hand.receiver.requests;
    assert.equal(request.body.toString(), '{"a":1}');
    assert.partialDeepStrictEqual(request.headers, {
      "user-agent": `Postern/${VERSION}`,
      "x-service-event": EVENT_TYPE,
      "x-service-delivery": failed.id,
      "x-service-timestamp": String(Math.floor(sentAt.getTime() / 1000)),
      "webhook-id": failed.eventId,
      "x-team": "billing",
      "x-key": "hidden",
    });
    assert.partialDeepStrictEqual(requestHeaders, {
      "X-Team": "billing",
      "X-Key": "[masked]",
      "X-Service-Signature": request.headers["x-service-signature"],
    });
    assert.deepEqual(noted, [
      {
        id,
        event_id: failed.eventId,
        test_id: null,
        event_type: EVENT_TYPE,
        version: 2,
        trigger: "retry",
        attempt: 5,
        request_body: '{"a":1}',
        request_headers: requestHeaders,
      },
    ]);
    await assertLogged(delivery);
    assert.deepEqual(hand.superseded, [{ tenantId, endpointId, eventId: failed.eventId }]);
    assert.equal(await failingSince(endpointId), null);
    const details = { delivery_id: failed.id, retry_id: id, status: "delivered" };
    assert.deepEqual(await auditRows(), [
      { ...done, action: "delivery.retried", endpoint_id: endpointId, details },
    ]);
  });

  it("that fails leaves the event's own attempts, and the endpoint failing", async (test) => {
    const endpointId = await hand.createEndpoint();
    await beginFailing(endpointId);
    const { id } = await hand.addFailed(endpointId);
    hand.answer = async () => ({ status: 500, body: "broken" });
    const refused = await hand.make(test).retry(ADA, endpointId, id);
    assert.deepEqual(
      [refused.status, refused.responseStatus, refused.responseBody, refused.error],
      ["failed", 500, "broken", null],
    );
    hand.dropRequests();
    const lost = await hand.make(test).retry(ADA, endpointId, id);
    assert.partialDeepStrictEqual(lost, { status: "failed", error: "reset", ...NO_ANSWER });
    await assertLogged(refused, lost);
    assert.deepEqual(hand.superseded, []);
    assert.ok((await failingSince(endpointId)) instanceof Date);
    assert.deepEqual(
      (await auditRows()).map(({ details }) => details.status),
      ["failed", "failed"],
    );
  });

  it("of a test belongs to that test and no event", async (test) => {
    const endpointId = await hand.createEndpoint();
    const of = { eventId: null, testId: newDeliveryId() };
    const failed = await hand.addFailed(endpointId, of);
    const again = await hand.make(test).retry(ADA, endpointId, failed.id);
    assert.partialDeepStrictEqual(again, { ...of, status: "delivered", trigger: "retry" });
    assert.equal(hand.receiver.requests[0]?.headers["webhook-id"], of.testId);
    await assertLogged(again);
    assert.deepEqual(hand.superseded, []);
  });

  it("of an event whose body is gone sends an empty object, and logs none", async (test) => {
    const endpointId = await hand.createEndpoint();
    const failed = await hand.addFailed(endpointId, { requestBody: null });
    const again = await hand.make(test).retry(ADA, endpointId, failed.id);
    assert.equal(again.requestBody, null);
    assert.equal(hand.receiver.requests[0]?.body.toString(), "{}");
    await assertLogged(again);
  });

  it("that was ended as interrupted meanwhile stays so in the log", async (test) => {
    await hand.keep({ requests: true, responses: false });
    const endpointId = await hand.createEndpoint();
    const failed = await hand.addFailed(endpointId);
    hand.answer = async () => {
      await hand.database.pool.query("DELETE FROM postern.person_sends");
      return {};
    };
    const delivery = await hand.make(test).retry(ADA, endpointId, failed.id);
    assert.equal(delivery.status, "delivered");
    assert.equal(await findDelivery(hand.database.pool, delivery), null);
    assert.deepEqual(await hand.rowsOf("kind", "bodies_to_keep"), []);
    assert.equal((await auditRows()).length, 1);
  });

  it("is logged without a note of it where no address was found, before which nothing leaves", async (test) => {
    const server = await startDnsServer(() => ({ kind: "nxdomain" }));
    test.after(() => server.close());
    const endpointId = await hand.createEndpoint({ url: "https://nowhere.example.com/" });
    const failed = await hand.addFailed(endpointId);
    const sends = hand.make(test, { guard: { dnsServers: [server.address] } });
    const again = await sends.retry(ADA, endpointId, failed.id);
    assert.deepEqual([again.status, again.error], ["failed", "dns"]);
    await assertLogged(again);
  });

  it("is neither sent nor logged where its tenant is erased before it leaves", async (test) => {
    const { pool } = hand.database;
    const server = await startDnsServer(() => ({ kind: "nxdomain" }));
    test.after(() => server.close());
    test.after(() => pool.query("DELETE FROM postern.tenant_erasures"));
    await pool.query("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ($1)", [tenantId]);
    const erase = () => pool.query("SELECT postern.erase_tenant_rows($1, 10000, true)", [tenantId]);
    for (const isFound of [true, false]) {
      const endpointId = await hand.createEndpoint(isFound ? {} : { url: "https://nowhere.example.com/" });
      const failed = await hand.addFailed(endpointId);
      hand.tenants.before = ({ name, values }) =>
        (isFound ? values[6] === "retry" : name === "transaction") ? erase() : undefined;
      const sends = hand.make(test, isFound ? {} : { guard: { dnsServers: [server.address] } });
      await assert.rejects(sends.retry(ADA, endpointId, failed.id), refusedAs("endpoint_not_found"));
      for (const table of ["deliveries", "person_sends", "audit_log"])
        assert.deepEqual(await hand.rowsOf("id", table), []);
    }
    assert.deepEqual(hand.receiver.requests, []);
  });

  it("leaves nothing where its tenant is erased while it is under way", async (test) => {
    const { pool } = hand.database;
    test.after(() => pool.query("DELETE FROM postern.tenant_erasures"));
    await pool.query("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ($1)", [tenantId]);
    const endpointId = await hand.createEndpoint();
    const failed = await hand.addFailed(endpointId);
    hand.tenants.before = ({ name }) =>
      name === "transaction"
        ? pool.query("SELECT postern.erase_tenant_rows($1, 10000, true)", [tenantId])
        : undefined;
    await assert.rejects(hand.make(test).retry(ADA, endpointId, failed.id), refusedAs("endpoint_not_found"));
    assert.equal(hand.receiver.requests.length, 1);
    for (const table of ["deliveries", "person_sends", "audit_log"])
      assert.deepEqual(await hand.rowsOf("id", table), []);
  });

  it("is refused where it is not safe, did not fail, or has no endpoint any more; and nothing is logged", async (test) => {
    const sends = hand.make(test);
    const endpointId = await hand.createEndpoint({ url: "https://10.0.0.1/?secret" });
    const failed = await hand.addFailed(endpointId);
    await assert.rejects(sends.retry(ADA, endpointId, failed.id), refusedAs("unsafe_url"));
    const details = { operation: "retry", url: "https://10.0.0.1/?…", rule: "not_public" };
    assert.deepEqual(await auditRows(), [
      { ...done, outcome: "refused", action: "url.refused", endpoint_id: endpointId, details },
    ]);
    const delivered = await hand.addFailed(endpointId, { status: "delivered" });
    await assert.rejects(sends.retry(ADA, endpointId, delivered.id), refusedAs("delivery_not_failed"));
    const orphan = await hand.addFailed(newEndpointId());
    await assert.rejects(sends.retry(ADA, orphan.endpointId, orphan.id), refusedAs("endpoint_not_found"));
    await assert.rejects(sends.retry(ADA, endpointId, orphan.id), refusedAs("not_found"));
    assert.equal((await auditRows()).length, 1);
    const logged = await hand.rowsOf("id", "deliveries", { column: "endpoint_id", is: endpointId });
    assert.equal(logged.length, 2);
    await assertLogged();
  });

  it("keeps the bodies that its tenant keeps", async (test) => {
    const endpointId = await hand.createEndpoint();
    const failed = await hand.addFailed(endpointId);
    const long = "long ".repeat(400);
    hand.answer = async () => ({ body: long });
    const kept = async (responses: boolean) => {
      await hand.keep({ requests: true, responses });
      const { id, responseBody } = await hand.make(test).retry(ADA, endpointId, failed.id);
      assert.equal(responseBody, long.slice(0, 1000));
      return hand.rowsOf("attempt, days, kind, body", "bodies_to_keep", { column: "delivery_id", is: id });
    };
    const request = { attempt: 3, days: 7, kind: "request_body", body: null };
    const response = { attempt: 3, days: 7, kind: "response_body", body: Buffer.from(long) };
    assert.deepEqual(await kept(true), [request, response]);
    assert.deepEqual(await kept(false), [request]);
  });
});

describe("a test by a person", () => {
  it("sends the example of the type's version, under an id of its own, and is logged as a test", async (test) => {
    const endpointId = await hand.createEndpoint({ events: [`${EVENT_TYPE}@1`] });
    hand.answer = async () => ({ status: 404, body: "who?" });
    const delivery = await hand.make(test).test(ADA, endpointId, { eventType: `${EVENT_TYPE}@1` });
    const { id, requestHeaders, responseHeaders, latencyMs, sentAt, ...rest } = delivery;
    const body = JSON.stringify({ event: EVENT_TYPE, data: { version: 1 }, _test: true });
    assert.deepEqual(rest, {
      tenantId,
      endpointId,
      eventId: null,
      testId: id,
      eventType: EVENT_TYPE,
      version: 1,
      trigger: "test",
      attempt: 1,
      status: "test",
      requestBody: body,
      responseStatus: 404,
      responseBody: "who?",
      error: null,
      ...NOTHING_YET,
    });
    assert.ok(sentAt !== null && latencyMs >= 0 && responseHeaders !== null);
    const [request = assert.fail()] = hand.receiver.requests;
    assert.equal(request.body.toString(), body);
    assert.equal(request.headers["webhook-id"], id);
    assert.equal(requestHeaders?.["X-Service-Delivery"], `test-${idTimeMs(id)}`);
    await assertLogged(delivery);
    const details = { delivery_id: id, event_type: EVENT_TYPE, status: "test" };
    assert.deepEqual(await auditRows(), [
      { ...done, action: "endpoint.tested", endpoint_id: endpointId, details },
    ]);
  });

  it("sends given data, and has failed where nobody answered", async (test) => {
    const endpointId = await hand.createEndpoint();
    const sends = hand.make(test);
    const { status, version } = await sends.test(ADA, endpointId, { eventType: EVENT_TYPE, data: [] });
    assert.deepEqual([status, version], ["test", 2]);
    const [request] = hand.receiver.requests;
    assert.equal(request?.body.toString(), JSON.stringify({ event: EVENT_TYPE, data: [], _test: true }));
    hand.dropRequests();
    const lost = await sends.test(ADA, endpointId, { eventType: EVENT_TYPE });
    assert.deepEqual([lost.status, lost.error], ["failed", "reset"]);
  });

  it("is refused for an unknown type or endpoint, and for one that does not get the type", async (test) => {
    const sends = hand.make(test);
    const endpointId = await hand.createEndpoint({ events: [`${EVENT_TYPE}@1`] });
    for (const [at, eventType, code] of [
      [endpointId, "no.such", "unknown_event_type"],
      [endpointId, `${EVENT_TYPE}@3`, "unknown_event_type"],
      [null, "no.such", "unknown_event_type"],
      [null, EVENT_TYPE, "not_found"],
      [newEndpointId(), EVENT_TYPE, "not_found"],
      [endpointId, EVENT_TYPE, "endpoint_not_subscribed"],
      [endpointId, `${EVENT_TYPE}@2`, "endpoint_not_subscribed"],
    ] as const) {
      await assert.rejects(sends.test(ADA, at, { eventType }), refusedAs(code));
    }
    assert.deepEqual([await auditRows(), hand.receiver.requests], [[], []]);
    hand.tenants.reset();
    await assert.rejects(sends.test(ADA, null, { eventType: EVENT_TYPE }), Refusal);
    assert.deepEqual(hand.tenants.statements, []);
  });
});

describe("what a person sends to a pull endpoint", () => {
  let endpointId: EndpointId;
  beforeEach(async () => {
    endpointId = await hand.createEndpoint({ mode: "pull" });
  });

  /** What becomes of it, as a client fetches it and answers. */
  async function fetched(sent: Promise<Delivery>, refusal: string | null) {
    const key = { tenantId, endpointId };
    const leaseId = randomUUID();
    const { id, deliveryLabel } = await eventually(
      async () => (await leaseOffers(hand.database.pool, key, leaseId, { sends: 1, bodyBytes: 1e6 }))[0],
    );
    await ackOffers(hand.database.pool, key, leaseId, [{ id, refusal }]);
    return { id, deliveryLabel, delivery: await sent };
  }

  it("is delivered as its client says, and nothing is sent to its URL", async (test) => {
    await hand.keep({ requests: true, responses: true });
    const failed = await hand.addFailed(endpointId);
    const retry = hand.make(test).retry(ADA, endpointId, failed.id);
    const { id, deliveryLabel, delivery } = await fetched(retry, null);
    const { sentAt, latencyMs, ...rest } = delivery;
    assert.deepEqual(rest, {
      tenantId,
      endpointId,
      id,
      eventId: failed.eventId,
      testId: null,
      eventType: EVENT_TYPE,
      version: 1,
      trigger: "retry",
      attempt: 3,
      status: "delivered",
      requestBody: '{"a":1}',
      requestHeaders: {},
      error: null,
      ...NO_ANSWER,
      ...NOTHING_YET,
    });
    assert.ok(sentAt !== null && latencyMs >= 0);
    assert.equal(deliveryLabel, failed.id);
    await assertLogged(delivery);
    assert.deepEqual([hand.receiver.requests, hand.superseded.length], [[], 1]);
    const kept = { delivery_id: id, kind: "request_body", attempt: 3, body: null };
    assert.deepEqual(await hand.rowsOf("delivery_id, kind, attempt, body", "bodies_to_keep"), [kept]);
  });

  it("is a test once its client took it, and has failed where that refuses it, or none fetches it", async (test) => {
    const input = { eventType: EVENT_TYPE };
    const taken = await fetched(hand.make(test).test(ADA, endpointId, input), null);
    const refused = await fetched(hand.make(test).test(ADA, endpointId, input), "not ours");
    const alone = await hand.make(test, {}, 1).test(ADA, endpointId, input);
    const all = [taken.delivery, refused.delivery, alone];
    assert.deepEqual(
      all.map(({ status, error, responseBody }) => [status, error, responseBody]),
      [
        ["test", null, null],
        ["failed", "refused", "not ours"],
        ["failed", "timeout", null],
      ],
    );
    await assertLogged(...all);
    assert.deepEqual(hand.receiver.requests, []);
  });
});
