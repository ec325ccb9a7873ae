/** What clients of pull endpoints lease and acknowledge. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { idsOf, openFetchesAtHand, type FetchesAtHand } from "../../test/support/fetches-at-hand.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newDeliveryId, newEndpointId, type EndpointId } from "../shared/id.ts";

const ACME = tenant("acme");
const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

let opened: Awaited<ReturnType<typeof openFetchesAtHand>>;
let hand: FetchesAtHand;
before(async () => {
  opened = await openFetchesAtHand();
});
after(() => opened.close());
beforeEach(async () => {
  hand = await opened.begin();
});

/** Of a temporary endpoint, that its end is an hour away again. */
async function isKept(): Promise<boolean> {
  const rows = await hand.sql(
    "SELECT temporary_until > now() + interval '59 minutes' AS kept FROM postern.endpoints WHERE id = $1",
    [hand.endpointId],
  );
  return rows[0].kept;
}
const nearlyAbandoned = () =>
  hand.sql("UPDATE postern.endpoints SET temporary_until = now() + interval '1 minute'");

describe("a lease", () => {
  it("has an endpoint that exists, is fetched from, and is enabled", async () => {
    const ask = (id: EndpointId | null) =>
      hand.fetches.lease(ACME, id, { limit: 1, waitMs: 0, signal: NEVER });
    await assert.rejects(ask(null), { code: "not_found" });
    await assert.rejects(ask(newEndpointId()), { code: "not_found" });
    await assert.rejects(ask(await hand.makeEndpoint("push")), { code: "endpoint_not_pull" });
    await hand.offer();
    await hand.sql("UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'");
    await assert.rejects(ask(hand.endpointId), { code: "endpoint_disabled" });
    assert.deepEqual(await hand.sql("SELECT FROM postern.dispatches WHERE lease_owner IS NOT NULL"), []);
    assert.deepEqual(await hand.counted("pullLeased"), []);
  });

  it("has events with what they are, for a minute, and is counted", async () => {
    const id = await hand.offer('{"n":1}');
    const { leaseId, until, events } = await hand.leased();
    const rows = await hand.sql(
      "SELECT lease_owner, claimable_at, event_id, claimable_at - now() BETWEEN '30 s' AND '60 s' AS fits FROM postern.dispatches",
    );
    assert.ok(Math.abs(rows[0].claimable_at.getTime() - until.getTime()) <= 1);
    assert.equal(rows[0].fits, true);
    assert.equal(rows[0].lease_owner, leaseId);
    const [{ headers, ...event } = { headers: {} }] = events;
    assert.deepEqual(event, {
      id,
      eventId: rows[0].event_id,
      eventType: "invoice.paid",
      version: 1,
      trigger: "auto_retry",
      attempt: 3,
      replayId: null,
      body: '{"n":1}',
    });
    const named = new Headers(headers);
    assert.deepEqual([named.get("webhook-id"), named.get("x-service-delivery")], [event.eventId, id]);
    assert.deepEqual(await hand.counted("pullLeased"), [[1]]);
    assert.equal(await hand.lease(), null);
    assert.deepEqual(await hand.counted("pullLeased"), [[1]]);
  });

  it("begins with what persons send, and asks the queue for the rest, at most 8 MiB", async () => {
    const dispatches = [await hand.offer(), await hand.offer()];
    const sends = [await hand.send(), await hand.send(), await hand.send()];
    assert.deepEqual(idsOf(await hand.lease({ limit: 2 })), sends.slice(0, 2));
    assert.deepEqual(hand.asked, []);
    const second = await hand.leased(2);
    assert.deepEqual(idsOf(second), [sends[2], dispatches[0]]);
    assert.deepEqual(hand.asked, [{ dispatches: 1, bodyBytes: 8 * MIB - '{"of":"a person"}'.length }]);
    const [{ headers, ...event } = { headers: {} }] = second.events;
    const rows = await hand.sql("SELECT event_id, request_headers FROM postern.person_sends WHERE id = $1", [
      sends[2],
    ]);
    assert.deepEqual(event, {
      id: sends[2],
      eventId: rows[0].event_id,
      eventType: "invoice.paid",
      version: 1,
      trigger: "retry",
      attempt: 2,
      replayId: null,
      body: '{"of":"a person"}',
    });
    assert.equal(new Headers(headers).get("x-service-delivery"), "a label");
    assert.deepEqual(Object.keys(rows[0].request_headers).toSorted(), Object.keys(headers).toSorted());
  });

  it("has at most 8 MiB of what persons send, and the next lease has the rest", async () => {
    const large = JSON.stringify("é".repeat(MIB / 2 - 1));
    const dispatch = await hand.offer();
    const sends = [];
    for (let i = 0; i < 9; i++) sends.push(await hand.send(large));
    assert.deepEqual(idsOf(await hand.lease()), sends.slice(0, 8));
    assert.deepEqual(hand.asked, []);
    assert.deepEqual(idsOf(await hand.lease()), [sends[8], dispatch]);
    assert.deepEqual(hand.asked, [{ dispatches: 9, bodyBytes: 7 * MIB }]);
  });

  it("has one that a person sends, however large", async () => {
    const sends = [await hand.send(JSON.stringify("x".repeat(9 * MIB))), await hand.send("{}")];
    assert.deepEqual(idsOf(await hand.lease()), [sends[0]]);
    assert.deepEqual(idsOf(await hand.lease()), [sends[1]]);
  });

  it("ends the deliveries of events that are gone, and has the others", async () => {
    const [gone, there] = [await hand.offer(null), await hand.offer()];
    assert.deepEqual(idsOf(await hand.lease()), [there]);
    const logged = await hand.sql("SELECT id, status, error, sent_at, latency_ms FROM postern.deliveries");
    assert.deepEqual(logged, [{ id: gone, status: "failed", error: null, sent_at: null, latency_ms: 0 }]);
    assert.deepEqual(await hand.sql("SELECT id FROM postern.dispatches"), [{ id: there }]);
    assert.deepEqual(hand.kept.lines, [
      { level: 50, tenantId: ACME, endpointId: hand.endpointId, events: 1 },
    ]);
    assert.deepEqual(await hand.counted("pullLeased"), [[1]]);
    assert.deepEqual(hand.chosen, [[null, { tenantId: ACME, attempt: 3, longResponseBody: null }]]);
  });

  it("is none where all events are gone", async () => {
    await hand.offer(null);
    assert.equal(await hand.lease(), null);
    assert.deepEqual(await hand.counted("pullLeased"), []);
  });

  it("gives a temporary endpoint another hour, and so does an acknowledgement", async () => {
    const id = await hand.offer();
    await nearlyAbandoned();
    const { leaseId } = await hand.leased();
    assert.equal(await isKept(), true);
    await nearlyAbandoned();
    await hand.ack(leaseId, [{ id, refusal: null }]);
    assert.equal(await isKept(), true);
  });
});

describe("an acknowledgement", () => {
  it("needs an endpoint that exists, and a lease that has something", async () => {
    const id = await hand.offer();
    const of = (endpoint: EndpointId | null, leaseId: string) =>
      hand.fetches.acknowledge(ACME, endpoint, { leaseId, acks: [{ id, refusal: null }] });
    const { leaseId } = await hand.leased();
    await assert.rejects(of(null, leaseId), { code: "not_found" });
    await assert.rejects(of(newEndpointId(), leaseId), { code: "not_found" });
    await nearlyAbandoned();
    await assert.rejects(of(hand.endpointId, randomUUID()), { code: "lease_ended" });
    // Nothing of it is left.
    assert.equal(await isKept(), false);
    assert.deepEqual([hand.observed, await hand.counted("pullAcks")], [[], []]);
    assert.deepEqual(await of(hand.endpointId, leaseId), { delivered: 1, failed: 0, late: [] });
  });

  it("counts what was delivered, refused and late, and tells the endpoint's health and who waits", async () => {
    const [one, other, third] = [await hand.offer(), await hand.offer(), await hand.offer()];
    const late = newDeliveryId();
    const { leaseId } = await hand.leased();
    const acks = [
      { id: one, refusal: null },
      { id: other, refusal: "no" },
      { id: third, refusal: null },
      { id: late, refusal: null },
    ];
    assert.deepEqual(await hand.ack(leaseId, acks), { delivered: 2, failed: 1, late: [late] });
    const expected = [
      ["delivered", 2],
      ["refused", 1],
      ["late", 1],
    ];
    assert.deepEqual(await hand.counted("pullAcks"), expected);
    assert.deepEqual(await hand.counted("attemptsTotal"), [
      ["delivered", "none", 2],
      ["failed", "refused", 1],
    ]);
    assert.deepEqual(hand.observed, [[hand.endpointId, { status: "delivered", isGone: false }]]);
    assert.deepEqual(hand.told, [[hand.endpointId]]);
    assert.deepEqual(
      hand.chosen,
      acks.slice(1).map(() => [null, { tenantId: ACME, attempt: 3, longResponseBody: null }]),
    );
    const rows = await hand.sql("SELECT status, error, response_body FROM postern.deliveries WHERE id = $1", [
      other,
    ]);
    assert.deepEqual(rows, [{ status: "failed", error: "refused", response_body: "no" }]);
  });

  it("wakes nobody where no attempt follows", async () => {
    const [one, other] = [await hand.offer(), await hand.offer("{}", true)];
    hand.retryDelayMs = () => null;
    const { leaseId } = await hand.leased();
    await hand.ack(leaseId, [
      { id: one, refusal: "no" },
      { id: other, refusal: "no" },
    ]);
    assert.deepEqual(hand.told, []);
    assert.deepEqual(hand.observed, [[hand.endpointId, { status: "failed", isGone: false }]]);
  });

  it("asks the queue for what no person sent alone, and for nothing where persons sent all", async () => {
    const [sent, refused, id] = [await hand.send(), await hand.send(), await hand.offer()];
    const { leaseId } = await hand.leased();
    hand.asked = [];
    const first = await hand.ack(leaseId, [
      { id: sent, refusal: null },
      { id, refusal: null },
    ]);
    assert.deepEqual([first, hand.asked], [{ delivered: 2, failed: 0, late: [] }, [[id]]]);
    const second = await hand.ack(leaseId, [{ id: refused, refusal: "no" }]);
    assert.deepEqual([second, hand.asked], [{ delivered: 0, failed: 1, late: [] }, [[id]]]);
    const rows = await hand.sql("SELECT id, refusal FROM postern.person_sends ORDER BY id");
    assert.deepEqual(rows, [
      { id: sent, refusal: null },
      { id: refused, refusal: "no" },
    ]);
  });

  it("counts although the endpoint's health could not be recorded, which is told", async () => {
    const id = await hand.offer();
    hand.observe = async () => {
      throw new Error("no luck");
    };
    const { leaseId } = await hand.leased();
    assert.deepEqual(await hand.ack(leaseId, [{ id, refusal: null }]), { delivered: 1, failed: 0, late: [] });
    assert.deepEqual(hand.kept.lines, [{ level: 40, endpointId: hand.endpointId, err: "no luck", times: 1 }]);
  });
});
