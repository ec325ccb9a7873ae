/** A dry run that a route does not know is refused: ignored, it would send, change or delete. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { OPERATOR } from "./support/portal.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID, webhooksOf } from "./support/webhooks.ts";

const NAMES = ["dry_run", "dryRun", "dry-run", "dryrun"];
const ASKED = "this route has no dry run: nothing was done";
/** Elsewhere `dry_run` is refused, and where it belongs is said. */
const IN_QUERY = "DELETE /api/tenants/{tenant_id}";
const IN_BODY = new Set(["POST /api/replays", "POST /api/webhooks/{id}/test"]);

let service: TestService;
let changes: {
  route: string;
  call: (query: string, options?: CallOptions) => ReturnType<TestService["call"]>;
}[];

before(async () => {
  service = await startTestService();
  const { paths } = Object((await service.call("GET", "/openapi.json", { as: null })).body);
  changes = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(Object(item))
      .filter((method) => method !== "get")
      .map((name) => {
        const method = name.toUpperCase();
        const url = path.replaceAll(/\{\w+\}/g, UNKNOWN_ID);
        return {
          route: `${method} ${path}`,
          call: (query: string, options: CallOptions = {}) =>
            service.call(method, `${url}${query}`, { as: callerOf(path), ...options }),
        };
      }),
  );
});
after(() => service.stop());

function callerOf(path: string) {
  if (path === "/api/events") return PRODUCER;
  return /^\/api\/(?:tenants|portal\/codes)/.test(path) ? OPERATOR : OWNER;
}

describe("a route that changes something, and has no dry run", () => {
  it("answers Invalid query to dry_run in the query, however it is spelled and whatever it says", async () => {
    assert.ok(changes.length >= 20, String(changes.length));
    for (const { route, call } of changes) {
      if (route === IN_QUERY || route.startsWith("POST /api/portal/sessions/")) continue;
      if (route === "DELETE /api/portal/sessions") continue;
      const said = IN_BODY.has(route) ? "dry_run is a member of the body" : ASKED;
      for (const name of NAMES) {
        const found = issuesOf(await call(`?${name}=true`), "Invalid query");
        assert.deepEqual(found, { [name]: said }, route);
      }
      issuesOf(await call("?dry_run="), "Invalid query");
      issuesOf(await call("?a=b&dry_run=false&dry_run=true"), "Invalid query");
    }
  });

  it("answers Validation failed to dry_run in the body, in each object of an array too", async () => {
    for (const { route, call } of changes) {
      if (IN_BODY.has(route) || route.includes("/api/portal/sessions/")) continue;
      if (route === "DELETE /api/portal/sessions") continue;
      const said = route === IN_QUERY ? "dry_run is a query parameter" : ASKED;
      for (const name of NAMES) {
        assert.deepEqual(issuesOf(await call("", { json: { [name]: true } })), { [name]: said }, route);
        const json = [{ type: "invoice.paid", data: {} }, { [name]: true }];
        assert.deepEqual(issuesOf(await call("", { json })), { [`1.${name}`]: said }, route);
      }
    }
  });

  it("does nothing then: no test is sent, no endpoint made or deleted", async () => {
    const webhooks = webhooksOf(service);
    const { endpoint } = await webhooks.create({ url: service.receiver.url });
    const asked = "?dry_run=true";
    const json = { event_type: "invoice.paid" };
    for (const [method, path] of [
      ["POST", ""],
      ["POST", `/${endpoint.id}/test`],
      ["PATCH", `/${endpoint.id}`],
      ["DELETE", `/${endpoint.id}`],
      ["POST", `/${endpoint.id}/rotate-secret`],
    ] as const)
      issuesOf(await webhooks.call(method, `${path}${asked}`, { json }), "Invalid query");
    assert.deepEqual(await webhooks.deliveries(endpoint.id), []);
    assert.equal((await webhooks.list()).length, 1);
  });

  it("says so behind the checks of the session, and on no path that is none", async () => {
    for (const { route, call } of changes) {
      if (route === "POST /api/portal/sessions") continue;
      assertRefused(await call("?dry_run=true", { as: null }), REFUSED.unauthorized);
    }
    const answer = await service.call("POST", "/api/webhooks/a/b/c?dry_run=true");
    assertRefused(answer, REFUSED.notFound);
  });
});

describe("a route that reads", () => {
  it("ignores dry_run, as every parameter that it does not know", async () => {
    assert.equal((await service.call("GET", "/api/webhooks?dry_run=true")).status, 200);
  });
});
