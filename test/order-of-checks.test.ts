/** Which refusal comes first where several are due. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MEMBER, OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID } from "./support/webhooks.ts";

const HUGE = "x".repeat(1024 * 1024 + 1);
const UNSAFE = { url: "https://10.0.0.1/" };
const NOBODY = { type: "user", tid: "acme", sub: "eve" };
const NOT_TENANT = { type: "user", tid: "no tenant", sub: "eve", role: "owner" };

const ROUTES: [string, string, "settings:read" | "settings:write"][] = [
  ["GET", "/events", "settings:read"],
  ["GET", "", "settings:read"],
  ["GET", "/", "settings:read"],
  ["POST", "", "settings:write"],
  ["POST", "/", "settings:write"],
  ["GET", `/${UNKNOWN_ID}`, "settings:read"],
  ["PATCH", `/${UNKNOWN_ID}`, "settings:write"],
  ["DELETE", `/${UNKNOWN_ID}`, "settings:write"],
  ["POST", `/${UNKNOWN_ID}/rotate-secret`, "settings:write"],
  ["GET", `/${UNKNOWN_ID}/deliveries`, "settings:read"],
  ["GET", `/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}`, "settings:read"],
  ["POST", `/${UNKNOWN_ID}/deliveries/${UNKNOWN_ID}/retry`, "settings:write"],
  ["GET", `/${UNKNOWN_ID}/health`, "settings:read"],
  ["POST", `/${UNKNOWN_ID}/test`, "settings:write"],
  ["POST", `/${UNKNOWN_ID}/leases`, "settings:write"],
  ["POST", `/${UNKNOWN_ID}/acks`, "settings:write"],
];

let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const call = (method: string, path: string, options?: CallOptions) =>
  service.call(method, `/api/webhooks${path}`, options);

describe("401 comes first", () => {
  it("on every route, whatever the session lacks", async () => {
    for (const [method, path] of ROUTES) {
      const raw = method === "GET" ? undefined : "{";
      for (const as of [null, PRODUCER, NOT_TENANT, { ...OWNER, tid: "" }, { ...OWNER, type: "admin" }]) {
        assertRefused(
          await call(method, path, { as, ...(raw === undefined ? {} : { raw }) }),
          REFUSED.unauthorized,
        );
      }
    }
  });

  it("on paths that do not exist, on wrong methods and on paths that cannot be decoded", async () => {
    const paths = [
      "/a/b/c/d",
      `/${UNKNOWN_ID}/nope`,
      "/%",
      "/%zz",
      "/%C3%28",
      "/%/%",
      `/${UNKNOWN_ID}/deliveries/%/retry`,
    ];
    for (const path of paths) assertRefused(await call("GET", path, { as: null }), REFUSED.unauthorized);
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"]) {
      assertRefused(await call(method, "", { as: null }), REFUSED.unauthorized);
    }
    assertRefused(await call("PATCH", "/events", { as: null }), REFUSED.unauthorized);
    assertRefused(await call("GET", `/${"a".repeat(15_000)}`, { as: null }), REFUSED.unauthorized);
  });

  it("before a body that is too large is read", async () => {
    assertRefused(await call("POST", "", { as: null, raw: HUGE }), REFUSED.unauthorized);
    const answer = await service.call("POST", "/api/events", { as: OWNER, raw: HUGE });
    assertRefused(answer, REFUSED.unauthorized);
  });
});

describe("403 comes next", () => {
  it("on every route, before its body, its query and its lookups", async () => {
    for (const [method, path, permission] of ROUTES) {
      const raw = method === "GET" ? undefined : HUGE;
      const callers = permission === "settings:write" ? [NOBODY, MEMBER] : [NOBODY];
      for (const as of callers) {
        assertRefused(
          await call(method, path, { as, ...(raw === undefined ? {} : { raw }) }),
          REFUSED.forbidden,
        );
      }
    }
    for (const path of [
      `/webhooks/${UNKNOWN_ID}/deliveries?page=0`,
      "/deliveries?limit=0",
      "/events?limit=0",
    ]) {
      assertRefused(await service.call("GET", `/api${path}`, { as: NOBODY }), REFUSED.forbidden);
      assertRefused(await service.call("GET", `/api${path}`, { as: null }), REFUSED.unauthorized);
    }
  });

  it("lets the permission through that each route names", async () => {
    for (const [method, path, permission] of ROUTES) {
      const as = { ...NOBODY, permissions: [permission] };
      const answer = await call(method, path, { as });
      if (path.endsWith("rotate-secret")) assertRefused(answer, REFUSED.ownerRequired);
      else assert.ok(answer.status !== 401 && answer.status !== 403, `${method} ${path}`);
    }
  });

  it("on publishing, before the body", async () => {
    const as = { ...PRODUCER, permissions: ["settings:write"] };
    assertRefused(await service.call("POST", "/api/events", { as, raw: HUGE }), REFUSED.forbidden);
  });
});

describe("404 and 405 come before the body", () => {
  it("on unknown paths and wrong methods", async () => {
    assertRefused(await call("POST", "/a/b/c", { raw: HUGE }), REFUSED.notFound);
    assertRefused(await call("PUT", "", { raw: HUGE }), REFUSED.methodNotAllowed);
    for (const path of ["/%", "/%zz", "/%C3%28", "/%/%"])
      assertRefused(await call("GET", path), REFUSED.notFound);
  });
});

describe("413 comes before validation", () => {
  it("on every route that takes a body", async () => {
    for (const [method, path] of ROUTES.filter(([name]) => name === "POST" || name === "PATCH")) {
      if (path.endsWith("/retry")) continue;
      assertRefused(await call(method, path, { raw: HUGE }), REFUSED.tooLarge);
    }
    assertRefused(await service.call("POST", "/api/events", { as: PRODUCER, raw: HUGE }), REFUSED.tooLarge);
  });
});

describe("validation comes before lookups", () => {
  it("on PATCH: the body, then the URL's safety, then the endpoint", async () => {
    const path = `/${UNKNOWN_ID}`;
    issuesOf(await call("PATCH", path, { json: { ...UNSAFE, enabled: 1 } }));
    assertRefused(await call("PATCH", path, { json: UNSAFE }), REFUSED.unsafeUrl);
    assertRefused(await call("PATCH", path, { json: {} }), REFUSED.notFound);
  });

  it("on create: the body, then the URL's safety", async () => {
    issuesOf(await call("POST", "", { json: { ...UNSAFE, events: [] } }));
    assertRefused(await call("POST", "", { json: UNSAFE }), REFUSED.unsafeUrl);
  });

  it("on rotate: the role, then the body, then the endpoint", async () => {
    const path = `/${UNKNOWN_ID}/rotate-secret`;
    const json = { grace_seconds: -1 };
    assertRefused(await call("POST", path, { as: { ...OWNER, role: "admin" }, json }), REFUSED.ownerRequired);
    issuesOf(await call("POST", path, { json }));
    assertRefused(await call("POST", path, { json: { grace_seconds: 1 } }), REFUSED.notFound);
  });

  it("on test: the event type, then the endpoint", async () => {
    issuesOf(await call("POST", `/${UNKNOWN_ID}/test`, { json: { event_type: "nope" } }));
    const answer = await call("POST", `/${UNKNOWN_ID}/test`, { json: { event_type: "invoice.paid" } });
    assertRefused(answer, REFUSED.notFound);
  });
});
