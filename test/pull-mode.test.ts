/** Pull endpoints and the rest of Postern: workers, changes of the mode, disabling, replays, statistics. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { clientOf, type Client } from "./support/pull.ts";
import { replaysOf } from "./support/replays.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

let service: TestService;
let webhooks: Webhooks;
let client: Client;
let id: string;

before(async () => {
  service = await startTestService({
    refusesAsDocumented: true,
    env: {
      RETRY_SCHEDULE: "0s,1h",
      RATE_LIMIT_FETCHES: "0",
      RATE_LIMIT_DISPATCHES: "0",
      DISABLE_AFTER: "1s",
    },
  });
  webhooks = webhooksOf(service);
});
after(() => service.stop());
beforeEach(async () => {
  for (const endpoint of await webhooks.list()) await webhooks.remove(endpoint.id);
  ({ id } = (await webhooks.create({ mode: "pull", events: ["invoice.*"] })).endpoint);
  client = clientOf(service, id);
  service.receiver.requests.length = 0;
});

const publishMany = (count: number) =>
  Promise.all(Array.from({ length: count }, () => publish(service, { type: "invoice.paid" })));
const query = (sql: string, values: unknown[] = []) => service.database.pool.query(sql, values);

async function depth(state: string): Promise<number> {
  const { text } = await service.call("GET", "/metrics", { as: null });
  return Number(new RegExp(`^webhook_queue_depth\\{state="${state}"\\} (\\d+)$`, "m").exec(text)?.[1]);
}

describe("a worker", () => {
  it("neither claims nor parks what waits to be fetched, and counts it apart", async () => {
    const [event] = await publishMany(3);
    assert.equal(event?.deliveries, 1);
    const { rows } = await query(
      `SELECT DISTINCT held, parked, lease_owner FROM postern.dispatches WHERE endpoint_id = $1`,
      [id],
    );
    assert.deepEqual(rows, [{ held: true, parked: false, lease_owner: null }]);
    await eventually(async () => (await depth("unfetched")) === 3);
    assert.equal(await depth("held"), 0);
    const health = await service.call("GET", `/api/webhooks/${id}/health`);
    assert.equal(Object(health.body).health.pending, 3);
    const story = await service.call("GET", `/api/events/${event.id}`);
    assert.equal(first<{ state: string }>(Object(story.body).endpoints).state, "pending");
  });

  it("has an event shown as held while its pull endpoint is disabled, and no longer", async () => {
    const [event] = await publishMany(1);
    const state = async () => {
      const story = await service.call("GET", `/api/events/${event?.id}`);
      return first<{ state: string }>(Object(story.body).endpoints).state;
    };
    await webhooks.update(id, { enabled: false });
    assert.equal(await state(), "held");
    await webhooks.update(id, { enabled: true });
    assert.equal(await state(), "pending");
  });

  it("gets an event that is published in SQL to the client too", async () => {
    const waiting = client.lease({ wait_s: 30 });
    await client.untilWaiting();
    await query(`SELECT postern.publish('acme', 'invoice.paid', '{"amount": 1}')`);
    assert.deepEqual(JSON.parse(first((await waiting).events).body).data, { amount: 1 });
  });
});

describe("a changed mode", () => {
  it("sends what waited, once it is push; a lease lasts on, and its acknowledgement counts", async () => {
    await publishMany(4);
    const lease = await client.lease({ limit: 1 });
    const changed = await webhooks.update(id, { mode: "push" });
    assert.equal(changed.mode, "push");
    await webhooks.waitFor(id, "delivered", 3);
    assert.equal(service.receiver.requests.length, 3);
    assert.equal((await webhooks.call("POST", `/${id}/leases`, { json: {} })).status, 409);
    await client.ack(lease, [{ id: first(lease.events).id }]);
    assert.equal((await webhooks.waitFor(id, "delivered", 4)).length, 4);
    assert.equal(service.receiver.requests.length, 3);
  });

  it("sends what a client leased and lost, once its lease has ended", async () => {
    await publishMany(1);
    await client.lease();
    await webhooks.update(id, { mode: "push" });
    await client.expire();
    const delivered = first(await webhooks.waitFor(id, "delivered"));
    assert.equal(delivered.response_status, 200);
  });

  it("leaves what waited to the client, once it is pull, in pages where it is much", async () => {
    const { endpoint } = await webhooks.create({ enabled: false, events: ["document.*"] });
    await query(
      `INSERT INTO postern.dispatches
          (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner, held)
        SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'document.signed', 1, now(), now(), NULL, true
        FROM generate_series(1, 12000)`,
      [endpoint.id],
    );
    await webhooks.update(endpoint.id, { mode: "pull", enabled: true });
    const { rows } = await query("SELECT DISTINCT held FROM postern.dispatches WHERE endpoint_id = $1", [
      endpoint.id,
    ]);
    assert.deepEqual(rows, [{ held: true }]);
    // Their events are gone: they end without a body.
    const other = clientOf(service, endpoint.id);
    assert.deepEqual((await other.lease({ limit: 1000 })).events, []);
    await webhooks.update(endpoint.id, { mode: "push" });
    await eventually(async () => {
      const { rowCount } = await query("SELECT FROM postern.dispatches WHERE endpoint_id = $1 LIMIT 1", [
        endpoint.id,
      ]);
      return rowCount === 0;
    });
    const { rows: ended } = await query(
      "SELECT count(*)::int AS count, count(*) FILTER (WHERE status = 'failed')::int AS failed FROM postern.deliveries WHERE endpoint_id = $1",
      [endpoint.id],
    );
    assert.deepEqual(ended, [{ count: 12_000, failed: 12_000 }]);
  });

  it("leaves an attempt in a worker's hands to the client, if it is not under way", async () => {
    const { endpoint } = await webhooks.create({ events: ["document.*"], rate_limit: 1 });
    for (let n = 0; n < 10; n++) await publish(service, { type: "document.signed" });
    await webhooks.update(endpoint.id, { mode: "pull" });
    const other = clientOf(service, endpoint.id);
    await eventually(async () => {
      const lease = await other.lease();
      if (lease.events.length > 0)
        await other.ack(
          lease,
          lease.events.map((event) => ({ id: event.id })),
        );
      return (await webhooks.deliveries(endpoint.id, "?status=delivered")).length === 10;
    });
    const requests = service.receiver.requests.length;
    assert.ok(requests < 10, `${requests} were sent`);
    const { rows } = await query("SELECT FROM postern.dispatches WHERE endpoint_id = $1", [endpoint.id]);
    assert.deepEqual(rows, []);
  });
});

describe("a client that waits for events of an endpoint", () => {
  const changes: [name: string, change: () => Promise<unknown>, status: number, error: string][] = [
    ["disabled", () => webhooks.update(id, { enabled: false }), 409, "Endpoint is disabled"],
    ["push", () => webhooks.update(id, { mode: "push" }), 409, "Endpoint is not of mode pull"],
    ["deleted", () => webhooks.remove(id), 404, "Not found"],
  ];
  for (const [name, change, status, error] of changes) {
    // Its wait would end later.
    it(`hears at once that it is ${name}`, { timeout: 20_000 }, async () => {
      const waiting = webhooks.call("POST", `/${id}/leases`, { json: { wait_s: 30 } });
      await client.untilWaiting();
      await change();
      const answer = await waiting;
      assert.deepEqual([answer.status, answer.body], [status, { error }]);
    });
  }
});

describe("a disabled pull endpoint", () => {
  it("answers 409 to a lease, and goes on where it was", async () => {
    await publishMany(2);
    const lease = await client.lease({ limit: 1 });
    await webhooks.update(id, { enabled: false });
    const answer = await webhooks.call("POST", `/${id}/leases`, { json: {} });
    assert.deepEqual([answer.status, answer.body], [409, { error: "Endpoint is disabled" }]);
    assert.equal((await publish(service, { type: "invoice.paid" })).deliveries, 0);
    await client.ack(lease, [{ id: first(lease.events).id }]);
    await webhooks.update(id, { enabled: true });
    assert.equal((await client.lease()).events.length, 1);
  });

  it("is disabled by refusals alone: neither by waiting nor by leases that end", async () => {
    const failingSince = async () => {
      const health = await service.call("GET", `/api/webhooks/${id}/health`);
      return Object(health.body).health.failing_since;
    };
    await publishMany(2);
    await client.lease({ limit: 1 });
    await client.expire();
    await webhooks.waitFor(id, "failed");
    assert.equal(await failingSince(), null);
    const refuse = async () => {
      await publishMany(1);
      const lease = await client.lease({ limit: 1 });
      await client.ack(lease, [{ id: first(lease.events).id, error: "no" }]);
    };
    await refuse();
    assert.notEqual(await failingSince(), null);
    const accepted = await client.lease({ limit: 1 });
    await client.ack(accepted, [{ id: first(accepted.events).id }]);
    assert.equal(await failingSince(), null);
    await refuse();
    await query("UPDATE postern.endpoints SET failing_since = now() - interval '2 s' WHERE id = $1", [id]);
    await refuse();
    const { endpoint } = await webhooks.detail(id);
    assert.deepEqual([endpoint.enabled, endpoint.disabled_reason], [false, "failing"]);
  });
});

describe("what is sent again", () => {
  it("waits as one attempt", async () => {
    const [event] = await publishMany(1);
    const lease = await client.lease();
    await client.ack(lease, [{ id: first(lease.events).id }]);
    const waiting = client.lease({ wait_s: 30 });
    await client.untilWaiting();
    const path = `/api/events/${event?.id}/send`;
    assert.equal((await service.call("POST", path, { json: { endpoint_id: id } })).status, 202);
    const again = await waiting;
    const sent = first(again.events);
    assert.deepEqual([sent.trigger, sent.attempt, sent.event_id], ["retry", 2, event?.id]);
    await client.ack(again, [{ id: sent.id, error: "no" }]);
    assert.deepEqual(await webhooks.deliveries(id, "?status=pending"), []);
  });

  it("comes by replay behind what is fresh, and the replay counts it", async () => {
    await publishMany(3);
    const refused = await client.lease();
    await client.ack(
      refused,
      refused.events.map((event) => ({ id: event.id, error: "no" })),
    );
    await query("DELETE FROM postern.dispatches WHERE endpoint_id = $1", [id]);
    const replays = replaysOf(service);
    const replay = await replays.create({ endpoint_id: id });
    await eventually(async () => (await webhooks.deliveries(id, "?status=pending")).length === 3);
    const [fresh] = await publishMany(1);
    const lease = await client.lease();
    assert.deepEqual(
      lease.events.map((event) => event.replay_id),
      [null, replay.id, replay.id, replay.id],
    );
    assert.equal(first(lease.events).event_id, fresh?.id);
    await client.ack(
      lease,
      lease.events.map((event) => ({ id: event.id })),
    );
    const { status, delivered } = await replays.waitForEnd(replay.id);
    assert.deepEqual([status, delivered], ["finished", 3]);
  });
});

describe("the log of a pull endpoint", () => {
  it("is in statistics by cause, in searches, and outlives the endpoint; what waits ends with it", async () => {
    await publishMany(4);
    const lease = await client.lease({ limit: 3 });
    const [one, other] = lease.events;
    assert.ok(one !== undefined && other !== undefined);
    await client.ack(lease, [{ id: one.id }, { id: other.id, error: "closed ledger" }]);
    await webhooks.remove(id);
    const late = await webhooks.call("POST", `/${id}/acks`, {
      json: { lease_id: lease.lease_id, acks: [{ id: lease.events[2]?.id }] },
    });
    assert.equal(late.status, 404);
    const log = await webhooks.deliveries(id);
    const errors = log.map(({ error }) => error ?? "none").sort();
    assert.deepEqual(errors, ["endpoint_deleted", "endpoint_deleted", "endpoint_deleted", "none", "refused"]);
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const to = new Date(Date.now() + 3_600_000).toISOString();
    const causes = await service.call("GET", `/api/stats/causes?endpoint_id=${id}&from=${from}&to=${to}`);
    const refused = Object(causes.body).causes.find((cause: { cause: string }) => cause.cause === "refused");
    assert.equal(refused?.count, 1, causes.text);
    const found = await service.call("GET", `/api/deliveries?endpoint_id=${id}&error=refused&q=closed`);
    assert.equal(Object(found.body).deliveries.length, 1);
  });

  it("keeps the bodies that a tenant keeps", async () => {
    const settings = { keep_response_bodies: false, artifact_days: null };
    const keep = (isOn: boolean) =>
      service.call("PUT", "/api/storage/settings", { json: { ...settings, keep_request_bodies: isOn } });
    const changed = await keep(true);
    assert.equal(changed.status, 200, changed.text);
    await publishMany(1);
    const lease = await client.lease();
    const { id: deliveryId } = first(lease.events);
    await client.ack(lease, [{ id: deliveryId }]);
    await eventually(async () => {
      const { rowCount } = await query(
        "SELECT FROM postern.stored_objects WHERE delivery_id = $1 AND state = 'available'",
        [deliveryId],
      );
      return rowCount === 1;
    });
    await keep(false);
  });

  it("ends what nobody fetched for as long as the log is kept", async () => {
    await publishMany(1);
    await query(
      "UPDATE postern.dispatches SET claimable_at = now() - interval '31 days' WHERE endpoint_id = $1",
      [id],
    );
    // A worker looks every ten minutes, and as it starts.
    const { database, receiver, env } = service;
    const worker = await startTestService({
      roles: ["worker"],
      database,
      receiver,
      env: { ...env, PORT: "0" },
    });
    const failed = first(await webhooks.waitFor(id, "failed"));
    assert.deepEqual([failed.error, failed.sent_at], ["not_fetched", null]);
    await worker.stop();
  });
});
