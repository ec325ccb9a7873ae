import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
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
afterEach(releaseWaits);

/** Warnings of the test, and the errors that they tell. */
let warned: string[];
beforeEach(() => {
  warned = [];
});

function warn(told: string | { err: Error }, text = ""): void {
  warned.push(typeof told === "string" ? told : `${text}: ${told.err.message}`);
}

function presenceOn(databaseUrl = database.url, firstLeaseId = makeLeaseIds().first) {
  const log = Object.assign(makeLog("silent"), { warn });
  return makePresence({ db: database.pool, databaseUrl, firstLeaseId, log });
}

const ownSessions = () => sessions(database.pool, { name: "postern worker session" });

const leasedNow = () => ({ leaseEndsMs: performance.now() + LEASE_MS });

it("is confirmed while it runs, and leaves nothing behind", async () => {
  const presence = presenceOn();
  let heard = 0;
  presence.whenConfirmed(() => heard++);
  assert.equal(presence.isConfirmed(), false);
  const before = performance.now();
  presence.start();
  presence.start();
  await eventually(async () => presence.isConfirmed());
  assert.ok(presence.covers(leasedNow()));
  assert.equal((await ownSessions()).length, 1);
  const since = presence.unbrokenSince();
  assert.ok(since > before && since < performance.now());
  await database.pool.query(
    "UPDATE postern.workers SET seen_at = now() - interval '1 h', session_at = now() - interval '1 h'",
  );
  await eventually(async () => {
    const { rows } = await database.pool.query(
      "SELECT FROM postern.workers WHERE least(seen_at, session_at) > now() - interval '1 min'",
    );
    return rows.length === 1;
  });
  await eventually(async () => heard >= 2);
  assert.equal(presence.unbrokenSince(), since);
  await presence.stop();
  assert.equal(presence.isConfirmed(), false);
  assert.deepEqual(warned, []);
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
  assert.deepEqual(warned, ["other workers took this worker for dead; it drops the leases that they freed"]);
  await presence.stop();
});

it("is not confirmed from the moment its session ends, until it has a new one", async () => {
  const presence = presenceOn();
  const confirmed = Promise.withResolvers<void>();
  presence.whenConfirmed(confirmed.resolve);
  // The next confirmation, which would find it out, comes when the test says so.
  const waits = holdWaits();
  presence.start();
  await confirmed.promise;
  await database.pool.query("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", [
    await ownSessions(),
  ]);
  await eventually(async () => !presence.isConfirmed());
  await eventually(async () => {
    for (const wait of waits) wait.end();
    return presence.isConfirmed();
  });
  assert.deepEqual(warned, []);
  await presence.stop();
});

it("gives up a session that does not confirm it, and tells when the pool doesn't either", async () => {
  const presence = presenceOn();
  presence.start();
  await eventually(async () => presence.isConfirmed());
  await database.pool.query(
    `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON postern.workers EXECUTE FUNCTION public.refuse()`,
  );
  try {
    await eventually(async () => warned.length > 1);
    assert.equal(presence.isConfirmed(), false);
  } finally {
    await database.pool.query("DROP TRIGGER refuse ON postern.workers");
  }
  await eventually(async () => presence.isConfirmed());
  await presence.stop();
  assert.deepEqual(warned.slice(0, 2), [
    "this worker's session is lost; it starts no attempt until it has a new one: not now",
    "this worker's presence could not be confirmed: not now",
  ]);
});

it("gives up a session that has gone silent, and shows over the pool that it lives", async (test) => {
  const url = new URL(database.url);
  const proxy = await startTcpProxy(Number(url.port));
  test.after(() => proxy.close());
  url.port = String(proxy.port);
  const presence = presenceOn(url.href);
  const waits = holdWaits();
  presence.start();
  await eventually(async () => presence.isConfirmed() && waits.length === 1);
  proxy.pause();
  await database.pool.query("UPDATE postern.workers SET seen_at = now() - interval '1 h'");
  test.mock.timers.enable({ apis: ["setTimeout"] });
  waits[0]?.end();
  await setImmediate();
  test.mock.timers.tick(5000);
  test.mock.timers.reset();
  await eventually(async () => {
    const { rows } = await database.pool.query(
      "SELECT FROM postern.workers WHERE seen_at > now() - interval '1 min'",
    );
    return rows.length === 1;
  });
  assert.equal(presence.isConfirmed(), false);
  await presence.stop();
  assert.deepEqual(warned, [
    "this worker's session is lost; it starts no attempt until it has a new one: Query read timeout",
  ]);
  await database.pool.query("DELETE FROM postern.workers");
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
  const presence = presenceOn(database.url, firstLeaseId);
  presence.start();
  // It has tried, and shows over the pool that it lives.
  await eventually(async () => (await database.pool.query("SELECT FROM postern.workers")).rowCount === 1);
  await presence.stop();
  assert.match(warned[0] ?? "", /: another process holds the worker's lock$/);
  await eventually(async () => (await ownSessions()).length === 0);
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
