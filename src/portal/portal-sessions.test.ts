import assert from "node:assert/strict";
import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import { setTimeout } from "node:timers/promises";
import { decodeJwt, errors, SignJWT, type JWTPayload } from "jose";
import { eventually } from "../../test/support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Pool } from "../database/pool.ts";
import { newPortalSessionId, parsePortalSessionId, type PortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeOwnTokens } from "./own-tokens.ts";
import type { PortalGrant } from "./portal-session.ts";
import { PortalSessions } from "./portal-sessions.ts";

const [newKey, oldKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const MINUTE_MS = 60_000;
const grant = { tenantId: tenant("acme"), subject: "jo", role: "admin", isReadOnly: false } as const;

const sign = (keys: Buffer[]) => {
  const until = new Date(Date.now() + MINUTE_MS);
  return makeOwnTokens(keys).sign({ id: newPortalSessionId(), grant, until }, until);
};
const verify = (token: string, keys: Buffer[]) => makeOwnTokens(keys).verify(token, { clockTolerance: 0 });

const isRefused = (error: unknown) => error instanceof Refusal && error.code === "unauthorized";

describe("a token of the portal", () => {
  it("stays good while the key that signed it is in the ring, and is signed with the ring's first", async () => {
    const former = await sign([oldKey]);
    assert.equal((await verify(former, [newKey, oldKey])).sub, "jo");
    assert.equal((await verify(await sign([newKey, oldKey]), [newKey])).sub, "jo");
    for (const keys of [[newKey], [newKey, lostKey]]) {
      await assert.rejects(verify(former, keys), errors.JWSSignatureVerificationFailed);
    }
    assert.throws(() => makeOwnTokens([]), { message: "tokens need at least one key" });
  });

  it("says what was granted, by its issuer, and ends", async () => {
    const tokens = makeOwnTokens([newKey]);
    const id = newPortalSessionId();
    const exp = Math.floor(Date.now() / 1000) + 60;
    const until = new Date(exp * 1000);
    const user = { type: "user", tid: "acme", sub: "jo", role: "admin" };
    const grants: [PortalGrant, object][] = [
      [grant, user],
      [
        { ...grant, isReadOnly: true },
        { ...user, permissions: ["settings:read"] },
      ],
      [
        { tenantId: "*", subject: "sam", role: null, isReadOnly: true },
        { type: "service", tid: "*", sub: "sam", permissions: ["tenants:read", "portal:grant"] },
      ],
    ];
    for (const [given, claims] of grants) {
      const token = await tokens.sign({ id, grant: given, until }, until);
      const payload = { ...claims, jti: id, iss: "urn:postern:portal", exp };
      assert.deepEqual(await tokens.verify(token, { clockTolerance: 0 }), payload);
      assert.equal(tokens.claims(token), true);
    }
    const ended = await tokens.sign({ id, grant, until }, new Date(Date.now() - 30_000));
    await assert.rejects(tokens.verify(ended, { clockTolerance: 5 }), errors.JWTExpired);
    assert.equal((await tokens.verify(ended, { clockTolerance: 60 })).jti, id);
  });

  it("is none that has another issuer, another algorithm or no end", async () => {
    const tokens = makeOwnTokens([newKey]);
    const key = Buffer.from(hkdfSync("sha256", newKey, Buffer.alloc(0), "postern portal tokens 1", 32));
    const signed = (claims: JWTPayload, alg = "HS256") =>
      new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
    const [iss, exp] = ["urn:postern:portal", Math.floor(Date.now() / 1000) + 60];
    assert.equal((await tokens.verify(await signed({ iss, exp }), { clockTolerance: 0 })).exp, exp);
    const isNone = [signed({ iss }), signed({ iss: "app", exp }), signed({ iss, exp }, "HS512")];
    for (const token of await Promise.all(isNone)) {
      await assert.rejects(tokens.verify(token, { clockTolerance: 0 }), errors.JOSEError);
    }
    assert.equal(tokens.claims(await signed({ iss: "app", exp })), false);
    assert.equal(tokens.claims("no token"), false);
  });
});

function sessionsOn(db: Pool): PortalSessions {
  return new PortalSessions({ db, tokens: makeOwnTokens([newKey]), standingCode: null });
}

function idOf(token: string): PortalSessionId {
  const id = parsePortalSessionId(decodeJwt(token).jti);
  assert.ok(id !== null);
  return id;
}

const minutesTo = (at: Date) => Math.round((at.getTime() - Date.now()) / MINUTE_MS);

/** A session is believed alive for a second, so that second is the test's. */
function stopClock(nowMs = performance.now()): number {
  mock.restoreAll();
  mock.method(performance, "now", () => nowMs);
  return nowMs;
}

describe("a session", () => {
  let database: TestDatabase;
  let sessions: PortalSessions;
  const by = { actor: { type: "user", sub: "sam" }, requestId: null, address: "203.0.113.7" } as const;
  const other = { tenantId: "*", subject: "sam", role: null, isReadOnly: true } as const;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    await database.pool.query("DELETE FROM postern.portal_sessions; DELETE FROM postern.audit_log");
    sessions = anew();
  });
  after(() => database.drop());

  afterEach(() => mock.restoreAll());

  const anew = () => sessionsOn(database.pool);

  it("is granted, and told in the audit log of its tenant", async () => {
    const { code, expiresAt } = await sessions.grant(by, grant, 90);
    assert.equal(minutesTo(expiresAt), 1);
    assert.equal(Buffer.from(code, "base64url").length, 32);
    const opened = await sessions.open(code, { requestId: null, address: null });
    assert.deepEqual([minutesTo(opened.expiresAt), minutesTo(opened.endsAt)], [15, 90]);
    assert.equal(decodeJwt(opened.token).exp, Math.floor(opened.expiresAt.getTime() / 1000));
    const acted = await sessions.act(by, { ...grant, isReadOnly: true });
    assert.deepEqual([minutesTo(acted.expiresAt), minutesTo(acted.endsAt)], [15, 15]);
    await sessions.grant(by, other, 5);
    const { rows } = await database.pool.query(
      "SELECT tenant_id, action, outcome, actor_sub, address, details FROM postern.audit_log ORDER BY id",
    );
    const entry = { tenant_id: "acme", outcome: "done", actor_sub: "sam", address: "203.0.113.7" };
    const details = { sub: "jo", role: "admin", read_only: false };
    assert.deepEqual(rows, [
      { ...entry, action: "portal.granted", details: { ...details, minutes: 90 } },
      { ...entry, action: "tenant.token_granted", details: { ...details, read_only: true, minutes: 15 } },
      {
        ...entry,
        tenant_id: null,
        action: "portal.granted",
        details: { sub: "sam", role: null, read_only: true, minutes: 5 },
      },
    ]);
    await assert.rejects(sessions.open(code, { requestId: null, address: null }), {
      code: "unauthorized",
      reason: "the code is not known or no good",
    });
  });

  it("is renewed until its end, and no token outlives it", async () => {
    const { code } = await sessions.grant(by, grant, 90);
    const { token } = await sessions.open(code, { requestId: null, address: null });
    const named = { id: idOf(token), tenantId: grant.tenantId };
    await database.pool.query("UPDATE postern.portal_sessions SET until = now() + interval '4 min'");
    const renewed = await sessions.renew(named);
    assert.deepEqual([minutesTo(renewed.expiresAt), minutesTo(renewed.endsAt)], [4, 4]);
    assert.equal(idOf(renewed.token), named.id);
    await database.pool.query("UPDATE postern.portal_sessions SET until = now() - interval '1 s'");
    await assert.rejects(sessions.renew(named), { code: "unauthorized", reason: "the session has ended" });
  });

  it("that was ended is dead at once here, and a second later in other processes", async () => {
    const nowMs = stopClock();
    const { token } = await sessions.act(by, grant);
    const id = idOf(token);
    const elsewhere = anew();
    assert.deepEqual([await sessions.isAlive(id), await elsewhere.isAlive(id)], [true, true]);
    await sessions.end({ id, tenantId: grant.tenantId });
    assert.deepEqual([await sessions.isAlive(id), await elsewhere.isAlive(id)], [false, true]);
    stopClock(nowMs + 1001);
    // The cache asks for the time once a millisecond.
    await eventually(async () => !(await elsewhere.isAlive(id)));
    assert.equal(await elsewhere.isAlive(newPortalSessionId()), false);
  });

  it("is believed alive without a look for whom it was just given to", async () => {
    stopClock();
    const { token } = await sessions.act(by, grant);
    await database.pool.query("DELETE FROM postern.portal_sessions");
    assert.deepEqual([await sessions.isAlive(idOf(token)), await anew().isAlive(idOf(token))], [true, false]);
  });

  it("that ends after its row was read, for a renewal or a look, stays dead, however late the answer", async () => {
    for (const work of ["renew", "isAlive"] as const) {
      for (const lateMs of [0, 1001]) {
        const nowMs = stopClock();
        const { token } = await sessions.act(by, grant);
        const named = { id: idOf(token), tenantId: grant.tenantId };
        let isRead = false;
        const query = async (statement: string, values: unknown[]) => {
          const result = await database.pool.query(statement, values);
          if (isRead) return result;
          isRead = true;
          await slow.end(named);
          stopClock(nowMs + lateMs);
          // The cache asks for the time once a millisecond.
          await setTimeout(2);
          return result;
        };
        const slow = sessionsOn(Object.create(database.pool, { query: { value: query } }));
        await (work === "renew" ? slow.renew(named) : slow.isAlive(named.id));
        assert.equal(await slow.isAlive(named.id), false, `${work} ${lateMs}`);
      }
    }
  });
});

describe("the code that is never used up", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it("is good from this machine alone, again and again", async () => {
    const standingCode = { code: "the standing code", grant, minutes: 5 };
    const tokens = makeOwnTokens([newKey]);
    const sessions = new PortalSessions({ db: database.pool, tokens, standingCode });
    const open = (address: string | null, code = standingCode.code) =>
      sessions.open(code, { requestId: randomUUID(), address });
    for (const address of ["127.0.0.1", "127.8.0.9", "::1"]) {
      assert.equal(decodeJwt((await open(address)).token).sub, "jo", address);
    }
    for (const address of ["::10", "::1:0:1", "10.127.0.1", "12.7.0.1", "2001:db8::1", "unknown", null]) {
      await assert.rejects(open(address), isRefused, String(address));
    }
    await assert.rejects(open("::1", `${standingCode.code}x`), isRefused);
  });
});
