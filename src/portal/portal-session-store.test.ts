import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newPortalSessionId } from "../shared/id.ts";
import type { PortalGrant } from "./portal-session.ts";
import {
  deleteSession,
  findSession,
  forgetPortalSessions,
  insertCode,
  insertSession,
  useCode,
} from "./portal-session-store.ts";

const member: PortalGrant = { tenantId: tenant("acme"), subject: "jo", role: "member", isReadOnly: true };
const admin: PortalGrant = { tenantId: tenant("globex"), subject: "al", role: "admin", isReadOnly: false };
const operator: PortalGrant = { tenantId: "*", subject: "sam", role: null, isReadOnly: true };
const GRANTS = [member, admin, operator];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.portal_sessions"));
after(() => database.drop());

async function aged(seconds: number): Promise<void> {
  await database.pool.query("UPDATE postern.portal_sessions SET until = until - $1 * interval '1 s'", [
    seconds,
  ]);
}

/** From now, as a whole number of that unit. */
const inAbout = (at: Date, unitMs: number) => Math.round((at.getTime() - Date.now()) / unitMs);

async function newCode(grant: PortalGrant, minutes = 7) {
  const [id, codeHash] = [newPortalSessionId(), randomBytes(32)];
  return { id, codeHash, until: await insertCode(database.pool, { id, grant, codeHash, minutes }) };
}

describe("a code of the portal", () => {
  it("opens a session once, with what was granted, for the minutes that were", async () => {
    for (const grant of GRANTS) {
      const { id, codeHash, until } = await newCode(grant);
      assert.equal(inAbout(until, 30_000), 2);
      assert.equal(await findSession(database.pool, id), null);
      assert.equal(await useCode(database.pool, randomBytes(32)), null);
      const session = await useCode(database.pool, codeHash);
      assert.deepEqual({ ...session, until: null }, { id, grant, until: null });
      assert.equal(inAbout(session?.until ?? new Date(0), 60_000), 7);
      assert.equal(await useCode(database.pool, codeHash), null);
      assert.deepEqual(await findSession(database.pool, id), session);
    }
  });

  it("is good for a minute", async () => {
    const { codeHash } = await newCode(admin);
    await aged(61);
    assert.equal(await useCode(database.pool, codeHash), null);
    await aged(-20);
    assert.notEqual(await useCode(database.pool, codeHash), null);
  });
});

describe("a session of the portal", () => {
  it("lasts for its minutes", async () => {
    for (const grant of GRANTS) {
      const id = newPortalSessionId();
      const until = await insertSession(database.pool, { id, grant, minutes: 5 });
      assert.equal(inAbout(until, 60_000), 5);
      assert.deepEqual(await findSession(database.pool, id), { id, grant, until });
      await aged(280);
      assert.notEqual(await findSession(database.pool, id), null);
      await aged(21);
      assert.equal(await findSession(database.pool, id), null);
    }
  });

  it("is gone once it was deleted, and no other one with it", async () => {
    const [one, other] = [newPortalSessionId(), newPortalSessionId()];
    for (const id of [one, other]) await insertSession(database.pool, { id, grant: admin, minutes: 5 });
    await deleteSession(database.pool, one);
    assert.equal(await findSession(database.pool, one), null);
    assert.notEqual(await findSession(database.pool, other), null);
  });

  it("is forgotten after its end, as are codes, a thousand at a time", async () => {
    const grown = (count: number, age: string) =>
      database.pool.query(
        `INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, code_hash, minutes, until)
          SELECT 'acme', gen_random_uuid(), 'jo', 'member', false, CASE WHEN place % 2 = 0 THEN sha256(place::text::bytea) END, 5,
            now() + $2::interval FROM generate_series(1, $1::int) AS place`,
        [count, age],
      );
    const left = async () => (await database.pool.query("SELECT FROM postern.portal_sessions")).rowCount;
    await grown(1001, "-1 s");
    assert.equal(await forgetPortalSessions(database.pool), true);
    assert.equal(await left(), 1);
    await database.pool.query("DELETE FROM postern.portal_sessions");
    await grown(2, "1 min");
    assert.equal(await forgetPortalSessions(database.pool), false);
    assert.equal(await left(), 2);
  });

  it("is not forgotten that begins with a code's last moment", async () => {
    const { id, codeHash } = await newCode(admin);
    const using = await database.pool.connect();
    try {
      await using.query("BEGIN");
      // Behind the time of that transaction.
      await database.pool.query(
        "UPDATE postern.portal_sessions SET until = clock_timestamp() + interval '5 ms'",
      );
      assert.notEqual(await useCode(using, codeHash), null);
      await eventually(
        async () =>
          (await database.pool.query("SELECT FROM postern.portal_sessions WHERE until < now()")).rowCount ===
          1,
      );
      const forgotten = forgetPortalSessions(database.pool);
      const pid = await pidOf(using);
      await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
      await using.query("COMMIT");
      await forgotten;
    } finally {
      using.release(true);
    }
    assert.notEqual(await findSession(database.pool, id), null);
  });
});
