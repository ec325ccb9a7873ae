/** Which session tokens are believed: HS256 with a shared secret, or keys from the operator's JWK set. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { after, before, describe, it } from "node:test";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from "jose";
import { codeOf, GRANT, swap, tokenOf } from "./support/portal.ts";
import { runProgram } from "./support/program.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { listen } from "./support/tls-receiver.ts";
import { assertRefused, REFUSED } from "./support/webhooks.ts";

const USER = { type: "user", tid: "acme", sub: "ada", role: "owner" };
const now = () => Math.floor(Date.now() / 1000);

function list(service: TestService, authorization: string | undefined) {
  const headers = authorization === undefined ? {} : { authorization };
  return service.call("GET", "/api/webhooks", { as: null, headers });
}

const bearer = (service: TestService, token: string) => list(service, `Bearer ${token}`);

describe("a service with SESSION_JWT_SECRET", () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ roles: ["api"] });
  });
  after(() => service.stop());

  const key = () => new TextEncoder().encode(service.env["SESSION_JWT_SECRET"] ?? "");
  const sign = (claims: JWTPayload, alg = "HS256") =>
    new SignJWT({ exp: now() + 60, ...claims }).setProtectedHeader({ alg }).sign(key());
  const statusFor = async (claims: JWTPayload) => (await bearer(service, await sign(claims))).status;

  const reads = (claims: JWTPayload) => statusFor({ type: "user", tid: "acme", ...claims });
  const writes = async (claims: JWTPayload) => {
    const authorization = `Bearer ${await sign({ type: "user", tid: "acme", ...claims })}`;
    const answer = await service.call("POST", "/api/webhooks", {
      as: null,
      headers: { authorization },
      json: {},
    });
    return answer.status;
  };

  it("believes a signed token of a user with a tenant", async () => {
    const token = await sign(USER);
    assert.equal((await bearer(service, token)).status, 200);
    assert.equal((await list(service, `bearer  ${token}`)).status, 200);
  });

  it("refuses anything that is no bearer token", async () => {
    const token = await sign(USER);
    const given = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      token,
      `Basic ${token}`,
      `Bearer ${token} x`,
      `Bearer ${token}é`,
    ];
    for (const authorization of given)
      assertRefused(await list(service, authorization), REFUSED.unauthorized);
    assertRefused(await bearer(service, "a".repeat(9000)), REFUSED.unauthorized);
  });

  it("refuses another key, another algorithm and a signature cut off", async () => {
    const token = await sign(USER);
    const [head = "", body = ""] = token.split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    const { privateKey } = await generateKeyPair("RS256");
    const otherKey = new SignJWT({ ...USER, exp: now() + 60 }).setProtectedHeader({ alg: "HS256" });
    const forged = [
      await otherKey.sign(new TextEncoder().encode("another secret of at least 32 bytes")),
      await new SignJWT({ ...USER, exp: now() + 60 }).setProtectedHeader({ alg: "RS256" }).sign(privateKey),
      await sign(USER, "HS512"),
      `${none}.${body}.`,
      `${none}.${body}.${token.split(".")[2] ?? ""}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${Buffer.from(JSON.stringify({ ...USER, exp: now() + 60 })).toString("base64url")}.AAAA`,
      "a.b.c",
      "..",
    ];
    for (const text of forged) assertRefused(await bearer(service, text), REFUSED.unauthorized);
  });

  it("requires exp, and takes clocks to differ by 5 seconds at most", async () => {
    const withoutExp = await new SignJWT(USER).setProtectedHeader({ alg: "HS256" }).sign(key());
    assertRefused(await bearer(service, withoutExp), REFUSED.unauthorized);
    assert.equal(await statusFor({ ...USER, exp: now() - 60 }), 401);
    assert.equal(await statusFor({ ...USER, exp: now() - 6 }), 401);
    assert.equal(await statusFor({ ...USER, exp: now() - 1 }), 200);
    assert.equal(await statusFor({ ...USER, nbf: now() + 60 }), 401);
    assert.equal(await statusFor({ ...USER, nbf: now() + 1 }), 200);
  });

  it("requires a session of a user with a tenant id", async () => {
    const { type: _type, ...untyped } = USER;
    const { tid: _tid, ...tenantless } = USER;
    const claims: JWTPayload[] = [
      untyped,
      { ...USER, type: "service" },
      { ...USER, type: "USER" },
      { ...USER, type: ["user"] },
      tenantless,
    ];
    for (const claim of claims) assert.equal(await statusFor(claim), 401, JSON.stringify(claim));
    for (const tid of ["", "*", "a b", "ä", "a/b", "a".repeat(65), 7, null, ["acme"], { a: 1 }]) {
      assert.equal(await statusFor({ ...USER, tid }), 401, JSON.stringify(tid));
    }
    for (const tid of ["a", "A-Z_09", "a".repeat(64), "__proto__"]) {
      assert.equal(await statusFor({ ...USER, tid }), 200, tid);
    }
  });

  it("requires of a backend a tenant id, or all tenants by *: no other token lets its events name their tenant", async () => {
    const json = { type: "invoice.paid", data: {}, tenant_id: "acme" };
    const publish = async (claims: JWTPayload) => {
      const token = await sign({ type: "service", permissions: ["events:write"], ...claims });
      const headers = { authorization: `Bearer ${token}` };
      return (await service.call("POST", "/api/events", { as: null, headers, json })).status;
    };
    assert.equal(await publish({}), 401);
    for (const tid of ["", "**", "a b", "a".repeat(65), 7, null, ["*"]]) {
      assert.equal(await publish({ tid }), 401, JSON.stringify(tid));
    }
    assert.deepEqual([await publish({ tid: "acme" }), await publish({ tid: "*" })], [202, 202]);
  });

  it("takes permissions from the claim, and from the role where there is none", async () => {
    const expected: [JWTPayload, number, number][] = [
      [{ role: "owner" }, 200, 400],
      [{ role: "OWNER" }, 200, 400],
      [{ role: "admin" }, 200, 400],
      [{ role: "member" }, 200, 403],
      [{ role: "viewer" }, 403, 403],
      [{}, 403, 403],
      [{ role: "owner", permissions: [] }, 403, 403],
      [{ role: "owner", permissions: ["settings:read"] }, 200, 403],
      [{ permissions: ["settings:write"] }, 403, 400],
      [{ permissions: ["settings:*", "SETTINGS:READ"] }, 403, 403],
    ];
    for (const [claims, read, write] of expected) {
      assert.deepEqual([await reads(claims), await writes(claims)], [read, write], JSON.stringify(claims));
    }
  });
});

describe("a service with SESSION_JWKS_URL", () => {
  const issuer = "https://login.example.com/";
  const audience = "postern";
  const keys: JWK[] = [];
  const pairs = new Map<string, CryptoKey>();
  let keyServer: Server;
  let url: string;
  let service: TestService;

  before(async () => {
    for (const alg of ["RS256", "ES256", "EdDSA", "PS256"]) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      keys.push({ ...(await exportJWK(publicKey)), kid: alg, alg });
      pairs.set(alg, privateKey);
    }
    keyServer = createServer((_request, response) => response.end(JSON.stringify({ keys })));
    url = `http://127.0.0.1:${await listen(keyServer)}/keys`;
    service = await startJwksService(url);
  });
  after(async () => {
    await service.stop();
    keyServer.close();
  });

  const startJwksService = (jwksUrl: string) =>
    startTestService({
      roles: ["api"],
      env: {
        SESSION_JWT_SECRET: "",
        SESSION_JWKS_URL: jwksUrl,
        SESSION_ISSUER: issuer,
        SESSION_AUDIENCE: audience,
      },
    });

  async function sign(alg: string, claims: JWTPayload = {}, kid = alg): Promise<string> {
    const key = pairs.get(alg);
    assert.ok(key !== undefined);
    return new SignJWT({ ...USER, iss: issuer, aud: audience, exp: now() + 60, ...claims })
      .setProtectedHeader({ alg, kid })
      .sign(key);
  }

  it("believes RS256, ES256 and EdDSA, and no other algorithm", async () => {
    for (const alg of ["RS256", "ES256", "EdDSA"]) {
      assert.equal((await bearer(service, await sign(alg))).status, 200, alg);
    }
    assertRefused(await bearer(service, await sign("PS256")), REFUSED.unauthorized);
  });

  it("refuses a token signed with the public key as if it were a shared secret", async () => {
    const secret = new TextEncoder().encode(JSON.stringify(keys[0]));
    const token = await new SignJWT({ ...USER, iss: issuer, aud: audience, exp: now() + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "RS256" })
      .sign(secret);
    assertRefused(await bearer(service, token), REFUSED.unauthorized);
  });

  it("requires the issuer and the audience, and says which is wrong", async () => {
    for (const claims of [{ iss: "https://evil.example.com/" }, { aud: "other" }, { aud: [] }]) {
      const answer = await bearer(service, await sign("ES256", claims));
      assertRefused(answer, REFUSED.unauthorized);
      const [claim] = Object.keys(claims);
      const why = answer.headers.get("www-authenticate") ?? "";
      assert.ok(why.includes(`"the ${claim} of the token is not the one that is needed"`), why);
    }
    assert.equal((await bearer(service, await sign("ES256", { aud: ["other", audience] }))).status, 200);
  });

  it("refuses a key that the set does not hold", async () => {
    assertRefused(await bearer(service, await sign("ES256", {}, "unknown")), REFUSED.unauthorized);
  });

  it("goes on with the keys it has while the set cannot be fetched, and a fresh process answers 503", async () => {
    assert.equal((await bearer(service, await sign("ES256"))).status, 200);
    keyServer.closeAllConnections();
    await new Promise((resolve) => keyServer.close(resolve));
    assert.equal((await bearer(service, await sign("ES256", { sub: "a new token" }))).status, 200);
    const fresh = await startJwksService(url);
    const answer = await bearer(fresh, await sign("ES256"));
    await fresh.stop();
    assertRefused(answer, [503, { error: "Service unavailable" }]);
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
  });

  it("answers 503 while the set is no JWK set", async () => {
    for (const [status, body] of [
      [500, "down"],
      [200, "<html>"],
      [200, '{"keys":7}'],
    ] as const) {
      const broken = createServer((_request, response) => response.writeHead(status).end(body));
      const fresh = await startJwksService(`http://127.0.0.1:${await listen(broken)}/`);
      const answer = await bearer(fresh, await sign("ES256"));
      await fresh.stop();
      broken.closeAllConnections();
      broken.close();
      assertRefused(answer, [503, { error: "Service unavailable" }]);
    }
  });
});

describe("a service with SESSION_JWT_SECRET, SESSION_ISSUER and SESSION_AUDIENCE", () => {
  const issuer = "https://login.example.com/";
  const audience = "postern";
  let service: TestService;
  before(async () => {
    const env = { SESSION_ISSUER: issuer, SESSION_AUDIENCE: audience };
    service = await startTestService({ roles: ["api"], env });
  });
  after(() => service.stop());

  const sign = (claims: JWTPayload) =>
    new SignJWT({ ...USER, exp: now() + 60, ...claims })
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode(service.env["SESSION_JWT_SECRET"] ?? ""));

  it("requires both claims in tokens signed with the secret, and says which is wrong", async () => {
    assert.equal((await bearer(service, await sign({ iss: issuer, aud: audience }))).status, 200);
    assert.equal((await bearer(service, await sign({ iss: issuer, aud: ["other", audience] }))).status, 200);
    const refused: [JWTPayload, reason: string][] = [
      [{}, "the token has no iss"],
      [{ iss: issuer }, "the token has no aud"],
      [{ aud: audience }, "the token has no iss"],
      [
        { iss: "https://other.example.com/", aud: audience },
        "the iss of the token is not the one that is needed",
      ],
      [{ iss: issuer, aud: "other" }, "the aud of the token is not the one that is needed"],
    ];
    for (const [claims, reason] of refused) {
      const answer = await bearer(service, await sign(claims));
      assertRefused(answer, REFUSED.unauthorized);
      assert.match(answer.headers.get("www-authenticate") ?? "", new RegExp(`"${reason}"`));
    }
  });

  it("accepts the tokens of postern token and of the commands that call the API", async () => {
    const env = { ...service.env, NODE_ENV: undefined };
    const issued = await runProgram(["token", "--tenant", "acme"], env);
    assert.equal(issued.code, 0, issued.output);
    assert.equal((await bearer(service, issued.output.trim())).status, 200);
    const publish = ["publish", "invoice.paid", "--tenant", "acme", "--url", service.url];
    const published = await runProgram(publish, env);
    assert.equal(published.code, 0, published.output);
    const others = await runProgram(publish, { ...env, SESSION_AUDIENCE: "other" });
    assert.equal(others.code, 1);
    assert.match(others.output, /does not accept this command's token.*SESSION_AUDIENCE/);
  });

  it("accepts the portal's own sessions, which have another issuer", async () => {
    const granting = { permissions: ["settings:read", "settings:write", "portal:grant"] };
    const backend = await sign({ ...granting, type: "service", iss: issuer, aud: audience });
    const headers = { authorization: `Bearer ${backend}` };
    const granted = await service.call("POST", "/api/portal/codes", { as: null, headers, json: GRANT });
    const { token } = tokenOf(await swap(service, codeOf(granted)));
    assert.equal((await bearer(service, token)).status, 200);
  });
});

const told = (status: number, error: string, reason: string) => [
  status,
  `Bearer realm="postern", error="${error}", error_description="${reason}"`,
];
const invalid = (reason: string) => told(401, "invalid_token", reason);
const lacking = (reason: string) => told(403, "insufficient_scope", reason);

describe("a refused caller", () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ roles: ["api"] });
  });
  after(() => service.stop());

  const why = async (
    claims: JWTPayload | null,
    { method = "GET", path = "/api/webhooks", secret = service.env["SESSION_JWT_SECRET"] ?? "" } = {},
  ) => {
    const token =
      claims === null
        ? null
        : await new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256" })
            .sign(new TextEncoder().encode(secret));
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await service.call(method, path, { as: null, headers });
    return [answer.status, answer.headers.get("www-authenticate")];
  };

  it("is told why the token is not taken, in words that name no value", async () => {
    const exp = now() + 60;
    const tid = "the tid of the token is absent or no tenant id";
    assert.deepEqual(await why(null), [401, 'Bearer realm="postern"']);
    assert.deepEqual(await why(USER), invalid("the token has no exp"));
    assert.deepEqual(await why({ ...USER, exp: now() - 60 }), invalid("the token has expired"));
    assert.deepEqual(
      await why({ ...USER, exp, nbf: now() + 60 }),
      invalid("the nbf of the token is later than this clock"),
    );
    assert.deepEqual(await why({ ...USER, exp, tid: 'a"b' }), invalid(tid));
    assert.deepEqual(await why({ type: "user", role: "owner", exp }), invalid(tid));
    const service = { type: "service", tid: "acme", permissions: ["events:write"], exp };
    assert.deepEqual(await why(service), invalid("a token of type user is needed here"));
    const publishing = { method: "POST", path: "/api/events" };
    assert.deepEqual(
      await why({ ...USER, exp }, publishing),
      invalid("a token of type service is needed here"),
    );
    assert.deepEqual(
      await why({ ...USER, exp, permissions: "all" }),
      invalid("the permissions of the token are no list of names"),
    );
  });

  it("is told nothing of claims by a token that is not signed with the key", async () => {
    const secret = "another secret of at least 32 bytes";
    for (const claims of [USER, { ...USER, exp: now() - 60 }, { ...USER, exp: now() + 60 }])
      assert.deepEqual(await why(claims, { secret }), invalid("the token is not signed as it must be"));
  });

  it("is told which permission or role is missing, and of a link to a file nothing", async () => {
    const exp = now() + 60;
    const needed = "the permission settings:read is needed";
    assert.deepEqual(
      await why({ type: "user", tid: "acme", exp }),
      lacking(`${needed}: the token has no role`),
    );
    const unknownRole = `${needed}: the token's role is none of owner, admin and member`;
    assert.deepEqual(await why({ type: "user", tid: "acme", role: "guest", exp }), lacking(unknownRole));
    assert.deepEqual(await why({ ...USER, permissions: [], exp }), lacking(needed));
    assert.deepEqual(
      await why({ ...USER, role: "member", exp }, { method: "POST" }),
      lacking("the permission settings:write is needed"),
    );
    const admin = { ...USER, role: "admin", exp };
    assert.deepEqual(
      await why(admin, { method: "POST", path: "/api/webhooks/x/rotate-secret" }),
      lacking("the role owner is needed"),
    );
    assert.deepEqual(await why(null, { path: "/api/storage/files/x" }), [403, null]);
  });
});
