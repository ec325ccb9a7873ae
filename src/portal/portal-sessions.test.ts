import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { decodeJwt, errors } from "jose";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newPortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeOwnTokens } from "./own-tokens.ts";
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
