/** Events that a client fetches instead of being sent: what it gets, and what becomes of what it says. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { FETCH_CHANNEL } from "../src/queue/channels.ts";
import { newEndpointId } from "../src/shared/id.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { clientOf, type Client } from "./support/pull.ts";
import { serviceSignature, webhookSignature } from "./support/receivers.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({
    refusesAsDocumented: true,
    env: { RETRY_SCHEDULE: "0s,1h", RATE_LIMIT_FETCHES: "0" },
  });
  webhooks = webhooksOf(service);
});
after(() => service.stop());

let client: Client;
let secret: string;

/** A new pull endpoint of `invoice.*`, and the only one. */
async function makeEndpoint(input: Record<string, unknown> = {}): Promise<void> {
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
  const created = await webhooks.create({ mode: "pull", events: ["invoice.*"], ...input });
  secret = created.secret;
  client = clientOf(service, created.endpoint.id);
}
beforeEach(() => makeEndpoint());

describe("a client", () => {
  it("gets the body and the headers of a request, signed as one", async () => {
    await makeEndpoint({ headers: { "X-Team": "billing", Authorization: "Bearer hook" } });
    const event = await publish(service, { type: "invoice.paid", data: { note: "süß 🍰", amount: 1.5 } });
    const lease = await client.lease();
    const fetched = first(lease.events);
    assert.deepEqual(
      [fetched.event_id, fetched.event_type, fetched.trigger, fetched.attempt, fetched.replay_id],
      [event.id, "invoice.paid", "event", 1, null],
    );
    const headers = Object.fromEntries(
      Object.entries(fetched.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    assert.deepEqual(
      [headers["webhook-id"], headers["x-service-delivery"], headers["x-service-event"]],
      [event.id, fetched.id, "invoice.paid"],
    );
    assert.deepEqual([headers["x-team"], headers["authorization"]], ["billing", "Bearer hook"]);
    const request = { headers, body: Buffer.from(fetched.body) };
    assert.equal(headers["x-service-signature"], serviceSignature(secret, request));
    assert.equal(headers["webhook-signature"], webhookSignature(secret, request));
    assert.deepEqual(JSON.parse(fetched.body).data, { note: "süß 🍰", amount: 1.5 });
    assert.deepEqual(service.receiver.requests, []);
  });

  it("acknowledges, and the log has a delivery without an answer", async () => {
    await publish(service, { type: "invoice.paid" });
    const lease = await client.lease();
    const { id } = first(lease.events);
    assert.deepEqual(await client.ack(lease, [{ id }]), { delivered: 1, failed: 0, late: [] });
    const delivery = await webhooks.delivery(client.endpointId, id);
    assert.deepEqual(
      [delivery.status, delivery.response_status, delivery.response_body, delivery.error, delivery.attempt],
      ["delivered", null, null, null, 1],
    );
    assert.equal(delivery.request_headers?.["webhook-id"], delivery.event_id);
    assert.equal(delivery.request_body, first(lease.events).body);
    assert.ok(delivery.sent_at !== null && delivery.latency_ms >= 0);
    assert.deepEqual((await client.lease()).events, []);
  });

  it("refuses, and the attempt has failed with what it said; the next one is due by the schedule", async () => {
    await publish(service, { type: "invoice.paid" });
    const lease = await client.lease();
    const { id, event_id } = first(lease.events);
    const error = "the ledger is closed";
    const listener = await service.database.pool.connect();
    const told: unknown[] = [];
    listener.on("notification", ({ payload }) => told.push(payload));
    await listener.query(`LISTEN ${FETCH_CHANNEL}`);
    assert.deepEqual(await client.ack(lease, [{ id, error }]), { delivered: 0, failed: 1, late: [] });
    // Who waits beside learns when the next one is due.
    await eventually(async () => told.includes(client.endpointId));
    listener.release(true);
    const failed = await webhooks.delivery(client.endpointId, id);
    assert.deepEqual([failed.status, failed.error, failed.response_body], ["failed", "refused", error]);
    const [pending] = await webhooks.deliveries(client.endpointId, "?status=pending");
    assert.deepEqual([pending?.event_id, pending?.attempt, pending?.trigger], [event_id, 2, "auto_retry"]);
    assert.deepEqual((await client.lease()).events, []);
    await service.database.pool.query("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", [
      pending?.id,
    ]);
    const again = await client.lease();
    assert.deepEqual([first(again.events).attempt, first(again.events).trigger], [2, "auto_retry"]);
    // The last of the schedule: none follows.
    await client.ack(again, [{ id: first(again.events).id, error }]);
    assert.deepEqual(await webhooks.deliveries(client.endpointId, "?status=pending"), []);
  });

  it("acknowledges a part of a lease, and the rest later", async () => {
    for (let n = 0; n < 3; n++) await publish(service, { type: "invoice.paid", data: { n } });
    const lease = await client.lease({ limit: 2 });
    const [one, other] = lease.events;
    assert.ok(one !== undefined && other !== undefined && lease.events.length === 2);
    assert.deepEqual(
      lease.events.map(({ body }) => JSON.parse(body).data.n),
      [0, 1],
    );
    assert.deepEqual(await client.ack(lease, [{ id: one.id }]), { delivered: 1, failed: 0, late: [] });
    assert.deepEqual(await client.ack(lease, [{ id: one.id }, { id: other.id }]), {
      delivered: 1,
      failed: 0,
      late: [one.id],
    });
  });

  it("is answered 409 to what its lease does not have, and nothing changes", async () => {
    await publish(service, { type: "invoice.paid" });
    const lease = await client.lease();
    const { id } = first(lease.events);
    const late = [409, { error: "The lease has ended" }];
    const tryAck = async (leaseId: string) => {
      const json = { lease_id: leaseId, acks: [{ id }] };
      const answer = await webhooks.call("POST", `/${client.endpointId}/acks`, { json });
      return [answer.status, answer.body];
    };
    assert.deepEqual(await tryAck("00000000-0000-4000-8000-000000000000"), late);
    await client.expire();
    assert.deepEqual(await tryAck(lease.lease_id ?? ""), late);
    const [timeout] = await webhooks.waitFor(client.endpointId, "failed");
    assert.deepEqual([timeout?.id, timeout?.error, timeout?.response_status], [id, "timeout", null]);
    assert.deepEqual(await tryAck(lease.lease_id ?? ""), late);
    assert.equal((await webhooks.deliveries(client.endpointId)).length, 2);
    const answer = await service.call("GET", "/metrics", { as: null });
    assert.match(answer.text, /^webhook_pull_expired_total [1-9]/m);
  });

  it("leases nothing that another one has", async () => {
    for (let n = 0; n < 20; n++) await publish(service, { type: "invoice.paid" });
    const leases = await Promise.all([1, 2, 3, 4].map(() => client.lease({ limit: 10 })));
    const ids = leases.flatMap(({ events }) => events.map(({ id }) => id));
    assert.deepEqual([ids.length, new Set(ids).size], [20, 20]);
    const [one, other] = leases.filter(({ events }) => events.length > 0);
    assert.ok(one !== undefined && other !== undefined);
    const json = { lease_id: one.lease_id, acks: other.events.map(({ id }) => ({ id })) };
    assert.equal((await webhooks.call("POST", `/${client.endpointId}/acks`, { json })).status, 409);
  });

  it("gets 8 MiB of bodies at once, and a single larger part of them in any case", async () => {
    const filling = "x".repeat(900_000);
    for (let n = 0; n < 12; n++) await publish(service, { type: "invoice.paid", data: { filling } });
    assert.equal((await client.lease()).events.length, 9);
    assert.equal((await client.lease()).events.length, 3);
  });
});

describe("a call that waits", () => {
  it("is answered as soon as an event is accepted", async () => {
    const waiting = client.lease({ wait_s: 30 });
    await client.untilWaiting();
    const event = await publish(service, { type: "invoice.paid" });
    assert.equal(first((await waiting).events).event_id, event.id);
  });

  it("is answered when a retry becomes due", async () => {
    await publish(service, { type: "invoice.paid" });
    const lease = await client.lease();
    await client.ack(lease, [{ id: first(lease.events).id, error: "later" }]);
    await service.database.pool.query(
      "UPDATE postern.dispatches SET claimable_at = now() + interval '1 second' WHERE endpoint_id = $1",
      [client.endpointId],
    );
    assert.equal(first((await client.lease({ wait_s: 30 })).events).attempt, 2);
  });

  it("is answered without events when its time is over", async () => {
    assert.deepEqual(await client.lease({ wait_s: 1 }), { lease_id: null, lease_until: null, events: [] });
  });

  // Less than its 30 seconds: a call that goes on without its client is noticed.
  it("leases nothing once its client is gone", { timeout: 20_000 }, async () => {
    const gone = new AbortController();
    const token = await service.token({ type: "user", tid: "acme", sub: "ada", role: "owner" });
    const call = fetch(`${service.url}/api/webhooks/${client.endpointId}/leases`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ wait_s: 30 }),
      signal: gone.signal,
    });
    await client.untilWaiting();
    gone.abort();
    await assert.rejects(call);
    await client.untilWaiting(0);
    const event = await publish(service, { type: "invoice.paid" });
    assert.equal(first((await client.lease()).events).event_id, event.id);
  });

  it("is one of 20 of its tenant", async () => {
    const waiting = Array.from({ length: 20 }, () => client.lease({ limit: 1, wait_s: 30 }));
    await client.untilWaiting(20);
    const answer = await webhooks.call("POST", `/${client.endpointId}/leases`, { json: { wait_s: 1 } });
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [429, "5"]);
    assert.equal((await webhooks.call("POST", `/${client.endpointId}/leases`, { json: {} })).status, 200);
    // An event for each ends their waiting.
    const events = waiting.map(() => ({ type: "invoice.paid", data: {} }));
    assert.equal((await service.call("POST", "/api/events", { as: PRODUCER, json: events })).status, 202);
    await Promise.all(waiting);
  });

  it("gives its place among the 500 of a process back, whichever tenant's it was", async () => {
    const path = `/api/webhooks/${newEndpointId()}/leases`;
    const wait = async (n: number) => {
      const as = { ...OWNER, tid: `passing-${n}` };
      return (await service.call("POST", path, { as, json: { wait_s: 1 } })).status;
    };
    for (let from = 0; from <= 500; from += 20) {
      const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => wait(from + n)));
      assert.deepEqual(new Set(statuses), new Set([404]));
    }
  });
});

describe("a person's test or retry", () => {
  it("waits among the events, and reports what the client says", async () => {
    await publish(service, { type: "invoice.paid" });
    const answer = webhooks.test(client.endpointId, "invoice.paid");
    const lease = await eventually(async () => {
      const found = await client.lease();
      return found.events.some(({ trigger }) => trigger === "test") && found;
    });
    const test = first(lease.events.filter(({ trigger }) => trigger === "test"));
    assert.equal(JSON.parse(test.body)._test, true);
    assert.match(test.headers["X-Service-Delivery"] ?? "", /^test-[0-9]+$/);
    assert.equal(test.headers["webhook-id"], test.id);
    await client.ack(lease, [{ id: test.id }]);
    const { status, response_status, response_body } = await answer;
    assert.deepEqual([status, response_status, response_body], ["test", null, null]);
    const logged = await webhooks.delivery(client.endpointId, test.id);
    assert.deepEqual([logged.status, logged.request_headers], ["test", test.headers]);
  });

  it("reports that it was refused", async () => {
    const answer = webhooks.test(client.endpointId, "invoice.paid");
    const lease = await client.lease({ wait_s: 10 });
    await client.ack(lease, [{ id: first(lease.events).id, error: "no" }]);
    const { status, response_status, response_body } = await answer;
    assert.deepEqual([status, response_status, response_body], ["failed", null, "no"]);
  });

  it("reports a timeout after 15 seconds without an acknowledgement, and is fetched no more", async () => {
    const { status, response_status, response_body, latency_ms } = await webhooks.test(
      client.endpointId,
      "invoice.paid",
    );
    assert.deepEqual([status, response_status, response_body, latency_ms], ["failed", null, null, 15_000]);
    assert.deepEqual((await client.lease()).events, []);
    const [logged] = await webhooks.deliveries(client.endpointId);
    assert.deepEqual([logged?.status, logged?.error, logged?.sent_at], ["failed", "timeout", null]);
  });

  it("retries a refused event; acknowledged, the automatic attempt is not made", async () => {
    await publish(service, { type: "invoice.paid" });
    const lease = await client.lease();
    const failed = first(lease.events);
    await client.ack(lease, [{ id: failed.id, error: "no" }]);
    const answer = webhooks.retry(client.endpointId, failed.id);
    const retried = await client.lease({ wait_s: 10 });
    const retry = first(retried.events);
    assert.deepEqual([retry.trigger, retry.attempt, retry.body], ["retry", 2, failed.body]);
    assert.deepEqual(
      [retry.headers["X-Service-Delivery"], retry.headers["webhook-id"]],
      [failed.id, failed.event_id],
    );
    await client.ack(retried, [{ id: retry.id }]);
    assert.equal((await answer).status, "delivered");
    assert.deepEqual(await webhooks.deliveries(client.endpointId, "?status=pending"), []);
  });
});
