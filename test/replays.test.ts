/** Replays: which events they send, once each, and what ends them. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { steered, webhookSignature } from "./support/receivers.ts";
import { range, replaysOf, seedEvents, type Replays } from "./support/replays.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const TYPE = "invoice.paid";
const NOT_RUNNING = [409, { error: "The replay is not running" }] as const;

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;
let replays: Replays;

before(async () => {
  service = await startTestService({
    respond: receiver.respond,
    env: { RETRY_SCHEDULE: "0s,1h", RATE_LIMIT_DISPATCHES: "0" },
  });
  webhooks = webhooksOf(service);
  replays = replaysOf(service);
});
beforeEach(async () => {
  receiver.answer = () => ({});
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
  // One after the other: the running service locks them in an order of its own.
  for (const table of ["deliveries", "events", "dispatches", "replays"])
    await service.database.pool.query(`TRUNCATE postern.${table}`);
  service.receiver.requests.length = 0;
});
after(() => service.stop());

const seed = (
  endpoint: string | null,
  count: number,
  more: { type?: string; status?: number; minutesAgo?: number } = {},
) => seedEvents(service.database.pool, { endpoint, count, ...more });

/** Not `replay.finished`, which would come among what is counted. */
const create = (events = ["invoice.*", "customer.*"]) => webhooks.create({ events });

/** An endpoint with failed events, oldest first. */
async function failing(count: number) {
  const { endpoint, secret } = await create();
  return { id: endpoint.id, secret, events: await seed(endpoint.id, count) };
}

/** The events that reached the receiver, in that order. */
const received = (): string[] =>
  service.receiver.requests.map(({ headers }) => String(headers["webhook-id"]));

/** How often each of a replay's events is in the log. */
async function logged(replayId: string): Promise<{ event_id: string; count: number; status: string }[]> {
  const { rows } = await service.database.pool.query(
    `SELECT event_id, count(*)::int AS count, min(status) AS status FROM postern.deliveries
      WHERE replay_id = $1 GROUP BY event_id ORDER BY event_id`,
    [replayId],
  );
  return rows;
}

/** A receiver that keeps its answers until it is opened. */
function gate(): { open: () => void; arrived: () => number } {
  const opened = Promise.withResolvers<void>();
  let count = 0;
  receiver.answer = async () => {
    count++;
    await opened.promise;
    return {};
  };
  return { open: () => opened.resolve(), arrived: () => count };
}

describe("a replay of failed events", () => {
  it("sends each once, oldest first, as one more attempt under an id of its own", async () => {
    const { id, secret, events } = await failing(3);
    await webhooks.update(id, { rate_limit: 100 });
    const created = await replays.create({ endpoint_id: id });
    assert.deepEqual(
      [created.status, created.total, created.is_capped, created.select, created.finished_at],
      ["running", 3, false, "failed", null],
    );
    const { status, total, sent, delivered, failed, skipped } = await replays.waitForEnd(created.id);
    assert.deepEqual([status, total, sent, delivered, failed, skipped], ["finished", 3, 3, 3, 0, 0]);
    assert.deepEqual(received().sort(), events);
    const log = await webhooks.deliveries(id, "?status=delivered");
    for (const { event_id, trigger, attempt, replay_id, request_body, id: delivery } of log) {
      assert.deepEqual([trigger, attempt, replay_id], ["retry", 2, created.id]);
      const request = service.receiver.requests.find(({ headers }) => headers["webhook-id"] === event_id);
      assert.equal(request?.headers["x-service-delivery"], delivery);
      assert.equal(request?.body.toString("utf8"), request_body);
      assert.equal(request?.headers["webhook-signature"], request && webhookSignature(secret, request));
    }
    assert.equal((await replays.count({ endpoint_id: id })).count, 0);
    const earlier = await replays.get(created.id);
    assertRefused(await replays.call("POST", `/${created.id}/cancel`), NOT_RUNNING);
    assert.deepEqual(await replays.get(created.id), earlier);
  });

  it("makes one attempt of each, and counts those that fail again", async () => {
    receiver.answer = ({ body }) => ({ status: body.toString("utf8") === '{"n":2}' ? 503 : 200 });
    const { id } = await failing(3);
    const created = await replays.create({ endpoint_id: id });
    const { sent, delivered, failed } = await replays.waitForEnd(created.id);
    assert.deepEqual([sent, delivered, failed], [3, 2, 1]);
    assert.deepEqual(await webhooks.deliveries(id, "?status=pending"), []);
    assert.deepEqual((await replays.count({ endpoint_id: id })).by_cause, { http_503: 1 });
  });

  it("goes on over many pages, and sends each event once", async () => {
    const { id, events } = await failing(1300);
    // As after several failures: an event has several rows, and one was delivered since.
    await service.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers, latency_ms)
        SELECT 'acme', $1::uuid, postern.uuid_v7(), unnest($2::uuid[]), $3, 'auto_retry', 'failed', 2, '{}'::json, 1
        UNION ALL SELECT 'acme', $1::uuid, postern.uuid_v7(), $4::uuid, $3, 'retry', 'delivered', 3, '{}'::json, 1`,
      [id, events.slice(400, 700), TYPE, events[3]],
    );
    const created = await replays.create({ endpoint_id: id });
    const { status, total, sent, delivered } = await replays.waitForEnd(created.id);
    assert.deepEqual([status, total, sent, delivered], ["finished", 1299, 1299, 1299]);
    assert.deepEqual(
      (await logged(created.id)).map(({ event_id, count }) => [event_id, count]),
      events.filter((event) => event !== events[3]).map((event) => [event, 1]),
    );
  });

  it("takes a range, a type and a cause, and counts before it sends", async () => {
    const { endpoint } = await create();
    const paid = await seed(endpoint.id, 2);
    await seed(endpoint.id, 3, { type: "invoice.sent", status: 404 });
    // The newest, by more than the milliseconds that a seed takes.
    await seed(endpoint.id, 1, { type: "customer.created", status: 404, minutesAgo: 20 });
    const all = await replays.count({ endpoint_id: endpoint.id });
    assert.deepEqual([all.count, all.is_capped, all.by_cause], [6, false, { http_500: 2, http_404: 4 }]);
    assert.ok((all.oldest ?? "") < (all.newest ?? "") && (all.newest ?? "") < new Date().toISOString());
    for (const [more, count] of [
      [{ event_type: "invoice.*" }, 5],
      [{ event_type: "invoice.sent" }, 3],
      [{ cause: "http_404" }, 4],
      [{ cause: "http_404", event_type: "invoice.*" }, 3],
      [{ cause: "timeout" }, 0],
      [{ to: all.newest }, 5],
      [{ from: all.newest }, 1],
    ] as const) {
      const { count: found } = await replays.count({ endpoint_id: endpoint.id, ...more });
      assert.equal(found, count, JSON.stringify(more));
    }
    assert.deepEqual([received(), await replays.list()], [[], []]);
    const created = await replays.create({ endpoint_id: endpoint.id, cause: "http_500" });
    await replays.waitForEnd(created.id);
    assert.deepEqual(received().sort(), paid);
  });

  it("leaves what is pending, and skips what became pending since", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await create();
    await publish(service, { type: TYPE });
    await webhooks.waitFor(endpoint.id, "pending");
    await webhooks.waitFor(endpoint.id, "failed");
    await seed(endpoint.id, 2);
    assert.equal((await replays.count({ endpoint_id: endpoint.id })).count, 2);
    const created = await replays.create({ endpoint_id: endpoint.id });
    const { status, sent, skipped, total } = await replays.waitForEnd(created.id);
    // What is announced is what is sent; the skipped one never counted.
    assert.deepEqual([created.total, status, sent, skipped, total], [2, "finished", 2, 1, 2]);
  });
});

describe("a replay of missed events", () => {
  it("sends those that the subscription matches and that never had a dispatch there", async () => {
    const old = await seed(null, 2);
    await seed(null, 2, { type: "customer.created" });
    const { endpoint } = await create(["invoice.*"]);
    await seed(endpoint.id, 3);
    const missed = { endpoint_id: endpoint.id, select: "missed" };
    const counted = await replays.count(missed);
    assert.deepEqual([counted.count, counted.by_cause], [2, {}]);
    const { id } = await replays.create({ ...missed, dry_run: false });
    await replays.waitForEnd(id);
    assert.deepEqual(received().sort(), old);
    const log = await webhooks.deliveries(endpoint.id, "?status=delivered");
    assert.deepEqual([...new Set(log.map(({ attempt, trigger }) => `${attempt} ${trigger}`))], ["1 retry"]);
    assert.equal((await replays.count(missed)).count, 0);
  });
});

describe("a replay of all events", () => {
  it("sends the delivered, the failed and the missed", async () => {
    const { endpoint } = await create(["invoice.*"]);
    const delivered = (await publish(service, { type: TYPE })).id;
    await webhooks.waitFor(endpoint.id, "delivered");
    await publish(service, { type: "customer.created" });
    const rest = [...(await seed(endpoint.id, 1)), ...(await seed(null, 1))];
    service.receiver.requests.length = 0;
    const { id } = await replays.create({ endpoint_id: endpoint.id, select: "all" });
    const { sent } = await replays.waitForEnd(id);
    assert.equal(sent, 3);
    assert.deepEqual(received().sort(), [...rest, delivered].sort());
  });
});

describe("beside a replay", () => {
  it("fresh events go first", async () => {
    const held = gate();
    const { id } = await failing(300);
    const created = await replays.create({ endpoint_id: id });
    await eventually(async () => held.arrived() > 0);
    const fresh = (await publish(service, { type: TYPE })).id;
    held.open();
    await replays.waitForEnd(created.id);
    const place = received().indexOf(fresh);
    // A lane holds some seconds of work; the rest of the replay is behind what is fresh.
    const log = await webhooks.deliveries(id, "?trigger=event&status=delivered");
    assert.equal(log.length, 1);
    assert.ok(place >= 0 && place < 250, `${place}`);
  });

  it("another to the same endpoint is refused, and more than five of a tenant", async () => {
    const held = gate();
    const made = [await failing(1)];
    while (made.length < 6) made.push(await failing(1));
    const ids = [];
    for (const { id } of made.slice(0, 5)) ids.push((await replays.create({ endpoint_id: id })).id);
    const again = await replays.call("POST", "", { json: { ...range(), endpoint_id: made[0]?.id } });
    assertRefused(again, [409, { error: "A replay to this endpoint is running" }]);
    const more = await replays.call("POST", "", { json: { ...range(), endpoint_id: made[5]?.id } });
    assertRefused(more, [409, { error: "Replay limit reached" }]);
    assert.equal((await replays.count({ endpoint_id: made[0]?.id ?? "" })).is_capped, false);
    held.open();
    for (const id of ids) assert.equal((await replays.waitForEnd(id)).status, "finished");
    await replays.create({ endpoint_id: made[0]?.id ?? "" });
  });
});

describe("in the middle of a replay", () => {
  it("an endpoint that is disabled holds it, and enabled again receives the rest, once", async () => {
    const { id, events } = await failing(700);
    const held = gate();
    const created = await replays.create({ endpoint_id: id });
    await eventually(async () => held.arrived() > 0);
    await webhooks.update(id, { enabled: false });
    held.open();
    await eventually(async () => {
      const { rowCount } = await service.database.pool.query(
        "SELECT FROM postern.dispatches WHERE replay_id = $1 AND NOT held",
        [created.id],
      );
      return rowCount === 0;
    });
    assert.equal((await replays.get(created.id)).status, "running");
    await webhooks.update(id, { enabled: true });
    const { status, sent, delivered } = await replays.waitForEnd(created.id);
    assert.deepEqual([status, sent, delivered], ["finished", 700, 700]);
    assert.ok((await logged(created.id)).every(({ count }) => count === 1));
    assert.equal(new Set(received()).size, events.length);
  });

  it("a rotated secret signs what follows", async () => {
    const { id, secret } = await failing(40);
    // The rest takes longer than workers take to know of the new one, however long the rotation takes here.
    await webhooks.update(id, { rate_limit: 10 });
    const held = gate();
    const created = await replays.create({ endpoint_id: id });
    await eventually(async () => held.arrived() > 0);
    const rotated = await webhooks.rotate(id);
    held.open();
    assert.equal((await replays.waitForEnd(created.id)).delivered, 40);
    const [oldest, newest] = [first(service.receiver.requests), service.receiver.requests.at(-1)];
    assert.equal(oldest.headers["webhook-signature"], webhookSignature(secret, oldest));
    assert.equal(newest?.headers["webhook-signature"], newest && webhookSignature(rotated, newest));
  });

  it("an endpoint that is deleted ends it as failed", async () => {
    const { id } = await failing(600);
    const held = gate();
    const created = await replays.create({ endpoint_id: id });
    await eventually(async () => held.arrived() > 0);
    await webhooks.remove(id);
    held.open();
    const { status, error, sent, delivered, failed } = await replays.waitForEnd(created.id);
    assert.deepEqual([status, error, sent], ["failed", "endpoint_deleted", 500]);
    assert.equal(delivered + failed, 500);
  });

  it("canceling takes back what no worker has, and stays", async () => {
    const { id } = await failing(600);
    const held = gate();
    const created = await replays.create({ endpoint_id: id });
    await eventually(async () => held.arrived() > 0);
    const canceled = await replays.cancel(created.id);
    assert.equal(canceled.status, "canceled");
    assert.ok(canceled.sent < 500, `${canceled.sent}`);
    assertRefused(await replays.call("POST", `/${created.id}/cancel`), NOT_RUNNING);
    held.open();
    const over = await eventually(async () => {
      const found = await replays.get(created.id);
      return found.delivered === found.sent && found;
    });
    assert.deepEqual([over.status, over.sent], ["canceled", canceled.sent]);
    const { id: next } = await replays.create({ endpoint_id: id });
    const { sent } = await replays.waitForEnd(next);
    assert.equal(sent + canceled.sent, 600);
  });
});

describe("the end of a replay", () => {
  it("is an event of the tenant, and its beginning and cancel are in the audit log", async () => {
    const { endpoint } = await create(["replay.finished"]);
    await seed(endpoint.id, 2);
    const { id } = await replays.create({ endpoint_id: endpoint.id });
    const told = await eventually(async () =>
      service.receiver.requests.find(({ headers }) => headers["x-service-event"] === "replay.finished"),
    );
    assert.deepEqual(JSON.parse(told.body.toString("utf8")).data, {
      replay_id: id,
      endpoint_id: endpoint.id,
      status: "finished",
      sent: 2,
      delivered: 2,
      failed: 0,
      skipped: 0,
    });
    const { rows } = await service.database.pool.query(
      "SELECT action, actor_sub, details->>'count' AS count FROM postern.audit_log WHERE details->>'replay_id' = $1",
      [id],
    );
    assert.deepEqual(rows, [{ action: "replay.requested", actor_sub: "ada", count: "2" }]);
  });
});
