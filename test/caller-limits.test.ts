/** Limits on callers, over HTTP. Each is one a minute here, so that no test is long enough to get a second. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ApiAnswer, CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, REFUSED, UNKNOWN_ID } from "./support/webhooks.ts";

const TOO_MANY = [429, { error: "Too many requests" }] as const;
const HUGE = "x".repeat(1024 * 1024 + 1);

let service: TestService;
let proxied: TestService;
let tenants = 0;

before(async () => {
  const env = {
    RATE_LIMIT_WRITES: "1",
    RATE_LIMIT_DISPATCHES: "1",
    RATE_LIMIT_FETCHES: "1",
    RATE_LIMIT_AUTH: "1",
  };
  service = await startTestService({ env: { ...env, METRICS_TOKEN: "a token" } });
  proxied = await startTestService({
    env: { ...env, RATE_LIMIT_WRITES: "0", TRUSTED_PROXIES: "127.0.0.0/8" },
    roles: ["api"],
  });
});
after(async () => {
  await service.stop();
  await proxied.stop();
});

/** A tenant that nobody has called for yet, with each of its users. */
function newTenant() {
  const tid = `tenant-${++tenants}`;
  const as = (role: string) => ({ type: "user", tid, sub: "ada", role });
  const call = (method: string, path: string, options: CallOptions = {}) =>
    service.call(method, `/api/webhooks${path}`, { as: as("owner"), ...options });
  return { as, call };
}

function limitOf(answer: ApiAnswer): (string | null)[] {
  return [answer.headers.get("ratelimit-policy"), answer.headers.get("ratelimit")];
}

function assertLimited(answer: ApiAnswer, name: string): void {
  assertRefused(answer, TOO_MANY);
  const wait = answer.headers.get("retry-after") ?? "";
  assert.ok(Number(wait) >= 1 && Number(wait) <= 60, wait);
  assert.deepEqual(limitOf(answer), [`"${name}";q=1;w=60`, `"${name}";r=0;t=${wait}`]);
}

/** A failed authentication at the service behind a proxy, which says where it is from. */
function failed(from: string): Promise<ApiAnswer> {
  const headers = { "X-Forwarded-For": from };
  return proxied.call("POST", "/api/webhooks", { as: null, raw: HUGE, headers });
}

describe("the limit on a tenant's changes", () => {
  it("is told with each answer, and refuses what is beyond it", async () => {
    const { call } = newTenant();
    const created = await call("POST", "", { json: { url: service.receiver.url } });
    assert.equal(created.status, 201);
    assert.deepEqual(limitOf(created), ['"writes";q=1;w=60', '"writes";r=0;t=60']);
    assertLimited(await call("POST", "", { json: { url: service.receiver.url } }), "writes");
  });

  it("is common to every kind of change", async () => {
    const { call } = newTenant();
    assert.equal((await call("DELETE", `/${UNKNOWN_ID}`)).status, 404);
    const changes: [string, string][] = [
      ["POST", ""],
      ["POST", "/"],
      ["PATCH", `/${UNKNOWN_ID}`],
      ["DELETE", `/${UNKNOWN_ID}`],
      ["POST", `/${UNKNOWN_ID}/rotate-secret`],
    ];
    for (const [method, path] of changes) assertLimited(await call(method, path), "writes");
  });

  it("includes what a tenant does with stored artifacts: each leaves rows, in the audit log too", async () => {
    const changes: [string, string][] = [
      ["PUT", "/settings"],
      ["POST", "/exports"],
      ["POST", `/objects/${UNKNOWN_ID}/download`],
    ];
    for (const [method, path] of changes) {
      const { as, call } = newTenant();
      const change = (raw: string) => service.call(method, `/api/storage${path}`, { as: as("owner"), raw });
      assert.deepEqual(limitOf(await change("{")), ['"writes";q=1;w=60', '"writes";r=0;t=60']);
      assertLimited(await change(HUGE), "writes");
      assertLimited(await call("DELETE", `/${UNKNOWN_ID}`), "writes");
      const read = await service.call("GET", "/api/storage/library", { as: as("owner") });
      assert.deepEqual([read.status, ...limitOf(read)], [200, null, null]);
    }
  });

  it("counts what is refused as invalid or too large, and tells so", async () => {
    for (const [raw, status] of [
      ["{", 400],
      [HUGE, 413],
    ] as const) {
      const { call } = newTenant();
      const refused = await call("POST", "", { raw });
      assert.equal(refused.status, status);
      assert.deepEqual(limitOf(refused), ['"writes";q=1;w=60', '"writes";r=0;t=60']);
      assertLimited(await call("POST", "", { raw }), "writes");
    }
  });

  it("comes after 403, also for the role, and before the body is read or looked at", async () => {
    const { as, call } = newTenant();
    await call("DELETE", `/${UNKNOWN_ID}`);
    for (const raw of ["{", HUGE]) {
      assertRefused(await call("POST", "", { as: as("member"), raw }), REFUSED.forbidden);
      const rotate = `/${UNKNOWN_ID}/rotate-secret`;
      assertRefused(await call("POST", rotate, { as: as("admin"), raw }), REFUSED.ownerRequired);
      assertLimited(await call("POST", "", { raw }), "writes");
      assertLimited(await call("POST", rotate, { raw }), "writes");
    }
  });

  it("counts neither what is refused before it, nor what does not exist, nor reading", async () => {
    const { as, call } = newTenant();
    await call("POST", "", { as: as("member"), raw: "{" });
    assertRefused(await call("POST", "/a/b/c"), REFUSED.notFound);
    assertRefused(await call("PUT", ""), REFUSED.methodNotAllowed);
    for (const path of ["", "/events", `/${UNKNOWN_ID}/deliveries`]) {
      const read = await call("GET", path);
      assert.equal(read.status, 200);
      assert.deepEqual(limitOf(read), [null, null]);
    }
    assert.equal((await call("POST", "", { raw: "{" })).status, 400);
  });

  it("is each tenant's own", async () => {
    const [one, other] = [newTenant(), newTenant()];
    await one.call("DELETE", `/${UNKNOWN_ID}`);
    assertLimited(await one.call("DELETE", `/${UNKNOWN_ID}`), "writes");
    assert.equal((await other.call("DELETE", `/${UNKNOWN_ID}`)).status, 404);
  });

  it("is off at 0", async () => {
    const as = { type: "user", tid: "acme", sub: "ada", role: "owner" };
    for (let again = 0; again < 3; again++) {
      const answer = await proxied.call("DELETE", `/api/webhooks/${UNKNOWN_ID}`, { as });
      assert.deepEqual([answer.status, ...limitOf(answer)], [404, null, null]);
    }
  });
});

describe("every route that a tenant's user can change something by", () => {
  it("has one of the three limits", async () => {
    const document = await service.call("GET", "/openapi.json", { as: null });
    const paths: Record<string, object> = Object(document.body).paths;
    const changes = Object.entries(paths)
      // Of the operator's backend, and of sessions by themselves.
      .filter(([path]) => path !== "/api/events" && !/^\/api\/(?:tenants|portal)\b/.test(path))
      .flatMap(([path, item]) => Object.keys(item).map((method) => [method.toUpperCase(), path] as const))
      .filter(([method]) => method !== "GET");
    assert.ok(changes.length >= 9, String(changes.length));
    for (const [method, path] of changes) {
      const { as } = newTenant();
      const answer = await service.call(method, path.replaceAll(/\{\w+\}/g, UNKNOWN_ID), {
        as: as("owner"),
        raw: "{",
      });
      assert.match(limitOf(answer)[0] ?? "", /^"(writes|dispatches|fetches)";/, `${method} ${path}`);
    }
  });
});

describe("the limit on a tenant's tests and retries", () => {
  it("is one for both, and apart from changes", async () => {
    const { call } = newTenant();
    await call("DELETE", `/${UNKNOWN_ID}`);
    const tested = await call("POST", `/${UNKNOWN_ID}/test`, { json: { event_type: "invoice.paid" } });
    assert.equal(tested.status, 404);
    assert.deepEqual(limitOf(tested), ['"dispatches";q=1;w=60', '"dispatches";r=0;t=60']);
    assertLimited(await call("POST", `/${UNKNOWN_ID}/test`, { raw: HUGE }), "dispatches");
    assertLimited(await call("POST", `/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}/retry`), "dispatches");
  });
});

describe("the limit on the calls of a tenant's clients", () => {
  it("is one for leases and acknowledgements, and apart from changes", async () => {
    const { call } = newTenant();
    await call("DELETE", `/${UNKNOWN_ID}`);
    const leased = await call("POST", `/${UNKNOWN_ID}/leases`, { json: {} });
    assert.equal(leased.status, 404);
    assert.deepEqual(limitOf(leased), ['"fetches";q=1;w=60', '"fetches";r=0;t=60']);
    assertLimited(await call("POST", `/${UNKNOWN_ID}/leases`, { raw: HUGE }), "fetches");
    assertLimited(await call("POST", `/${UNKNOWN_ID}/acks`, { json: {} }), "fetches");
  });
});

describe("the limit on failed authentications", () => {
  it("answers 429 in place of 401, wherever the address fails, and lets a good session through", async () => {
    const first = await service.call("GET", "/api/webhooks", { as: null });
    assertRefused(first, REFUSED.unauthorized);
    assert.deepEqual(limitOf(first), ['"authentications";q=1;w=60', '"authentications";r=0;t=60']);
    for (const path of ["/api/webhooks", "/api/webhooks/no/such/path", "/api/audit", "/metrics"]) {
      assertLimited(await service.call("GET", path, { as: null }), "authentications");
    }
    const forged = { as: null, headers: { authorization: "Bearer a.b.c" } };
    assertLimited(await service.call("POST", "/api/events", { ...forged, raw: HUGE }), "authentications");
    // Without trusted proxies this header is anybody's to write.
    const elsewhere = { as: null, headers: { "X-Forwarded-For": "203.0.113.7" } };
    assertLimited(await service.call("GET", "/api/webhooks", elsewhere), "authentications");
    const { call } = newTenant();
    const good = await call("GET", "");
    assert.deepEqual([good.status, ...limitOf(good)], [200, null, null]);
    assertRefused(
      await call("GET", "", { as: { type: "user", tid: "acme", sub: "eve" } }),
      REFUSED.forbidden,
    );
    const metrics = await service.call("GET", "/metrics", {
      as: null,
      headers: { authorization: "Bearer a token" },
    });
    assert.equal(metrics.status, 200);
    assert.match(metrics.text, /^http_server_rate_limited_total\{limit="authentications"\} 6$/m);
    assert.ok(!metrics.text.includes("tenant-"));
  });

  it("counts behind a trusted proxy the address that the proxy saw", async () => {
    assertRefused(await failed("203.0.113.1"), REFUSED.unauthorized);
    assertLimited(await failed("203.0.113.1"), "authentications");
    assertRefused(await failed("203.0.113.2"), REFUSED.unauthorized);
    // What stands before it was written by the caller.
    assertLimited(await failed("198.51.100.9, 203.0.113.2"), "authentications");
    assertLimited(await failed("203.0.113.1, 127.0.0.8"), "authentications");
  });

  it("counts an IPv6 network as one", async () => {
    assertRefused(await failed("2001:db8:0:1::1"), REFUSED.unauthorized);
    assertLimited(await failed("2001:db8:0:1:ffff::2"), "authentications");
    assertRefused(await failed("2001:db8:0:2::1"), REFUSED.unauthorized);
  });
});
