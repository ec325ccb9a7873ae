/** Sessions that Postern gives out: codes, what they open, and what each token may do. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { after, before, describe, it } from "node:test";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { auditAnswer } from "./support/audit.ts";
import { callWith, codeOf, GRANT, openPortal, OPERATOR, swap, tokenOf } from "./support/portal.ts";
import { OWNER, PRODUCER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { listen } from "./support/tls-receiver.ts";
import {
  assertRefused,
  issuesOf,
  REFUSED,
  sortedStatuses,
  UNKNOWN_ID,
  webhooksOf,
} from "./support/webhooks.ts";

const CODES = "/api/portal/codes";
const SESSIONS = "/api/portal/sessions";
const HUGE = "x".repeat(1024 * 1024 + 1);

let service: TestService;
/** Another process of the same installation. */
let second: TestService;
let keyServer: Server;

before(async () => {
  service = await startTestService({ env: { PUBLIC_URL: "https://hooks.example.com/in" } });
  keyServer = createServer((_request, response) => response.end('{"keys":[]}'));
  // This one verifies the operator's tokens by a key set, with which it can sign nothing.
  second = await startTestService({
    database: service.database,
    receiver: service.receiver,
    roles: ["api"],
    env: {
      INTEGRATION_ENCRYPTION_KEY: service.env["INTEGRATION_ENCRYPTION_KEY"],
      SESSION_JWT_SECRET: "",
      SESSION_JWKS_URL: `http://127.0.0.1:${await listen(keyServer)}/`,
      SESSION_ISSUER: "https://login.example.com/",
      SESSION_AUDIENCE: "postern",
    },
  });
});
after(async () => {
  await second.stop();
  await service.stop();
  keyServer.close();
});

const grant = (json: object, as: Claims | null = OPERATOR) => service.call("POST", CODES, { as, json });
const sessionAt = (at: TestService, token: string) => callWith(at, token, ["GET", "/api/session"]);

describe("a code", () => {
  it("opens one session of its tenant, by a URL below PUBLIC_URL", async () => {
    const answer = await grant({ ...GRANT, path: "/endpoints/list" });
    assert.match(
      answer.text,
      /^\{"url":"https:\/\/hooks\.example\.com\/in\/portal\/endpoints\/list#code=[A-Za-z0-9_-]{43}",/,
    );
    const code = codeOf(answer);
    const opened = tokenOf(await swap(service, code));
    const { body } = await sessionAt(service, opened.token);
    const { tenant, sub, role, permissions } = Object(body);
    assert.deepEqual(
      [tenant, sub, role, permissions],
      ["acme", "jo", "admin", ["settings:read", "settings:write"]],
    );
    const lastsMs = Date.parse(opened.ends_at) - Date.parse(opened.expires_at);
    assert.ok(lastsMs > 40 * 60_000 && lastsMs < 50 * 60_000, JSON.stringify(opened));
    assertRefused(await swap(service, code), REFUSED.unauthorized);
    assert.equal((await sessionAt(service, opened.token)).status, 200);
  });

  it("opens one session, however many swap it at once", async () => {
    const code = codeOf(await grant(GRANT));
    const answers = await Promise.all(Array.from({ length: 8 }, () => swap(service, code)));
    assert.deepEqual(sortedStatuses(answers), [201, ...Array(7).fill(401)]);
  });

  it("is no good when it expired, is guessed, foreign or cut, and is stored as a hash alone", async () => {
    const code = codeOf(await grant(GRANT));
    const { rows } = await service.database.pool.query<{ row: string }>(
      "SELECT to_jsonb(s)::text AS row FROM postern.portal_sessions s",
    );
    assert.ok(rows.length > 0 && !rows.some(({ row }) => row.includes(code)));
    const other = await startTestService({ roles: ["api"] });
    assertRefused(await swap(other, code), REFUSED.unauthorized);
    await other.stop();
    for (const wrong of [code.slice(1), `${code}A`, code.toLowerCase(), "", "A".repeat(43), "\u0000"])
      assertRefused(await swap(service, wrong), REFUSED.unauthorized);
    await service.database.pool.query(
      "UPDATE postern.portal_sessions SET until = now() - interval '1 second' WHERE code_hash = sha256($1)",
      [Buffer.from(code)],
    );
    assertRefused(await swap(service, code), REFUSED.unauthorized);
  });

  it("that is wrong counts as a failed authentication", async () => {
    const limited = await startTestService({ roles: ["api"], env: { RATE_LIMIT_AUTH: "3" } });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index++) statuses.push((await swap(limited, `wrong ${index}`)).status);
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
    tokenOf(await swap(limited, codeOf(await limited.call("POST", CODES, { as: OPERATOR, json: GRANT }))));
    await limited.stop();
  });

  it("is told in the tenant's audit log, by whom and for whom", async () => {
    const as = { ...OWNER, tid: "told" };
    codeOf(await grant({ ...GRANT, tenant_id: "told", read_only: true, minutes: 5 }));
    const { entries } = auditAnswer.parse((await service.call("GET", "/api/audit", { as })).body);
    assert.deepEqual(
      entries.map(({ action, actor, details }) => ({ action, actor, details })),
      [
        {
          action: "portal.granted",
          actor: { type: "operator", sub: "console" },
          details: { sub: "jo", role: "admin", read_only: true, minutes: 5 },
        },
      ],
    );
  });
});

describe("asking for a code", () => {
  it("is refused in order: session, permission, size, form, tenant", async () => {
    const refused = async (as: Claims | null, refusal: readonly [number, object], raw = HUGE) =>
      assertRefused(await service.call("POST", CODES, { as, raw }), refusal);
    await refused(null, REFUSED.unauthorized);
    await refused(OWNER, REFUSED.unauthorized);
    await refused({ ...OWNER, permissions: ["portal:grant"] }, REFUSED.unauthorized);
    await refused({ ...OPERATOR, tid: "no tenant" }, REFUSED.unauthorized);
    await refused(PRODUCER, REFUSED.forbidden);
    await refused(OPERATOR, REFUSED.tooLarge);
    const own: Claims = { ...PRODUCER, permissions: ["portal:grant"] };
    issuesOf(await grant({ ...GRANT, tenant_id: "no tenant" }, own));
    assertRefused(await grant({ ...GRANT, tenant_id: "globex" }, own), REFUSED.forbidden);
    codeOf(await grant(GRANT, own));
    assertRefused(await service.call("PUT", CODES, { as: OPERATOR }), REFUSED.methodNotAllowed);
  });

  it("refuses hostile input", async () => {
    const wrong: object[] = [
      { tenant_id: "" },
      { tenant_id: "a/b" },
      { sub: "" },
      { sub: "\u0000" },
      { sub: "x".repeat(257) },
      { role: "root" },
      { role: undefined },
      { role: "owner", tenant_id: "*" },
      { role: undefined, tenant_id: "*", read_only: true },
      { path: "//evil.example.com" },
      { path: "https://evil.example.com" },
      { path: "/../api" },
      { path: "/a#code=b" },
      { path: "/a?b#code=c" },
      { path: "/a?b\nc" },
      { minutes: 0 },
      { minutes: 1441 },
      { minutes: 1.5 },
      { read_only: "yes" },
      { readonly: true },
    ];
    for (const members of wrong) issuesOf(await grant({ ...GRANT, ...members }));
  });

  it("says that a tenant's session needs a role, and an operator's takes none", async () => {
    const { role: _, ...without } = GRANT;
    assert.deepEqual(issuesOf(await grant(without)), { role: "is required, except with *" });
    assert.deepEqual(issuesOf(await grant({ ...GRANT, tenant_id: "*" })), {
      role: "can't be with *: an operator's session opens tenants as their owner",
    });
  });

  it("gives an operator's session to a backend of all tenants that may read them, and to no other", async () => {
    const asked = { tenant_id: "*", sub: "sam" };
    for (const as of [
      { ...OPERATOR, permissions: ["portal:grant"] },
      { ...OPERATOR, tid: "acme" },
    ])
      assertRefused(await grant(asked, as), REFUSED.forbidden);
    const { token } = tokenOf(await swap(service, codeOf(await grant(asked))));
    assertRefused(await callWith(service, token, ["POST", "/api/events"], {}), REFUSED.forbidden);
    assert.equal((await callWith(service, token, ["GET", "/api/tenants"])).status, 200);
    for (const path of ["/api/webhooks", "/api/deliveries", "/api/session", "/api/audit"])
      assertRefused(await callWith(service, token, ["GET", path]), REFUSED.unauthorized);
  });

  it("lets an operator's session open tenants for its own person alone, once each, and tells the tenant", async () => {
    const { token } = tokenOf(await swap(service, codeOf(await grant({ tenant_id: "*", sub: "sam" }))));
    const ask = (json: object) => callWith(service, token, ["POST", CODES], json);
    for (const json of [
      { tenant_id: "*", sub: "sam" },
      { ...GRANT, sub: "jo" },
    ])
      assertRefused(await ask(json), REFUSED.forbidden);
    for (const path of ["/api/tenants/acme/tokens", "/api/webhooks"])
      assert.ok((await callWith(service, token, ["POST", path], { sub: "sam" })).status >= 401);
    const code = codeOf(await ask({ tenant_id: "opened", sub: "sam", role: "owner", read_only: true }));
    const opened = tokenOf(await swap(service, code));
    assertRefused(await swap(service, code), REFUSED.unauthorized);
    assertRefused(await callWith(service, opened.token, ["GET", "/api/tenants"]), REFUSED.unauthorized);
    assertRefused(await callWith(service, opened.token, ["POST", CODES], GRANT), REFUSED.unauthorized);
    const as = { type: "user", tid: "opened", sub: "ada", role: "owner" };
    const { text } = await service.call("GET", "/api/audit?action=portal.granted", { as });
    assert.match(text, /"actor":\{"type":"operator","sub":"sam"\}/);
    assert.match(text, /"read_only":true/);
  });
});

describe("a session", () => {
  it("that is read-only reads and cannot write, whatever its role", async () => {
    const { token } = await openPortal(service, { role: "owner", read_only: true });
    assert.equal((await callWith(service, token, ["GET", "/api/webhooks"])).status, 200);
    const url = `${service.receiver.url}/hook`;
    for (const [method, path] of [
      ["POST", "/api/webhooks"],
      ["PATCH", `/api/webhooks/${UNKNOWN_ID}`],
      ["DELETE", `/api/webhooks/${UNKNOWN_ID}`],
      ["POST", `/api/webhooks/${UNKNOWN_ID}/rotate-secret`],
      ["POST", "/api/replays"],
      ["POST", "/api/storage/exports"],
      ["POST", "/api/url-checks"],
    ] as const)
      assertRefused(await callWith(service, token, [method, path], { url }), REFUSED.forbidden);
    assertRefused(await callWith(service, token, ["POST", CODES], GRANT), REFUSED.unauthorized);
  });

  it("meets its own tenant alone", async () => {
    const { endpoint } = await webhooksOf(service).create();
    const { token } = await openPortal(service, { tenant_id: "globex", role: "owner" });
    assertRefused(await callWith(service, token, ["GET", `/api/webhooks/${endpoint.id}`]), REFUSED.notFound);
  });

  it("is renewed until its end, and no longer", async () => {
    const opened = await openPortal(service, { minutes: 20 });
    const renewed = tokenOf(await callWith(service, opened.token, ["POST", `${SESSIONS}/renew`]));
    assert.equal(renewed.ends_at, opened.ends_at);
    const short = await openPortal(service, { minutes: 1 });
    assert.equal(short.expires_at, short.ends_at);
    await service.database.pool.query("UPDATE postern.portal_sessions SET until = now() WHERE id = $1", [
      decodeJwt(short.token).jti,
    ]);
    assertRefused(await callWith(service, short.token, ["POST", `${SESSIONS}/renew`]), REFUSED.unauthorized);
  });

  it("is over for every process once it was ended", async () => {
    const { token } = await openPortal(service);
    const renewed = tokenOf(await callWith(service, token, ["POST", `${SESSIONS}/renew`]));
    assert.equal((await sessionAt(second, token)).status, 200);
    assert.equal((await callWith(service, token, ["DELETE", SESSIONS])).text, '{"ok":true}');
    for (const one of [token, renewed.token])
      assertRefused(await sessionAt(service, one), REFUSED.unauthorized);
    await eventually(async () => (await sessionAt(second, token)).status === 401);
    assertRefused(await callWith(service, token, ["DELETE", SESSIONS]), REFUSED.unauthorized);
  });

  it("goes on where a key set verifies the operator's tokens, and may not be renewed or ended by these", async () => {
    const { token } = await openPortal(service);
    assert.equal((await sessionAt(second, token)).status, 200);
    for (const [method, path] of [
      ["POST", `${SESSIONS}/renew`],
      ["DELETE", SESSIONS],
    ] as const) {
      assertRefused(await service.call(method, path), REFUSED.unauthorized);
      assertRefused(await service.call(method, path, { as: null }), REFUSED.unauthorized);
    }
  });

  it("is not made by a token that names its issuer under another key, or under none", async () => {
    const { token } = await openPortal(service);
    const claims = decodeJwt(token);
    assert.deepEqual(decodeProtectedHeader(token), { alg: "HS256" });
    const secret = new TextEncoder().encode(service.env["SESSION_JWT_SECRET"]);
    const ring = Buffer.from(service.env["INTEGRATION_ENCRYPTION_KEY"] ?? "", "base64");
    for (const key of [secret, ring])
      assertRefused(
        await sessionAt(service, await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(key)),
        REFUSED.unauthorized,
      );
    const [, payload = ""] = token.split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    assertRefused(await sessionAt(service, `${none}.${payload}.`), REFUSED.unauthorized);
  });

  it("leaves no row once its time is up", async () => {
    const { token } = await openPortal(service);
    const id = decodeJwt(token).jti;
    await service.database.pool.query("UPDATE postern.portal_sessions SET until = now() WHERE id = $1", [id]);
    const worker = await startTestService({
      database: service.database,
      receiver: service.receiver,
      roles: ["worker"],
    });
    await eventually(async () => {
      const { rowCount } = await service.database.pool.query(
        "SELECT FROM postern.portal_sessions WHERE id = $1",
        [id],
      );
      return rowCount === 0;
    });
    await worker.stop();
  });
});

describe("swapping a code", () => {
  it("is refused for another form before the code is looked at", async () => {
    const refused = async (json: unknown) =>
      issuesOf(await service.call("POST", SESSIONS, { as: null, json }));
    for (const json of [
      null,
      [],
      {},
      { code: 1 },
      { code: "x".repeat(257) },
      { code: "x", tenant_id: "acme" },
    ])
      await refused(json);
    assertRefused(await service.call("POST", SESSIONS, { as: null, raw: HUGE }), REFUSED.tooLarge);
    assertRefused(await service.call("GET", SESSIONS, { as: null }), REFUSED.methodNotAllowed);
  });
});
