/** Whose a token is and what it allows, and why it is refused: signed with a shared secret, or by Postern itself. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { SignJWT } from "jose";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeOwnTokens } from "../portal/own-tokens.ts";
import { newPortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { givesPermissions, makeSessionVerifier } from "./session.ts";

const SECRET = "a secret that is shared and has 32 bytes or more";
const CLAIMS = { type: "user", tid: "acme", sub: "ada", role: "owner" };

function sign(payload: object): Promise<string> {
  const token = new SignJWT({ ...payload }).setProtectedHeader({ alg: "HS256" });
  return token.sign(new TextEncoder().encode(SECRET));
}

function withPadding(padding: number): Promise<string> {
  return sign({ ...CLAIMS, exp: 4_000_000_000, padding: "x".repeat(padding) });
}

function inAMinute(): Date {
  return new Date(Date.now() + 60_000);
}

/** A token of these claims as a verifier without other demands reads it, or its refusal. */
async function read(claims: object, options: { issuer?: string; audience?: string } = {}) {
  const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET, ...options });
  const token = await sign({ exp: Math.floor(Date.now() / 1000) + 60, ...claims });
  return told(verifier.verify(`Bearer ${token}`));
}

/** What it is resolved with, or of its refusal all that a caller is told. */
function told<Value>(work: Promise<Value>) {
  return work.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    const { code, reason, retryAfterS } = error;
    return { code, reason, retryAfterS };
  });
}

const refusedFor = (reason: string) => ({ code: "unauthorized", reason, retryAfterS: undefined });

describe("what a token says", () => {
  const user = {
    type: "user",
    tenantId: tenant("acme"),
    allTenants: false,
    role: null,
    subject: null,
    permissions: new Set<string>(),
    portalId: null,
  };

  it("gives owners all of a tenant, admins all but holds, members to read, and others nothing", async () => {
    for (const [role, permissions] of [
      ["owner", ["settings:read", "settings:write", "storage:hold"]],
      ["OWNER", ["settings:read", "settings:write", "storage:hold"]],
      ["admin", ["settings:read", "settings:write"]],
      ["ADMIN", ["settings:read", "settings:write"]],
      ["member", ["settings:read"]],
      ["MEMBER", ["settings:read"]],
      ["Owner", []],
      ["guest", []],
    ] as const) {
      const session = await read({ type: "user", tid: "acme", role });
      deepEqual(session, { ...user, role, permissions: new Set(permissions) });
      equal(givesPermissions(role), permissions.length > 0);
    }
    deepEqual(await read({ type: "user", tid: "acme" }), user);
    deepEqual(await read({ type: "user", tid: "acme", role: ["owner"], sub: 7 }), user);
  });

  it("gives the permissions that it names in place of its role's", async () => {
    const permissions = ["events:write", "a word of the operator's"];
    const session = await read({ type: "user", tid: "acme", role: "owner", sub: "ada", permissions });
    deepEqual(session, { ...user, role: "owner", subject: "ada", permissions: new Set(permissions) });
    const reason = "the permissions of the token are no list of names";
    for (const wrong of ["events:write", [1], null])
      deepEqual(await read({ type: "user", tid: "acme", permissions: wrong }), refusedFor(reason));
  });

  it("is of every tenant only as a service whose tenant is *", async () => {
    const service = { ...user, type: "service" };
    deepEqual(await read({ type: "service", tid: "*" }), { ...service, tenantId: null, allTenants: true });
    deepEqual(await read({ type: "service", tid: "acme" }), service);
    deepEqual(await read({ type: "user", tid: "*" }), { ...user, tenantId: null });
    for (const type of ["users", 1, undefined])
      deepEqual(await read({ type, tid: "acme" }), { ...user, type: "other" });
  });

  it("names its subject by 256 characters at most", async () => {
    const [kept, cut] = [await read({ sub: "s".repeat(256) }), await read({ sub: "s".repeat(257) })];
    deepEqual([kept, cut], [{ ...user, type: "other", tenantId: null, subject: "s".repeat(256) }, kept]);
    // As many as a portal session's, which are two units of a text each.
    const [whole, longer] = [await read({ sub: "😀".repeat(256) }), await read({ sub: "😀".repeat(257) })];
    deepEqual([whole, longer], [{ ...kept, subject: "😀".repeat(256) }, whole]);
  });

  it("is refused with the claim that is missing or wrong", async () => {
    const nowS = Math.floor(Date.now() / 1000);
    for (const [claims, options, reason] of [
      [{ exp: nowS - 6 }, {}, "the token has expired"],
      [{ exp: undefined }, {}, "the token has no exp"],
      [{ nbf: nowS + 60 }, {}, "the nbf of the token is later than this clock"],
      [{ iat: "now" }, {}, "the iat of the token is no number of seconds"],
      [{ exp: `${nowS + 60}` }, {}, "the exp of the token is no number of seconds"],
      [{}, { issuer: "https://login.example.com/" }, "the token has no iss"],
      [
        { iss: "other" },
        { issuer: "https://login.example.com/" },
        "the iss of the token is not the one that is needed",
      ],
      [{ aud: "other" }, { audience: "postern" }, "the aud of the token is not the one that is needed"],
    ] as const)
      deepEqual(await read(claims, options), refusedFor(reason));
  });
});

describe("the header that brings a token", () => {
  it("is Bearer in any case of letters, a space or more, and the token alone", async () => {
    const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET });
    const token = await sign({ ...CLAIMS, exp: 4_000_000_000 });
    for (const header of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`])
      equal((await verifier.verify(header)).subject, "ada", header);
    const wrong = [
      `x Bearer ${token}`,
      `Bearer ${token} x`,
      `Bearer${token}`,
      token,
      "Bearer ",
      "Stryker",
      "",
    ];
    for (const header of [...wrong, undefined])
      deepEqual(await told(verifier.verify(header)), refusedFor("a bearer token is needed"), header);
    const unsigned = refusedFor("the token is not signed as it must be");
    deepEqual(await told(verifier.verify("Bearer of.good.news")), unsigned);
  });

  it("may have a token of 8 KiB", async () => {
    const short = await withPadding(0);
    const padding = Math.floor(((8192 - short.length) * 3) / 4);
    const tokens = await Promise.all([-2, -1, 0, 1, 2, 3].map((more) => withPadding(padding + more)));
    const verifier = makeSessionVerifier({ kind: "secret", secret: SECRET });
    ok(tokens.some(({ length }) => length === 8192) && tokens.some(({ length }) => length > 8192));
    for (const token of tokens) {
      const judged = await told(verifier.verify(`Bearer ${token}`));
      if (token.length <= 8192) ok(!("code" in judged), String(token.length));
      else deepEqual(judged, refusedFor("the token is longer than 8192 characters"));
    }
  });
});

describe("a token of the portal's own", () => {
  const tokens = makeOwnTokens([Buffer.alloc(32, 1)]);
  const source = { kind: "secret", secret: SECRET } as const;
  const grant = { tenantId: tenant("acme"), subject: "jo", role: "member", isReadOnly: false } as const;

  it("is good for as long as its session goes on, also when it is remembered", async () => {
    const id = newPortalSessionId();
    let alive: unknown[] = [id, tenant("acme")];
    const isAlive = async (...asked: unknown[]) => JSON.stringify(asked) === JSON.stringify(alive);
    const verifier = makeSessionVerifier(source, { tokens, isAlive });
    const token = await tokens.sign({ id, grant, until: inAMinute() }, inAMinute());
    const session = {
      type: "user",
      tenantId: tenant("acme"),
      allTenants: false,
      role: "member",
      subject: "jo",
      permissions: new Set(["settings:read"]),
      portalId: id,
    };
    for (let again = 0; again < 2; again++) deepEqual(await verifier.verify(`Bearer ${token}`), session);
    alive = [];
    const ended = refusedFor("the session has ended");
    deepEqual(await told(verifier.verify(`Bearer ${token}`)), ended);
    const second = await tokens.sign({ id, grant, until: inAMinute() }, new Date(Date.now() + 50_000));
    deepEqual(await told(verifier.verify(`Bearer ${second}`)), ended);
  });

  it("is refused where it is signed with the operator's secret, or has expired beyond 5 seconds", async () => {
    const verifier = makeSessionVerifier(source, { tokens, isAlive: async () => true });
    const [, payload = ""] = (
      await tokens.sign({ id: newPortalSessionId(), grant, until: inAMinute() }, inAMinute())
    ).split(".");
    const token = await sign(JSON.parse(Buffer.from(payload, "base64url").toString()));
    const unsigned = refusedFor("the token is not signed as it must be");
    deepEqual(await told(verifier.verify(`Bearer ${token}`)), unsigned);
    const ofAge = async (ageS: number) => {
      const expiresAt = new Date(Date.now() - ageS * 1000);
      const old = await tokens.sign({ id: newPortalSessionId(), grant, until: inAMinute() }, expiresAt);
      return told(verifier.verify(`Bearer ${old}`));
    };
    ok(!("code" in (await ofAge(2))));
    deepEqual(await ofAge(7), refusedFor("the token has expired"));
  });

  it("leaves the operator's tokens alone, whatever session ended and whatever id they bring", async () => {
    const verifier = makeSessionVerifier(source, { tokens, isAlive: async () => false });
    const token = await sign({ ...CLAIMS, jti: newPortalSessionId(), exp: 4_000_000_000 });
    equal((await verifier.verify(`Bearer ${token}`)).portalId, null);
  });
});
