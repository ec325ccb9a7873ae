/** Reading the delivery log: filters, pages, pending rows, and the log of an endpoint that is gone. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { steered } from "./support/receivers.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Delivery,
  type Webhooks,
} from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s,1h" } });
  webhooks = webhooksOf(service);
});
beforeEach(() => {
  receiver.answer = () => ({});
});
after(() => service.stop());

async function endpointWithTests(count: number): Promise<{ id: string; rows: Delivery[] }> {
  const { endpoint } = await webhooks.create({ events: ["customer.*"] });
  for (let n = 0; n < count; n++) await webhooks.test(endpoint.id, "customer.created");
  return { id: endpoint.id, rows: await webhooks.deliveries(endpoint.id) };
}

const idsOf = (rows: readonly Delivery[]) => rows.map((row) => row.id);
const plusMs = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();

describe("GET /api/webhooks/:id/deliveries", () => {
  it("lists newest first, 50 by default, by pages and limits", async () => {
    const { id, rows } = await endpointWithTests(5);
    assert.deepEqual(idsOf(rows), idsOf(rows).toSorted().toReversed());
    assert.deepEqual(await webhooks.deliveries(id, "?page=1&limit=2"), rows.slice(0, 2));
    assert.deepEqual(await webhooks.deliveries(id, "?page=3&limit=2"), rows.slice(4));
    assert.deepEqual(await webhooks.deliveries(id, "?page=4&limit=2"), []);
    assert.deepEqual(await webhooks.deliveries(id, "?limit=100&page=%2B1"), rows);
    assert.deepEqual(await webhooks.deliveries(id, `?page=${Number.MAX_SAFE_INTEGER}&limit=100`), []);
  });

  it("answers 50 deliveries where no limit is given", async () => {
    const { id } = await endpointWithTests(1);
    await service.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
         request_body, request_headers, latency_ms)
       SELECT tenant_id, endpoint_id, postern.uuid_v7(), test_id, event_type, trigger, status, attempt,
         request_body, request_headers, latency_ms
       FROM postern.deliveries, generate_series(1, 59) WHERE endpoint_id = $1`,
      [id],
    );
    assert.equal((await webhooks.deliveries(id)).length, 50);
    assert.equal((await webhooks.deliveries(id, "?page=2")).length, 10);
  });

  it("leads from page to page by the Link header, with the same filters", async () => {
    const { id, rows } = await endpointWithTests(5);
    const seen: string[] = [];
    let path: string | undefined = `/api/webhooks/${id}/deliveries?limit=2&status=test&page=1`;
    while (path !== undefined) {
      const answer = await service.call("GET", path);
      assert.equal(answer.status, 200, answer.text);
      const { deliveries } = Object(answer.body);
      seen.push(...idsOf(deliveries));
      const link = answer.headers.get("link");
      path = /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];
      assert.equal(path === undefined, link === null);
      if (path !== undefined) assert.match(path, /limit=2&status=test&before=/);
    }
    assert.deepEqual(seen, idsOf(rows));
    const full = await service.call("GET", `/api/webhooks/${id}/deliveries?limit=5`);
    assert.equal(full.headers.get("link"), null, "nothing is behind a full last page");
  });

  it("filters by status, event type, event id and before", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create({ events: ["invoice.*"] });
    const event = await publish(service, { type: "invoice.paid" });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    const pending = first(await webhooks.waitFor(endpoint.id, "pending"));
    receiver.answer = () => ({});
    await webhooks.test(endpoint.id, "invoice.sent");
    const test = first(await webhooks.deliveries(endpoint.id, "?status=test"));
    const expected: [string, Delivery[]][] = [
      ["?status=failed", [failed]],
      ["?status=pending", [pending]],
      ["?status=delivered", []],
      ["?event_type=invoice.sent", [test]],
      ["?event_type=nope", []],
      [`?event_id=${event.id}`, [pending, failed]],
      [`?event_id=${event.id}&status=failed`, [failed]],
      [`?event_id=${UNKNOWN_ID}`, []],
      ["?event_id=no-id", []],
      [`?before=${test.id}`, [pending, failed]],
      [`?before=${pending.id}`, [failed]],
      ["?other=x&status=test", [test]],
    ];
    for (const [query, rows] of expected) {
      assert.deepEqual(await webhooks.deliveries(endpoint.id, query), rows, query);
    }
    await webhooks.remove(endpoint.id);
  });

  it("takes from as inclusive and to as exclusive, both on created_at", async () => {
    const { id, rows } = await endpointWithTests(1);
    const { created_at: at } = first(rows);
    const offset = `${plusMs(at, 3_600_000).slice(0, -1)}%2B01:00`;
    const expected: [string, number][] = [
      [`?from=${at}`, 1],
      [`?from=${offset}`, 1],
      [`?from=${plusMs(at, 1)}`, 0],
      [`?to=${at}`, 0],
      [`?to=${plusMs(at, 1)}`, 1],
      [`?from=${at}&to=${plusMs(at, 1)}`, 1],
      [`?from=${plusMs(at, 1)}&to=${at}`, 0],
      [`?from=${at.slice(0, -1)}4Z`, 0],
      ["?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z", 1],
    ];
    for (const [query, count] of expected) {
      assert.equal((await webhooks.deliveries(id, query)).length, count, query);
    }
  });

  const invalid: [string, string][] = [
    ["status=sent", "status"],
    ["status=", "status"],
    ["status=failed&status=test", "status"],
    ["from=2026-01-31", "from"],
    ["from=2026-01-31T10:00:00", "from"],
    ["to=yesterday", "to"],
    ["to=2026-02-30T00:00:00Z", "to"],
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=1.5", "page"],
    ["page=", "page"],
    ["page=9007199254740992", "page"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["before=x", "before"],
    ["event_type=a%00b", "event_type"],
  ];
  for (const [query, path] of invalid) {
    it(`answers Invalid query to ${query}`, async () => {
      for (const id of [UNKNOWN_ID, "no-id"]) {
        const answer = await webhooks.call("GET", `/${id}/deliveries?${query}`);
        assert.deepEqual(Object.keys(issuesOf(answer, "Invalid query")), [path]);
        assert.equal(answer.text.split('"path"').length, 2, answer.text);
      }
    });
  }

  it("answers an empty list for an endpoint that is not there, or whose id is none", async () => {
    for (const id of [UNKNOWN_ID, UNKNOWN_ID.toUpperCase(), "no-id", "%00"]) {
      assert.deepEqual(await webhooks.deliveries(id), []);
    }
  });
});

describe("a pending delivery", () => {
  it("shows what is due, and is replaced by its outcome under the same id", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<{ status: number }>();
    receiver.answer = () => released;
    const { endpoint } = await webhooks.create({ events: ["document.*"] });
    const event = await publish(service, { type: "document.uploaded", data: { n: 1 } });
    const pending = first(await webhooks.waitFor(endpoint.id, "pending"));
    const { id, request_body, next_attempt_at, created_at, ...rest } = pending;
    assert.deepEqual(rest, {
      endpoint_id: endpoint.id,
      event_id: event.id,
      event_type: "document.uploaded",
      event_version: 1,
      trigger: "event",
      replay_id: null,
      status: "pending",
      attempt: 1,
      request_headers: null,
      response_status: null,
      response_headers: null,
      response_body: null,
      latency_ms: 0,
      error: null,
      sent_at: null,
    });
    assert.deepEqual(Object(JSON.parse(request_body ?? "")).data, { n: 1 });
    assert.match(next_attempt_at ?? "", /Z$/);
    assert.deepEqual(await webhooks.delivery(endpoint.id, id), pending);
    assert.deepEqual((await webhooks.detail(endpoint.id)).recent_deliveries, [pending]);
    release({ status: 200 });
    const delivered = first(await webhooks.waitFor(endpoint.id, "delivered"));
    assert.deepEqual(
      [delivered.id, delivered.created_at, delivered.next_attempt_at, delivered.request_body],
      [id, created_at, null, request_body],
    );
    assert.ok(delivered.sent_at !== null && delivered.sent_at >= created_at, delivered.sent_at ?? "null");
    assert.equal((await webhooks.deliveries(endpoint.id)).length, 1);
    await webhooks.remove(endpoint.id);
  });

  it("ends as failed when its endpoint is deleted, and the log stays readable", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create({ events: ["document.*"] });
    await publish(service, { type: "document.uploaded" });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    const pending = first(await webhooks.waitFor(endpoint.id, "pending"));
    await webhooks.remove(endpoint.id);
    const rows = await webhooks.deliveries(endpoint.id);
    assert.deepEqual(idsOf(rows), [pending.id, failed.id]);
    const ended = await webhooks.delivery(endpoint.id, pending.id);
    assert.equal(ended.sent_at, null);
    assert.deepEqual(
      [ended.status, ended.error, ended.attempt, ended.trigger, ended.response_status, ended.next_attempt_at],
      ["failed", "endpoint_deleted", 2, "auto_retry", null, null],
    );
  });

  it("waits while its endpoint is disabled, and goes on when enabled", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create({ events: ["document.*"] });
    await publish(service, { type: "document.uploaded" });
    await webhooks.waitFor(endpoint.id, "failed");
    const pending = first(await webhooks.waitFor(endpoint.id, "pending"));
    await webhooks.update(endpoint.id, { enabled: false });
    assert.equal((await publish(service, { type: "document.uploaded" })).deliveries, 0);
    receiver.answer = () => ({});
    // Due now, were the endpoint enabled.
    await service.database.pool.query("UPDATE postern.dispatches SET due_at = now(), claimable_at = now()");
    await service.database.pool.query("SELECT pg_notify('postern_dispatch', '')");
    await webhooks.test(endpoint.id, "document.uploaded");
    assert.deepEqual(idsOf(await webhooks.deliveries(endpoint.id, "?status=pending")), [pending.id]);
    await webhooks.update(endpoint.id, { enabled: true });
    const delivered = first(await webhooks.waitFor(endpoint.id, "delivered"));
    assert.deepEqual([delivered.id, delivered.attempt, delivered.trigger], [pending.id, 2, "auto_retry"]);
  });
});

describe("GET /api/webhooks/:id/deliveries/:did", () => {
  it("shows what the list shows", async () => {
    const { id, rows } = await endpointWithTests(1);
    assert.deepEqual(await webhooks.delivery(id, first(rows).id), first(rows));
  });

  it("answers not found for another endpoint's delivery, or none", async () => {
    const { id, rows } = await endpointWithTests(1);
    const other = await endpointWithTests(0);
    const did = first(rows).id;
    for (const path of [
      `/${other.id}/deliveries/${did}`,
      `/${UNKNOWN_ID}/deliveries/${did}`,
      `/${id}/deliveries/${UNKNOWN_ID}`,
      `/${id}/deliveries/${did.toUpperCase()}`,
      `/${id.toUpperCase()}/deliveries/${did}`,
      `/${id}/deliveries/no-id`,
    ]) {
      assertRefused(await webhooks.call("GET", path), REFUSED.notFound);
    }
  });
});
