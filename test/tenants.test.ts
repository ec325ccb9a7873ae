/** The operator's routes on all tenants: who may call them, what they show, and tokens for one tenant. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { tenantObject } from "../src/api/tenant-schemas.ts";
import { auditAnswer } from "./support/audit.ts";
import { callWith, codeOf, OPERATOR, swap, tokenOf } from "./support/portal.ts";
import { runProgram } from "./support/program.ts";
import { OWNER, type Claims } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { temporaryPath } from "./support/temporary.ts";
import { assertRefused, issuesOf, REFUSED, webhooksOf } from "./support/webhooks.ts";

const HUGE = "x".repeat(1024 * 1024 + 1);
const ROUTES = [
  ["GET", "/api/tenants", "tenants:read"],
  ["GET", "/api/tenants/acme", "tenants:read"],
  ["GET", "/api/tenants/acme/erasure", "tenants:read"],
  ["POST", "/api/tenants/acme/tokens", "tenants:act"],
  ["DELETE", "/api/tenants/acme", "tenants:erase"],
] as const;
const IDS = ["Zeta", "a-1", "a_2", "acme", "acme-2", "globex", "zeta"];

let service: TestService;

before(async () => {
  service = await startTestService({ roles: ["api"] });
  for (const tid of IDS) await webhooksOf(service, { ...OWNER, tid }).create();
  await webhooksOf(service).create({ enabled: false });
  // Of what fails at globex, one is disabled and one deleted.
  const globex = webhooksOf(service, { ...OWNER, tid: "globex" });
  await globex.create({ enabled: false });
  await globex.remove((await globex.create()).endpoint.id);
  await service.database.pool.query(
    "UPDATE postern.endpoints SET failing_since = now() WHERE tenant_id = 'globex'",
  );
  await service.database.pool.query(
    `INSERT INTO postern.delivery_stats (tenant_id, endpoint_id, grain, at, cause, count, sent, latency_sum_ms,
        latency_max_ms, first_id, last_id)
      SELECT 'acme', '00000000-0000-0000-0000-000000000000', grain, date_trunc('hour', now()) - ago, cause, count,
        count, 1, 1, postern.uuid_v7(), postern.uuid_v7()
      FROM (VALUES (60, interval '0', '', 40), (60, '5 hours', 'timeout', 2), (60, '30 hours', '', 900),
        (10, '0', '', 40), (1440, '0', '', 40)) AS given (grain, ago, cause, count)`,
  );
});
after(() => service.stop());

const as = (permission: string): Claims => ({ ...OPERATOR, permissions: [permission] });

async function list(query = "") {
  const answer = await service.call("GET", `/api/tenants${query}`, { as: OPERATOR });
  assert.equal(answer.status, 200, answer.text);
  const { tenants } = z.strictObject({ tenants: z.array(tenantObject.strict()) }).parse(answer.body);
  const [, next] = /^<\/api\/tenants(\?[^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "") ?? [];
  return { tenants, ids: tenants.map(({ id }) => id), next };
}

describe("every route", () => {
  it("is for a service of all tenants with its permission, before the body is read", async () => {
    for (const [method, path, permission] of ROUTES) {
      const body = method === "GET" ? {} : { raw: HUGE };
      const refused = async (caller: Claims | null, refusal: readonly [number, object]) =>
        assertRefused(await service.call(method, path, { as: caller, ...body }), refusal);
      await refused(null, REFUSED.unauthorized);
      await refused({ ...OWNER, permissions: [permission] }, REFUSED.unauthorized);
      await refused({ ...OWNER, tid: "*", permissions: [permission] }, REFUSED.unauthorized);
      await refused({ ...as(permission), tid: "acme" }, REFUSED.forbidden);
      for (const other of ["tenants:read", "tenants:act", "tenants:erase", "events:write"])
        if (other !== permission) await refused(as(other), REFUSED.forbidden);
      if (method !== "GET") await refused(as(permission), REFUSED.tooLarge);
    }
    assertRefused(await service.call("PUT", "/api/tenants", { as: OPERATOR }), REFUSED.methodNotAllowed);
    assertRefused(await service.call("GET", "/api/tenants/a/b/c", { as: OPERATOR }), REFUSED.notFound);
  });

  it("answers 404 for what is no tenant's id, and changes nothing", async () => {
    for (const id of ["nobody", "no%20tenant", "*", "a%2Fb", "x".repeat(65)]) {
      for (const path of [id, `${id}/erasure`])
        assertRefused(await service.call("GET", `/api/tenants/${path}`, { as: OPERATOR }), REFUSED.notFound);
    }
    for (const id of ["no%20tenant", "*", "x".repeat(65)]) {
      const calls = [
        service.call("DELETE", `/api/tenants/${id}`, { as: OPERATOR }),
        service.call("POST", `/api/tenants/${id}/tokens`, { as: OPERATOR, json: { sub: "sam" } }),
      ];
      for (const answer of await Promise.all(calls)) assertRefused(answer, REFUSED.notFound);
    }
    for (const query of ["?dry_run=yes", "?dryrun=true"]) {
      const answer = await service.call("DELETE", `/api/tenants/acme${query}`, { as: OPERATOR });
      issuesOf(answer, "Invalid query");
    }
    // Where other routes have it.
    for (const raw of ['{"dry_run":true}', "[1]", "dry_run"]) {
      const answer = await service.call("DELETE", "/api/tenants/acme", { as: OPERATOR, raw });
      issuesOf(answer, "Validation failed");
    }
    const { rowCount } = await service.database.pool.query("SELECT FROM postern.tenant_erasures");
    assert.equal(rowCount, 0);
  });
});

describe("the list", () => {
  it("has every tenant once, page by page, in the order of bytes", async () => {
    assert.deepEqual((await list()).ids, IDS);
    const seen: string[] = [];
    for (let query: string | undefined = "?limit=3"; query !== undefined;) {
      const page = await list(query);
      seen.push(...page.ids);
      query = page.next;
    }
    assert.deepEqual(seen, IDS);
    assert.equal((await list(`?limit=${IDS.length}`)).next, undefined, "nothing is behind a full last page");
  });

  it("is narrowed by a prefix, in which nothing is a pattern", async () => {
    assert.deepEqual((await list("?prefix=a")).ids, ["a-1", "a_2", "acme", "acme-2"]);
    assert.deepEqual((await list("?prefix=acme")).ids, ["acme", "acme-2"]);
    assert.deepEqual((await list("?prefix=a_")).ids, ["a_2"]);
    assert.deepEqual((await list("?prefix=a&after=a_2&limit=1")).ids, ["acme"]);
    assert.deepEqual((await list("?prefix=zz")).ids, []);
    for (const query of ["?prefix=%25", "?prefix=a%00", "?limit=101", "?limit=0", "?after=a/b", "?page=2"])
      issuesOf(await service.call("GET", `/api/tenants${query}`, { as: OPERATOR }), "Invalid query");
  });

  it("counts endpoints, and the attempts of the last day", async () => {
    const acme = { id: "acme", endpoints: 2, enabled: 1, failing: 0, delivered: 40, failed: 2 };
    const answer = await service.call("GET", "/api/tenants/acme", { as: OPERATOR });
    assert.deepEqual(answer.body, { tenant: acme });
    const { tenants } = await list("?prefix=globex");
    assert.deepEqual(tenants, [
      { id: "globex", endpoints: 2, enabled: 1, failing: 1, delivered: 0, failed: 0 },
    ]);
  });

  it("counts the same hours whatever the time zone of a connection is", async () => {
    const { pool } = service.database;
    await pool.query(
      `INSERT INTO postern.delivery_stats (tenant_id, endpoint_id, grain, at, cause, count, sent, latency_sum_ms,
          latency_max_ms, first_id, last_id)
        VALUES ('zeta', '00000000-0000-0000-0000-000000000000', 60,
          date_trunc('hour', now(), 'UTC') - interval '24 hours', '', 7, 7, 1, 1, postern.uuid_v7(), postern.uuid_v7())`,
    );
    // Its hours begin a minute after those of UTC. Options of one's own take the place of Postern's.
    const url = new URL(service.database.url);
    url.searchParams.set("options", "-c TimeZone=X-00:59");
    const database = { ...service.database, url: url.href };
    const env = { ...service.env, DATA_DIR: temporaryPath("elsewhere") };
    const elsewhere = await startTestService({ roles: ["api"], database, env });
    try {
      const { body } = await elsewhere.call("GET", "/api/tenants/zeta", { as: OPERATOR });
      assert.equal(Object(body).tenant.delivered, 7);
    } finally {
      await elsewhere.stop();
    }
  });

  it("is all that an operator's session of the portal reaches", async () => {
    const json = { tenant_id: "*", sub: "sam" };
    const code = codeOf(await service.call("POST", "/api/portal/codes", { as: OPERATOR, json }));
    const { token } = tokenOf(await swap(service, code));
    assert.equal((await callWith(service, token, ["GET", "/api/tenants"])).status, 200);
    for (const [method, path] of [
      ["DELETE", "/api/tenants/acme"],
      ["POST", "/api/tenants/acme/tokens"],
    ] as const)
      assertRefused(await callWith(service, token, [method, path], { sub: "sam" }), REFUSED.forbidden);
  });
});

const act = (json: object) => service.call("POST", "/api/tenants/acting/tokens", { as: OPERATOR, json });

describe("a token for a tenant", () => {
  it("reaches the tenant's routes, is told in its audit log, and can be ended", async () => {
    const { token, expires_at, ends_at } = tokenOf(await act({ sub: "sam" }));
    assert.equal(expires_at, ends_at);
    assert.equal((await callWith(service, token, ["GET", "/api/webhooks"])).status, 200);
    const { entries } = auditAnswer.parse((await callWith(service, token, ["GET", "/api/audit"])).body);
    assert.deepEqual(
      entries.map(({ action, actor, details }) => ({ action, actor, details })),
      [
        {
          action: "tenant.token_granted",
          actor: { type: "operator", sub: "console" },
          details: { sub: "sam", role: "owner", read_only: false, minutes: 15 },
        },
      ],
    );
    assertRefused(await callWith(service, token, ["GET", "/api/tenants"]), REFUSED.unauthorized);
    await callWith(service, token, ["DELETE", "/api/portal/sessions"]);
    assertRefused(await callWith(service, token, ["GET", "/api/webhooks"]), REFUSED.unauthorized);
  });

  it("has the role that was asked for, and refuses hostile input", async () => {
    const member = tokenOf(await act({ sub: "sam", role: "member" }));
    assertRefused(await callWith(service, member.token, ["POST", "/api/webhooks"], {}), REFUSED.forbidden);
    const reader = tokenOf(await act({ sub: "sam", read_only: true }));
    assertRefused(await callWith(service, reader.token, ["POST", "/api/webhooks"], {}), REFUSED.forbidden);
    for (const json of [{}, { sub: "" }, { sub: 1 }, { sub: "sam", role: "root" }, { sub: "sam", tid: "x" }])
      issuesOf(await act(json));
  });
});

describe("postern tenants list", () => {
  it("lists each tenant once, also beyond a page", async () => {
    const ids = Array.from({ length: 101 }, (_, n) => `many-${String(n).padStart(3, "0")}`);
    for (const tid of ids) await webhooksOf(service, { ...OWNER, tid }).create();
    const listing = ["tenants", "list", "--prefix", "many-", "--json", "--url", service.url];
    const { code, printed, output } = await runProgram(listing, service.env);
    assert.equal(code, 0, output);
    const lines = printed.trim().split("\n");
    assert.deepEqual(
      lines.map((line) => tenantObject.parse(JSON.parse(line)).id),
      ids,
    );
  });
});
