/** Creating, listing, showing, changing and deleting endpoints. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OWNER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  issuesOf,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const URL = "https://hooks.example.com/in";

let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ refusesAsDocumented: true });
  webhooks = webhooksOf(service);
});
after(() => service.stop());

describe("POST /api/webhooks", () => {
  it("answers the endpoint with every default, and its secret this once", async () => {
    const { endpoint, secret } = await webhooks.create({ url: URL });
    const { id, created_at, updated_at, ...rest } = endpoint;
    assert.deepEqual(rest, {
      url: URL,
      events: ["*"],
      description: null,
      enabled: true,
      disabled_reason: null,
      mode: "push",
      temporary: false,
      rate_limit: null,
      headers: {},
      masked_headers: [],
      metadata: {},
    });
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(created_at, updated_at);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice("whsec_".length), "base64").length, 32);
    const shown = await webhooks.call("GET", `/${id}`);
    assert.ok(!shown.text.includes(secret));
  });

  it("keeps every member as given, and ignores members it does not know", async () => {
    const given = {
      url: `${URL}?a=1&b=%20`,
      events: ["invoice.*", "customer.created"],
      description: "süß 🍰",
      enabled: false,
      mode: "pull",
      rate_limit: 1000,
      headers: { "X-Team": "billing" },
      masked_headers: [],
      metadata: { order: "z before a", a: "1" },
    };
    const { endpoint } = await webhooks.create({
      ...given,
      id: UNKNOWN_ID,
      tenant_id: "globex",
    });
    const { id, created_at: _created, updated_at: _updated, ...rest } = endpoint;
    assert.deepEqual(rest, { ...given, disabled_reason: "manual", temporary: false });
    assert.notEqual(id, UNKNOWN_ID);
    assert.deepEqual((await webhooks.detail(id)).endpoint, endpoint);
  });

  it("drops a fragment, and keeps the rest of the URL as sent", async () => {
    const { endpoint } = await webhooks.create({ url: "https://hooks.example.com/in?x=1#part" });
    assert.equal(endpoint.url, "https://hooks.example.com/in?x=1");
  });

  it("answers the unsafe URL refusal to every string that is no safe URL", async () => {
    const unsafe = [
      "",
      "no url",
      "http://hooks.example.com/in",
      "https://user:pw@hooks.example.com/",
      "https://10.0.0.1/",
      "https://[::ffff:10.0.0.1]/",
      "https://169.254.169.254/latest/meta-data",
      "https://hooks.example.com:22/",
      "https://0x7f.1/",
      "https://hooks.example.com/\u0000",
      "https://hooks.example.com/\uD800",
      ` ${URL}`,
      `https://hooks.example.com/${"a".repeat(2048)}`,
    ];
    for (const url of unsafe) {
      assertRefused(await webhooks.call("POST", "", { json: { url } }), REFUSED.unsafeUrl);
    }
  });

  const invalid: [string, unknown, Record<string, string | RegExp>][] = [
    ["no body members", {}, { url: /./ }],
    ["a null body", null, { "": /./ }],
    ["an array", [{ url: URL }], { "": /./ }],
    ["a url that is no string", { url: 7 }, { url: /./ }],
    ["no events", { url: URL, events: [] }, { events: /./ }],
    ["201 events", { url: URL, events: Array.from({ length: 201 }, (_, n) => `e${n}`) }, { events: /./ }],
    [
      "the same event twice",
      { url: URL, events: ["invoice.paid", "invoice.paid"] },
      { events: "must be unique" },
    ],
    ["an unknown event", { url: URL, events: ["*", "nope.*"] }, { "events.1": "unknown_event_type" }],
    [
      "a prefix that is itself a type",
      { url: URL, events: ["invoice.paid.*"] },
      { "events.0": "unknown_event_type" },
    ],
    ["a prefix without segments", { url: URL, events: [".*"] }, { "events.0": "unknown_event_type" }],
    ["a description of 501 characters", { url: URL, description: "x".repeat(501) }, { description: /./ }],
    ["a NUL in the description", { url: URL, description: "a\u0000" }, { description: /NUL/ }],
    ["a lone surrogate", { url: URL, description: "\uD800" }, { description: /Unicode/ }],
    ["enabled that is no boolean", { url: URL, enabled: "true" }, { enabled: /./ }],
    ["a rate limit of 0", { url: URL, rate_limit: 0 }, { rate_limit: /./ }],
    ["a rate limit of 1001", { url: URL, rate_limit: 1001 }, { rate_limit: /./ }],
    ["a rate limit of 1.5", { url: URL, rate_limit: 1.5 }, { rate_limit: /./ }],
    ["a reserved header", { url: URL, headers: { Host: "x" } }, { "headers.Host": "reserved_name" }],
    [
      "a header that objects take for their prototype",
      { url: URL, headers: { ["__proto__"]: "x", "X-A": "b" } },
      { "headers.__proto__": "reserved_name" },
    ],
    [
      "metadata of that name",
      { url: URL, metadata: { ["__proto__"]: "x" } },
      { "metadata.__proto__": "reserved_name" },
    ],
    [
      "a signature header",
      { url: URL, headers: { "X-Service-Signature": "x" } },
      { "headers.X-Service-Signature": /./ },
    ],
    [
      "a hop-by-hop header",
      { url: URL, headers: { Connection: "x" } },
      { "headers.Connection": "hop_by_hop" },
    ],
    [
      "a header with a line break",
      { url: URL, headers: { "X-A": "b\r\nX-C: d" } },
      { "headers.X-A": "value_syntax" },
    ],
    ["a header value of 1,025", { url: URL, headers: { "X-A": "v".repeat(1025) } }, { "headers.X-A": /./ }],
    [
      "one header in two cases",
      { url: URL, headers: { "X-A": "1", "x-a": "2" } },
      { "headers.x-a": /twice/ },
    ],
    [
      "21 headers",
      { url: URL, headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, "v"])) },
      { headers: /20/ },
    ],
    ["metadata of numbers", { url: URL, metadata: { a: 1 } }, { "metadata.a": /./ }],
    ["metadata above 4 KiB", { url: URL, metadata: { a: "x".repeat(4096) } }, { metadata: /4096/ }],
    ["a NUL in a metadata key", { url: URL, metadata: { "a\u0000": "b" } }, { "metadata.a\u0000": /./ }],
  ];
  for (const [name, json, expected] of invalid) {
    it(`answers Validation failed to ${name}, on create and on update`, async () => {
      const { endpoint } = await webhooks.create();
      const requests = [["POST", ""]];
      if (!("url" in expected) || name.startsWith("a url")) requests.push(["PATCH", `/${endpoint.id}`]);
      for (const [method = "", path = ""] of requests) {
        const found = issuesOf(await webhooks.call(method, path, { json }));
        assert.deepEqual(Object.keys(found), Object.keys(expected));
        for (const [at, message] of Object.entries(expected))
          assert.match(found[at] ?? "", new RegExp(message));
      }
      await webhooks.remove(endpoint.id);
    });
  }

  it("counts a description in characters, not in UTF-16 units", async () => {
    const description = "🍰".repeat(500);
    const { endpoint } = await webhooks.create({ url: URL, description });
    assert.equal(endpoint.description, description);
    issuesOf(await webhooks.call("POST", "", { json: { url: URL, description: `${description}x` } }));
  });
});

describe("GET /api/webhooks", () => {
  it("lists the tenant's endpoints, newest first, as their own routes show them", async () => {
    const older = await webhooks.create({ url: `${URL}/older` });
    const newer = await webhooks.create({ url: `${URL}/newer` });
    assert.deepEqual((await webhooks.list()).slice(0, 2), [newer.endpoint, older.endpoint]);
  });

  it("answers an empty list to a tenant that has none", async () => {
    assert.deepEqual(await webhooksOf(service, { ...OWNER, tid: "nobody" }).list(), []);
  });
});

describe("GET /api/webhooks/:id", () => {
  it("shows the five most recent deliveries, newest first", async () => {
    const { endpoint } = await webhooks.create();
    for (let n = 0; n < 6; n++) await webhooks.test(endpoint.id, "invoice.paid");
    const { recent_deliveries } = await webhooks.detail(endpoint.id);
    assert.equal(recent_deliveries.length, 5);
    assert.deepEqual(recent_deliveries, (await webhooks.deliveries(endpoint.id)).slice(0, 5));
  });
});

describe("PATCH /api/webhooks/:id", () => {
  it("changes what is given, and nothing else", async () => {
    const { endpoint } = await webhooks.create({ description: "before", metadata: { a: "1" } });
    const changed = await webhooks.update(endpoint.id, { description: null, rate_limit: 5 });
    assert.ok(changed.updated_at >= endpoint.updated_at);
    assert.deepEqual(
      { ...changed, updated_at: "" },
      { ...endpoint, description: null, rate_limit: 5, updated_at: "" },
    );
    assert.deepEqual((await webhooks.detail(endpoint.id)).endpoint, changed);
  });

  it("changes nothing for an empty object", async () => {
    const { endpoint } = await webhooks.create();
    assert.deepEqual(await webhooks.update(endpoint.id, {}), endpoint);
  });

  it("says why an endpoint is disabled, and clears it when enabled", async () => {
    const { endpoint } = await webhooks.create();
    assert.equal((await webhooks.update(endpoint.id, { enabled: false })).disabled_reason, "manual");
    const enabled = await webhooks.update(endpoint.id, { enabled: true });
    assert.deepEqual([enabled.enabled, enabled.disabled_reason], [true, null]);
  });

  it("refuses an unsafe URL and keeps the old one", async () => {
    const { endpoint } = await webhooks.create();
    const answer = await webhooks.call("PATCH", `/${endpoint.id}`, { json: { url: "https://10.1.2.3/" } });
    assertRefused(answer, REFUSED.unsafeUrl);
    assert.deepEqual((await webhooks.detail(endpoint.id)).endpoint, endpoint);
  });
});

describe("DELETE /api/webhooks/:id", () => {
  it("answers ok once, then not found on every route of the endpoint", async () => {
    const { endpoint } = await webhooks.create();
    await webhooks.remove(endpoint.id);
    const requests: [string, string, unknown?][] = [
      ["DELETE", ""],
      ["GET", ""],
      ["GET", "/health"],
      ["PATCH", "", {}],
      ["PATCH", "", { description: "x" }],
      ["POST", "/rotate-secret"],
      ["POST", "/test", { event_type: "invoice.paid" }],
    ];
    for (const [method, path, json] of requests) {
      assertRefused(await webhooks.call(method, `/${endpoint.id}${path}`, { json }), REFUSED.notFound);
    }
    assert.ok((await webhooks.list()).every(({ id }) => id !== endpoint.id));
  });
});

describe("the endpoint limit", () => {
  it("counts the endpoints that exist: a deleted one makes room", async () => {
    const tenant = webhooksOf(service, { ...OWNER, tid: "full" });
    const made = [];
    for (let n = 0; n < 100; n++) made.push(await tenant.create({ url: URL }));
    assertRefused(await tenant.call("POST", "", { json: { url: URL } }), REFUSED.limitReached);
    await tenant.remove(made[0]?.endpoint.id ?? "");
    await tenant.create({ url: URL });
  });
});
