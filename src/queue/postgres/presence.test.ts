import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/service.ts";
import { makeLog } from "../../telemetry/log.ts";
import { LEASE_MS } from "../queue.ts";
import { makeLeaseIds } from "./lease-ids.ts";
import { holdWorkerLock } from "./presence-store.ts";
import { makePresence } from "./presence.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

function presenceOn(databaseUrl = database.url) {
  const firstLeaseId = makeLeaseIds().first;
  return makePresence({ db: database.pool, databaseUrl, firstLeaseId, log: makeLog("silent") });
}

const leasedNow = () => ({ leaseEndsMs: performance.now() + LEASE_MS });

it("is confirmed while it runs, and leaves nothing behind", async () => {
  const presence = presenceOn();
  assert.equal(presence.isConfirmed(), false);
  presence.start();
  await eventually(async () => presence.isConfirmed());
  assert.ok(presence.covers(leasedNow()));
  await presence.stop();
  assert.equal(presence.isConfirmed(), false);
  const { rows } = await database.pool.query("SELECT FROM postern.workers");
  assert.equal(rows.length, 0);
});

it("taken for dead, it is not confirmed until it is registered anew, and its leases from before do not count", async () => {
  const presence = presenceOn();
  presence.start();
  await eventually(async () => presence.isConfirmed());
  const earlier = leasedNow();
  await database.pool.query("UPDATE postern.workers SET is_dead = true");
  await eventually(async () => !presence.isConfirmed());
  await database.pool.query("DELETE FROM postern.workers");
  await eventually(async () => presence.isConfirmed());
  assert.equal(presence.covers(earlier), false);
  assert.ok(presence.covers(leasedNow()));
  await presence.stop();
});

it("without a session it still shows that it lives, and is not confirmed", async () => {
  const presence = presenceOn("postgres://nobody@127.0.0.1:1/none");
  presence.start();
  await eventually(async () => {
    const { rows } = await database.pool.query("SELECT FROM postern.workers WHERE seen_at > registered_at");
    return rows.length === 1;
  });
  assert.equal(presence.isConfirmed(), false);
  await presence.stop();
  await database.pool.query("DELETE FROM postern.workers");
});

it("leaves no session open that did not get the worker's lock", async () => {
  const firstLeaseId = makeLeaseIds().first;
  const other = await database.pool.connect();
  await other.query("SELECT pg_advisory_lock(hashtextextended('postern.worker ' || $1, 0))", [firstLeaseId]);
  const presence = makePresence({
    db: database.pool,
    databaseUrl: database.url,
    firstLeaseId,
    log: makeLog("silent"),
  });
  presence.start();
  // It has tried, and shows over the pool that it lives.
  await eventually(async () => (await database.pool.query("SELECT FROM postern.workers")).rowCount === 1);
  await presence.stop();
  await eventually(async () => {
    const { rowCount } = await database.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'postern worker session'",
    );
    return rowCount === 0;
  });
  other.release(true);
  await database.pool.query("DELETE FROM postern.workers");
});

it("keeps the lock however long its worker is suspended", async () => {
  const session = await database.pool.connect();
  await session.query("SET idle_session_timeout = '10s'");
  assert.equal(await holdWorkerLock(session, makeLeaseIds().first), true);
  const { rows } = await session.query("SELECT current_setting('idle_session_timeout') AS ends");
  session.release(true);
  assert.deepEqual(rows, [{ ends: "0" }]);
});
