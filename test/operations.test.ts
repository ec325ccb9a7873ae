/** The operator's routes, and what every answer of the program has in common. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { builtInCatalog } from "../src/events/built-in-catalog.ts";
import { MEMBER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { assertRefused, REFUSED, UNKNOWN_ID, webhooksOf } from "./support/webhooks.ts";

const OPENAPI = join(import.meta.dirname, "..", "docs", "openapi.json");
const METRICS_TOKEN = "a metrics token";
const ISO = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z$/;

let service: TestService;
let mounted: TestService;
/** Of memory, at the start of the second. */
let collections = 0;

before(async () => {
  service = await startTestService();
  const { gc } = globalThis;
  Object.assign(globalThis, { gc: () => collections++ });
  mounted = await startTestService({ env: { BASE_PATH: "/postern/", METRICS_TOKEN } });
  Object.assign(globalThis, { gc });
});
after(async () => {
  await service.stop();
  await mounted.stop();
});

describe("a start", () => {
  it("gives back the memory that it alone needed, once", () => {
    assert.equal(collections, 1);
  });
});

describe("GET /health", () => {
  it("answers ok and the time, to anyone", async () => {
    for (const one of [service, mounted]) {
      const answer = await one.call("GET", "/health", { as: null });
      assert.equal(answer.status, 200);
      z.strictObject({ status: z.literal("ok"), timestamp: z.string().regex(ISO) }).parse(answer.body);
    }
  });
});

describe("GET /ready", () => {
  it("answers 200 when the database and its migrations are there", async () => {
    const answer = await service.call("GET", "/ready", { as: null });
    assert.deepEqual([answer.status, answer.body], [200, { status: "ready", warnings: [] }]);
  });

  it("answers 503 with the reason while migrations are missing, and /health stays 200", async () => {
    const database = await createTestDatabase({ migrated: false });
    const unmigrated = await startTestService({ database, roles: ["api"] });
    const answer = await unmigrated.call("GET", "/ready", { as: null });
    const health = await unmigrated.call("GET", "/health", { as: null });
    await unmigrated.stop();
    await database.drop();
    assert.deepEqual([answer.status, health.status], [503, 200]);
    const { reasons } = z
      .strictObject({
        status: z.literal("not ready"),
        error: z.literal("Not ready"),
        reasons: z.array(z.string()),
        warnings: z.array(z.string()),
      })
      .parse(answer.body);
    assert.match(reasons.join(), /^migrations are pending: 0001_/);
  });

  it("answers 503 while the database is out of reach, as routes do that need it, all with Retry-After", async () => {
    const cut = await startTestService({
      roles: ["api"],
      database: {
        url: "postgres://nobody@127.0.0.1:1/none",
        pool: service.database.pool,
        drop: async () => {},
      },
    });
    const ready = await cut.call("GET", "/ready", { as: null });
    const list = await cut.call("GET", "/api/webhooks");
    const published = await cut.call("POST", "/api/events", {
      as: PRODUCER,
      json: { type: "invoice.paid", data: {} },
    });
    await cut.stop();
    assert.deepEqual(
      [ready.status, ready.body],
      [
        503,
        {
          status: "not ready",
          error: "Not ready",
          reasons: ["the database cannot be reached"],
          warnings: [],
        },
      ],
    );
    for (const answer of [list, published]) assertRefused(answer, [503, { error: "Service unavailable" }]);
    for (const answer of [ready, list, published]) {
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    }
  });
});

describe("GET /metrics", () => {
  it("answers Prometheus text to anyone while no token is set", async () => {
    await service.call("GET", "/api/webhooks");
    const startedAt = performance.now();
    await service.call("GET", "/api/audit");
    const wholeS = (performance.now() - startedAt) / 1000;
    const answer = await service.call("GET", "/metrics", { as: null });
    assert.equal(answer.status, 200);
    const [, sum] =
      /^http_server_request_duration_seconds_sum\{.*"\/api\/audit\/?".*\} (.+)$/m.exec(answer.text) ?? [];
    assert.ok(Number(sum) > 0 && Number(sum) < wholeS, `${sum} of ${wholeS} seconds`);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=/);
    assert.match(
      answer.text,
      /^http_server_request_duration_seconds_count\{.*http_route="\/api\/webhooks\/?".*\} [1-9]/m,
    );
    for (const name of [
      "webhook_events_accepted_total",
      "webhook_queue_depth",
      "process_cpu_seconds_total",
    ]) {
      assert.ok(answer.text.includes(`# TYPE ${name} `), name);
    }
  });

  it("asks for the token that is set", async () => {
    const withToken = (token: string) =>
      mounted.call("GET", "/metrics", { as: null, headers: { authorization: `Bearer ${token}` } });
    assert.equal((await withToken(METRICS_TOKEN)).status, 200);
    assertRefused(await withToken("another"), REFUSED.unauthorized);
    assertRefused(await mounted.call("GET", "/metrics", { as: null }), REFUSED.unauthorized);
    assertRefused(await mounted.call("GET", "/metrics"), REFUSED.unauthorized);
  });

  it("has no tenant, id or path of a caller in it", async () => {
    await service.call("GET", `/api/webhooks/${UNKNOWN_ID}`);
    await service.call("GET", "/a-path-of-the-callers-own", { as: null });
    const { text } = await service.call("GET", "/metrics", { as: null });
    for (const word of [UNKNOWN_ID, "a-path-of-the-callers-own", "acme"])
      assert.ok(!text.includes(word), word);
  });
});

describe("GET /openapi.json", () => {
  it("answers the document that the repository holds", async () => {
    const committed: unknown = JSON.parse(await readFile(OPENAPI, "utf8"));
    const answer = await service.call("GET", "/openapi.json", { as: null });
    assert.deepEqual([answer.status, answer.body], [200, committed]);
  });

  it("leaves no list of types to generators of clients, which know none", async () => {
    const committed = await readFile(OPENAPI, "utf8");
    const lists = committed.replaceAll(/\s+/g, "").match(/"type":\["[a-z]+","(?!null)[^\]]*/g);
    assert.equal(lists, null);
  });

  it("names the base path as its server", async () => {
    const { servers, paths } = Object((await mounted.call("GET", "/openapi.json", { as: null })).body);
    assert.deepEqual(servers, [{ url: "/postern" }]);
    assert.ok("/api/webhooks" in paths);
  });

  it("describes every route of the contract", async () => {
    const { paths } = Object((await service.call("GET", "/openapi.json", { as: null })).body);
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(Object(item)).map((method) => `${method} ${path}`),
    );
    assert.deepEqual(routes.sort(), [
      "delete /api/portal/sessions",
      "delete /api/storage/objects/{object_id}",
      "delete /api/storage/objects/{object_id}/hold",
      "delete /api/tenants/{tenant_id}",
      "delete /api/webhooks/{id}",
      "get /api/audit",
      "get /api/deliveries",
      "get /api/deliveries/stream",
      "get /api/deliveries/{did}",
      "get /api/events",
      "get /api/events/{event_id}",
      "get /api/replays",
      "get /api/replays/{replay_id}",
      "get /api/search",
      "get /api/session",
      "get /api/stats",
      "get /api/stats/causes",
      "get /api/stats/endpoints",
      "get /api/storage/exports",
      "get /api/storage/exports/{export_id}",
      "get /api/storage/library",
      "get /api/storage/objects/{object_id}",
      "get /api/storage/settings",
      "get /api/tenants",
      "get /api/tenants/{tenant_id}",
      "get /api/tenants/{tenant_id}/erasure",
      "get /api/webhooks",
      "get /api/webhooks/events",
      "get /api/webhooks/{id}",
      "get /api/webhooks/{id}/deliveries",
      "get /api/webhooks/{id}/deliveries/{did}",
      "get /api/webhooks/{id}/health",
      "get /health",
      "get /metrics",
      "get /ready",
      "patch /api/webhooks/{id}",
      "post /api/events",
      "post /api/events/{event_id}/send",
      "post /api/portal/codes",
      "post /api/portal/sessions",
      "post /api/portal/sessions/renew",
      "post /api/replays",
      "post /api/replays/{replay_id}/cancel",
      "post /api/storage/exports",
      "post /api/storage/objects/{object_id}/download",
      "post /api/tenants/{tenant_id}/tokens",
      "post /api/url-checks",
      "post /api/webhooks",
      "post /api/webhooks/{id}/acks",
      "post /api/webhooks/{id}/deliveries/{did}/retry",
      "post /api/webhooks/{id}/leases",
      "post /api/webhooks/{id}/rotate-secret",
      "post /api/webhooks/{id}/test",
      "put /api/storage/objects/{object_id}/hold",
      "put /api/storage/settings",
    ]);
  });
});

describe("GET /api/webhooks/events", () => {
  it("answers the catalog as an array, the service's own events in it", async () => {
    const answer = await service.call("GET", "/api/webhooks/events", { as: MEMBER });
    assert.equal(answer.status, 200);
    const entries = z.array(z.object({ type: z.string(), payloadShape: z.record(z.string(), z.unknown()) }));
    const types = entries.parse(answer.body).map(({ type }) => type);
    for (const { type } of builtInCatalog) assert.ok(types.includes(type), type);
    assert.ok(types.length >= 10 && types.includes("endpoint.disabled"));
  });
});

describe("a base path", () => {
  it("is where everything is, and nothing is beside it", async () => {
    assert.equal((await mounted.call("GET", "/api/webhooks")).status, 200);
    assertRefused(await mounted.call("GET", "/api/webhooks", { as: null }), REFUSED.unauthorized);
    const origin = mounted.url.slice(0, -"/postern".length);
    for (const path of ["/health", "/api/webhooks", "/posternhealth"]) {
      const response = await fetch(`${origin}${path}`);
      assert.deepEqual([response.status, await response.json()], [404, { error: "Not found" }]);
    }
  });

  it("begins the addresses that an answer gives", async () => {
    const { endpoint } = await webhooksOf(mounted).create();
    const hit = { kind: "endpoint", href: `/postern/api/webhooks/${endpoint.id}` };
    assert.deepEqual((await mounted.call("GET", `/api/search?q=${endpoint.id}`)).body, [hit]);
    // A second entry, so that the first one's page has a next one.
    await webhooksOf(mounted).remove(endpoint.id);
    const { headers } = await mounted.call("GET", "/api/audit?limit=1");
    assert.match(headers.get("link") ?? "none", /^<\/postern\/api\/audit\?limit=1&before=/);
  });
});

describe("methods and paths", () => {
  it("answers the collection with and without a trailing slash", async () => {
    assert.equal((await service.call("GET", "/api/webhooks/")).status, 200);
    const json = { url: service.receiver.url };
    assert.equal((await service.call("POST", "/api/webhooks/", { json })).status, 201);
    const { deliveries: list } = Object(
      (await service.call("GET", `/api/webhooks/${UNKNOWN_ID}/deliveries`)).body,
    );
    assert.deepEqual(list, []);
  });

  it("answers 404 to paths that are none, everywhere", async () => {
    for (const path of [
      "/",
      "/nope",
      "/api",
      "/api/",
      `/api/webhooks/${UNKNOWN_ID}/nope`,
      "/api/events/x",
      "/health/x",
    ]) {
      assertRefused(await service.call("GET", path), REFUSED.notFound);
    }
    for (const method of ["POST", "QUERY", "DELETE", "PROPFIND"]) {
      assertRefused(await service.call(method, "/nope"), REFUSED.notFound);
    }
  });

  it("answers 405 with Allow to a method that a path does not have", async () => {
    const cases: [string, string, string][] = [
      ["PUT", "/api/webhooks", "GET, HEAD, POST"],
      ["PATCH", "/api/webhooks/", "GET, HEAD, POST"],
      ["PATCH", "/api/webhooks/events", "GET, HEAD"],
      ["DELETE", "/api/webhooks/events", "GET, HEAD"],
      ["POST", `/api/webhooks/${UNKNOWN_ID}`, "DELETE, GET, HEAD, PATCH"],
      ["GET", `/api/webhooks/${UNKNOWN_ID}/rotate-secret`, "POST"],
      ["POST", `/api/webhooks/${UNKNOWN_ID}/deliveries`, "GET, HEAD"],
      ["PUT", `/api/webhooks/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}`, "GET, HEAD"],
      ["GET", `/api/webhooks/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}/retry`, "POST"],
      ["QUERY", `/api/webhooks/${UNKNOWN_ID}/test`, "POST"],
      ["PUT", "/api/events", "GET, HEAD, POST"],
      ["DELETE", `/api/events/${UNKNOWN_ID}`, "GET, HEAD"],
      ["OPTIONS", "/health", "GET, HEAD"],
      ["POST", "/metrics", "GET, HEAD"],
    ];
    for (const [method, path, allow] of cases) {
      const answer = await service.call(method, path);
      assertRefused(answer, REFUSED.methodNotAllowed);
      assert.equal(answer.headers.get("allow"), allow, `${method} ${path}`);
    }
    assertRefused(await service.call("PUT", "/api/events", { as: PRODUCER }), REFUSED.methodNotAllowed);
  });

  it("answers HEAD as GET, without the body", async () => {
    const paths = [
      "/health",
      "/api/webhooks",
      `/api/webhooks/${UNKNOWN_ID}`,
      "/api/webhooks/events",
      "/nope",
    ];
    for (const path of paths) {
      const [get, head] = [await service.call("GET", path), await service.call("HEAD", path)];
      assert.deepEqual([head.status, head.text], [get.status, ""], path);
      assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), path);
    }
    assert.equal((await service.call("HEAD", "/api/webhooks", { as: null })).status, 401);
  });

  it("gives each answer a request id of its own", async () => {
    const ids = new Set<string | null>();
    const paths = ["/health", "/metrics", "/openapi.json", "/api/webhooks", "/nope", "/%", "/api/webhooks/%"];
    for (const path of paths) {
      for (const as of [undefined, null]) {
        const answer = await service.call("GET", path, as === undefined ? {} : { as });
        ids.add(answer.headers.get("x-request-id"));
      }
    }
    // A caller's own is not taken over: two calls could share it.
    const { headers } = await fetch(`${service.url}/health`, {
      headers: { "X-Request-Id": "of-the-caller" },
    });
    ids.add(headers.get("x-request-id"));
    assert.equal(ids.size, paths.length * 2 + 1);
    assert.ok(!ids.has(null) && !ids.has("of-the-caller"));
  });
});
