/** What a portal and people in support ask: a session, an id, an endpoint's health, a URL, a test before it is sent. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { startDnsServer, type DnsServer } from "./support/dns-server.ts";
import { steered } from "./support/receivers.ts";
import { MEMBER, OTHER_OWNER, OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { temporaryPath } from "./support/temporary.ts";
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

const TYPE = "order.placed";
const EXAMPLE = { order_id: "o_1", count: 1 };
const ORDER = {
  type: TYPE,
  title: "Order placed",
  description: "An order.",
  group: "Orders",
  payloadShape: EXAMPLE,
  schema: { type: "object", required: ["order_id"], properties: { order_id: { type: "string" } } },
};
const VERSIONED = { ...ORDER, type: "order.refunded" };
const CATALOG = [
  ORDER,
  { ...ORDER, type: "Order.sentBack" },
  { ...VERSIONED, version: 1 },
  { ...VERSIONED, version: 2 },
];
const GUEST = { ...MEMBER, role: "guest" };

const receiver = steered();
let dns: DnsServer;
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  dns = await startDnsServer((name) => {
    if (name === "inside.example.com") return { kind: "addresses", addresses: ["10.0.0.7"] };
    if (name === "outside.example.com") return { kind: "addresses", addresses: ["93.184.216.34"] };
    return { kind: "nxdomain" };
  });
  const catalog = temporaryPath("catalog.json");
  await writeFile(catalog, JSON.stringify(CATALOG));
  service = await startTestService({
    refusesAsDocumented: true,
    respond: receiver.respond,
    env: { EVENT_CATALOG: catalog, RETRY_SCHEDULE: "0s,1h", DNS_SERVERS: dns.address, RETENTION_DAYS: "14" },
  });
  webhooks = webhooksOf(service);
});
after(async () => {
  await service.stop();
  await dns.close();
});

const get = (path: string, options?: CallOptions) => service.call("GET", `/api${path}`, options);

async function hits(q: string, as = OWNER): Promise<unknown> {
  const answer = await get(`/search?q=${encodeURIComponent(q)}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const check = (options: CallOptions) => service.call("POST", "/api/url-checks", options);
const test = (id: string, json: unknown) => webhooks.call("POST", `/${id}/test`, { json });

describe("GET /api/webhooks/{id}/health", () => {
  it("counts what is pending, and tells since when the endpoint fails and both secrets sign", async () => {
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create();
    const path = `/webhooks/${endpoint.id}/health`;
    const quiet = { failing_since: null, previous_secret_until: null, pending: 0, oldest_due: null };
    assert.deepEqual((await get(path)).body, { health: quiet });
    await publish(service, { type: TYPE, data: EXAMPLE });
    await webhooks.waitFor(endpoint.id, "failed");
    await webhooks.rotate(endpoint.id, { grace_seconds: 60 });
    const { health } = Object((await get(path, { as: MEMBER })).body);
    // The next attempt is in an hour, so nothing is due.
    assert.deepEqual([health.pending, health.oldest_due], [1, null]);
    assert.ok(Date.parse(health.failing_since) <= Date.now());
    assert.ok(Date.parse(health.previous_secret_until) > Date.now());
    const due = new Date(Date.now() - 60_000).toISOString();
    await service.database.pool.query(
      "UPDATE postern.dispatches SET due_at = $2, held = true WHERE endpoint_id = $1",
      [endpoint.id, due],
    );
    assert.equal(Object((await get(path)).body).health.oldest_due, due);
    await webhooks.remove(endpoint.id);
    assertRefused(await get(path), REFUSED.notFound);
  });

  it("counts to 10,000", async () => {
    const { endpoint } = await webhooks.create({ enabled: false });
    await service.database.pool.query(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
        SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'a', 1, now(), now(), true FROM generate_series(1, 10001)`,
      [endpoint.id],
    );
    assert.equal(Object((await get(`/webhooks/${endpoint.id}/health`)).body).health.pending, 10_000);
    await webhooks.remove(endpoint.id);
  });

  it("is not found for another tenant and ids that nobody has, and refuses who may not read", async () => {
    const { endpoint } = await webhooks.create();
    const path = `/webhooks/${endpoint.id}/health`;
    assertRefused(await get(path, { as: OTHER_OWNER }), REFUSED.notFound);
    for (const id of [UNKNOWN_ID, "x"]) assertRefused(await get(`/webhooks/${id}/health`), REFUSED.notFound);
    assertRefused(await get(path, { as: null }), REFUSED.unauthorized);
    assertRefused(await get(path, { as: GUEST }), REFUSED.forbidden);
    await webhooks.remove(endpoint.id);
  });
});

describe("GET /api/session", () => {
  const limits = {
    endpoints: 100,
    writes_per_minute: 1200,
    dispatches_per_minute: 300,
    fetches_per_minute: 12_000,
    retention_days: 14,
  };
  const features = { private_targets: true, public_links: false };

  it("tells the tenant, the role, what it may do and the limits", async () => {
    assert.deepEqual((await get("/session")).body, {
      tenant: "acme",
      sub: "ada",
      role: "owner",
      permissions: ["settings:read", "settings:write", "storage:hold"],
      limits,
      features,
    });
  });

  it("is for every user, with the permissions that are known here", async () => {
    const as = { ...GUEST, permissions: ["other:thing", "settings:read"] };
    assert.deepEqual(Object((await get("/session", { as })).body).permissions, ["settings:read"]);
    assert.deepEqual(Object((await get("/session", { as: GUEST })).body).permissions, []);
    for (const as of [null, PRODUCER]) assertRefused(await get("/session", { as }), REFUSED.unauthorized);
  });
});

describe("GET /api/search", () => {
  let endpointId: string;
  let deliveryId: string;
  let eventId: string;

  before(async () => {
    receiver.answer = () => ({});
    endpointId = (await webhooks.create({ url: `${service.receiver.url}/Invoices-Hook` })).endpoint.id;
    eventId = (await publish(service, { type: TYPE, data: EXAMPLE, id: "order 77" })).id;
    deliveryId = first(await webhooks.waitFor(endpointId, "delivered")).id;
  });

  it("finds an event, a delivery and an endpoint by id, and where they are", async () => {
    const cases: [string, string, string][] = [
      [eventId, "event", `/api/events/${eventId}`],
      [` ${eventId}`, "event", `/api/events/${eventId}`],
      [deliveryId.toUpperCase(), "delivery", `/api/deliveries/${deliveryId}`],
      [` ${endpointId} `, "endpoint", `/api/webhooks/${endpointId}`],
      ["order 77", "event", `/api/events/${eventId}`],
      ["invoices-hook", "endpoint", `/api/webhooks/${endpointId}`],
      [" INVOICES-HOOK", "endpoint", `/api/webhooks/${endpointId}`],
      [endpointId.toUpperCase(), "endpoint", `/api/webhooks/${endpointId}`],
      [eventId.toUpperCase(), "event", `/api/events/${eventId}`],
      ["order.pl", "event_type", `/api/events?type=${TYPE}`],
      ["ORDER.Pl ", "event_type", `/api/events?type=${TYPE}`],
      ["order.sentb", "event_type", "/api/events?type=Order.sentBack"],
      // Of several versions, and found once.
      ["order.refunded", "event_type", "/api/events?type=order.refunded"],
    ];
    for (const [q, kind, href] of cases) {
      assert.deepEqual(await hits(q), [{ kind, href }], q);
      assert.equal((await service.call("GET", href)).status, 200, href);
    }
  });

  it("finds nothing of another tenant", async () => {
    for (const q of [eventId, deliveryId, endpointId, "order 77", "invoices-hook", "no such thing"]) {
      assert.deepEqual(await hits(q, OTHER_OWNER), [], q);
    }
  });

  it("answers 20 hits at most, what has the text as its key before what contains it", async () => {
    const made = await Promise.all(
      Array.from({ length: 21 }, () => webhooks.create({ url: `${service.receiver.url}/many` })),
    );
    const { id } = await publish(service, { type: TYPE, data: EXAMPLE, id: "/many" });
    const found = await hits("/many");
    assert.ok(Array.isArray(found));
    assert.deepEqual([found.length, found[0]], [20, { kind: "event", href: `/api/events/${id}` }]);
    for (const { endpoint } of made) await webhooks.remove(endpoint.id);
  });

  it("takes 256 characters, and answers Invalid query to more, to none and to NUL", async () => {
    assert.deepEqual(await hits("😀".repeat(256)), []);
    assert.deepEqual(await hits("  "), []);
    for (const query of [`?q=${"x".repeat(257)}`, "?q=", "", "?q=a%00", "?q=a&limit=3"]) {
      issuesOf(await get(`/search${query}`), "Invalid query");
    }
    assertRefused(await get("/search", { as: null }), REFUSED.unauthorized);
    assertRefused(await get("/search", { as: GUEST }), REFUSED.forbidden);
  });
});

describe("POST /api/url-checks", () => {
  it("says whether an endpoint may have the URL, and why not", async () => {
    const cases: [string, unknown][] = [
      ["https://outside.example.com/hook", { ok: true, resolves: true }],
      ["https://nowhere.example.com/", { ok: true, resolves: false }],
      ["https://93.184.216.34/", { ok: true, resolves: true }],
      ["https://inside.example.com/", { ok: false, rule: "not_public", resolves: true }],
      ["https://10.0.0.1/", { ok: false, rule: "not_public", resolves: true }],
      ["https://169.254.169.254/", { ok: false, rule: "metadata_address", resolves: true }],
      ["http://outside.example.com/", { ok: false, rule: "not_https" }],
      ["https://outside.example.com:22/", { ok: false, rule: "blocked_port" }],
      ["", { ok: false, rule: "empty" }],
      ["https://\u0000", { ok: false, rule: "control_character" }],
    ];
    for (const [url, expected] of cases) {
      const answer = await check({ json: { url } });
      assert.deepEqual([answer.status, answer.body], [200, expected], url);
      const created = await webhooks.call("POST", "", { json: { url, enabled: false } });
      assert.equal(created.status === 201, Object(expected).ok, url);
    }
  });

  it("checks the session, the permission and the body, within the limit on dispatches", async () => {
    const raw = "x".repeat(1024 * 1024 + 1);
    assertRefused(await check({ as: null, raw }), REFUSED.unauthorized);
    assertRefused(await check({ as: MEMBER, raw }), REFUSED.forbidden);
    assertRefused(await check({ raw }), REFUSED.tooLarge);
    for (const json of [{}, { url: 7 }, [], { URL: "https://a.example" }, { url: "", more: 1 }]) {
      const answer = await check({ json });
      issuesOf(answer);
      assert.match(answer.headers.get("ratelimit-policy") ?? "", /^"dispatches"/);
    }
  });
});

describe("POST /api/webhooks/{id}/test with data", () => {
  it("sends the data in place of the example, with every digit", async () => {
    receiver.answer = () => ({});
    const { endpoint } = await webhooks.create();
    const raw = `{"event_type":"${TYPE}","data":{"order_id":"x","n":12345678901234567890}}`;
    const answer = await webhooks.call("POST", `/${endpoint.id}/test`, { raw });
    assert.equal(answer.status, 200);
    const body = `{"event":"${TYPE}","data":{"order_id":"x","n":12345678901234567890},"_test":true}`;
    assert.equal(service.receiver.requests.at(-1)?.body.toString("utf8"), body);
    const delivery = first(await webhooks.deliveries(endpoint.id));
    assert.equal(delivery.request_body, body);
    assert.equal(answer.headers.get("delivery-id"), delivery.id);
  });

  it("refuses data of which a number would be another", async () => {
    const { endpoint } = await webhooks.create();
    const refuse = async (members: string) => {
      const raw = `{"event_type":"${TYPE}",${members}}`;
      return issuesOf(await webhooks.call("POST", `/${endpoint.id}/test`, { raw }));
    };
    assert.deepEqual(await refuse(`"data":{"n":1e-400}`), { data: "number_out_of_range" });
    assert.deepEqual(await refuse(`"data":{"n":0.${"7".repeat(399)}}`), { data: "number_too_long" });
    // Beside it something too deep for the digits to be read.
    const deep = `${"[".repeat(400_000)}${"]".repeat(400_000)}`;
    assert.deepEqual(await refuse(`"data":{"n":9007199254740993},"x":${deep}`), { "": "too_deep" });
  });

  it("answers a dry run with that text, and sends and logs nothing", async () => {
    const { endpoint } = await webhooks.create();
    const audited = async () => (await service.database.pool.query("SELECT FROM postern.audit_log")).rowCount;
    const [sent, entries] = [service.receiver.requests.length, await audited()];
    for (const data of [undefined, { order_id: "y" }]) {
      const answer = await test(endpoint.id, { event_type: TYPE, data, dry_run: true });
      const body = JSON.stringify({ event: TYPE, data: data ?? EXAMPLE, _test: true });
      assert.deepEqual([answer.status, answer.body], [200, { ok: true, body }]);
      assert.equal(answer.headers.get("delivery-id"), null);
    }
    assert.deepEqual([service.receiver.requests.length, await audited()], [sent, entries]);
    assert.deepEqual(await webhooks.deliveries(endpoint.id), []);
  });

  it("checks the data by the schema and the rules for all data, to 64 KiB, before it looks for the endpoint", async () => {
    const most = { order_id: "x".repeat(65_536 - '{"order_id":""}'.length) };
    const bad: [unknown, string][] = [
      [{}, "data"],
      [{ order_id: 1 }, "data.order_id"],
      ["text", "data"],
      [[], "data"],
      [null, "data"],
      [{ order_id: "a\u0000" }, "data"],
      [{ order_id: `${most.order_id}x` }, "data"],
      // Of as many characters, and of one byte more.
      [{ order_id: `${most.order_id.slice(1)}é` }, "data"],
    ];
    for (const dry_run of [false, true]) {
      for (const [data, at] of bad) {
        const answer = await test(UNKNOWN_ID, { event_type: TYPE, data, dry_run });
        assert.deepEqual(Object.keys(issuesOf(answer)), [at], JSON.stringify(data)?.slice(0, 60));
      }
      const answer = await test(UNKNOWN_ID, { event_type: TYPE, data: most, dry_run });
      assertRefused(answer, REFUSED.notFound);
    }
    issuesOf(await test(UNKNOWN_ID, { event_type: TYPE, dry_run: "yes" }));
    issuesOf(await test(UNKNOWN_ID, { event_type: TYPE, payload: {} }));
  });

  it("refuses a dry run as the test itself: not subscribed, another tenant's, read-only", async () => {
    const { endpoint } = await webhooks.create({ events: ["endpoint.disabled"] });
    const json = { event_type: TYPE, dry_run: true };
    assertRefused(await test(endpoint.id, json), REFUSED.notSubscribed);
    for (const [as, refusal] of [
      [OTHER_OWNER, REFUSED.notFound],
      [MEMBER, REFUSED.forbidden],
      [null, REFUSED.unauthorized],
    ] as const) {
      assertRefused(await service.call("POST", `/api/webhooks/${endpoint.id}/test`, { as, json }), refusal);
    }
  });
});
