import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { eventually } from "../../test/support/eventually.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { logged } from "../../test/support/store-inputs.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { sessions } from "../../test/support/sessions.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { watchedRows, watchLog } from "../../test/support/watched-log.ts";
import { inTransaction } from "../database/transaction.ts";
import { pause } from "../shared/every.ts";
import { newDeliveryId, newEndpointId, newEventId, type EndpointId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import type { NewDelivery } from "./delivery.ts";
import { insertDelivery } from "./delivery-store.ts";
import type { TailFilter } from "./tail-batch.ts";
import { endWatch, noteWatch, removeOldWatches } from "./tail-store.ts";
import { LogTail } from "./tail.ts";

const tenantId = tenant("acme");
const nothing = () => undefined;
const sink = { hasRoom: () => true, send: nothing, skip: nothing, end: nothing };

const isTooMany = (error: unknown) =>
  error instanceof Refusal && error.code === "too_many_requests" && error.retryAfterS === 10;

let database: TestDatabase;
let tenants: SteeredTenants;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 2));
});
after(async () => {
  await tenants.end();
  await database.drop();
});

it("a watcher that could not begin, or has ended, leaves its place and its count to others", async () => {
  const metrics = makeMetrics();
  const tail = new LogTail({ tenants, databaseUrl: database.url, log: makeLog("silent"), metrics });
  const watch = () => tail.watch(tenantId, { endpointId: null, status: null }, sink);
  const count = async () => (await metrics.logWatchers.get()).values.map(({ value }) => value);
  try {
    await database.pool.query("ALTER TABLE postern.log_watches RENAME TO away");
    for (let failed = 0; failed < 10; failed++) await assert.rejects(watch(), /log_watches/);
    await database.pool.query("ALTER TABLE postern.away RENAME TO log_watches");
    assert.deepEqual(await count(), [0]);
    const ends = [];
    for (let place = 0; place < 10; place++) ends.push(await watch());
    await assert.rejects(watch(), isTooMany);
    assert.deepEqual(await count(), [10]);
    for (const end of ends) end();
    assert.deepEqual(await count(), [0]);
  } finally {
    await tail.close();
  }
});

const [one, two] = [newEndpointId(), newEndpointId()];
const ALL: TailFilter = { endpointId: null, status: null };

async function add(endpointId: EndpointId, given: Partial<NewDelivery> = {}): Promise<string> {
  const row = { ...logged({ tenantId, endpointId, eventId: newEventId() }), requestBody: "{}", ...given };
  await insertDelivery(database.pool, row);
  return row.id;
}

/** In one statement, so that they come in one flush. So many of them are delivered, and the others behind them failed. */
async function addMany(count: number, endpointId = one, delivered = 0): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms)
      SELECT $1, $2, postern.uuid_v7(), gen_random_uuid(), 'a.b', 'event',
        CASE WHEN number > $4 THEN 'failed' ELSE 'delivered' END, 1, '{}', 1
      FROM generate_series(1, $3) AS number`,
    [tenantId, endpointId, count, delivered],
  );
}

/** As always, but for the time between two looks at what is to be told. */
const waitLess: typeof pause = (ms, signal) => pause(ms === 200 ? 10 : ms, signal);

const listeners = async () => (await sessions(database.pool, { statement: "LISTEN %postern_log%" })).length;

/** For how many seconds this process's note of a watched log holds. */
async function noteLife(): Promise<number> {
  const { rows } = await database.pool.query<{ s: number }>(
    "SELECT extract(epoch FROM until - now())::float AS s FROM postern.log_watches",
  );
  return rows[0]?.s ?? 0;
}

const watches = async () =>
  (await database.pool.query("SELECT tenant_id FROM postern.log_watches")).rowCount ?? NaN;

describe("a watcher of the log", () => {
  let tail: LogTail;
  let metrics: Metrics;
  let kept: ReturnType<typeof makeKeptLog>;

  beforeEach(async (test) => {
    // Notes of earlier tests' processes.
    await database.pool.query("DELETE FROM postern.log_watches");
    [metrics, kept] = [makeMetrics(), makeKeptLog()];
    tenants.reset();
    const given = { tenants, databaseUrl: database.url, log: kept.log, metrics };
    tail = new LogTail({ ...given, wait: waitLess });
    assert.ok("after" in test);
    test.after(() => tail.close());
  });

  const watch = (filter = ALL, of = tenantId) => watchLog(tail, of, filter);
  const rows = () => watchedRows(metrics);

  it("is sent what fits its filter, oldest first and without bodies, and of no other tenant", async () => {
    const [all, ofTwo, failed, ofGlobex] = [
      await watch(),
      await watch({ ...ALL, endpointId: two }),
      await watch({ ...ALL, status: "failed" }),
      await watch(ALL, tenant("globex")),
    ];
    const first = await add(one, { status: "delivered" });
    const second = await add(two);
    const third = await add(two, { status: "delivered" });
    await eventually(async () => all.told.sent.length === 3);
    await eventually(async () => ofTwo.told.sent.length === 2);
    assert.deepEqual(all.told, {
      sent: [first, second, third],
      skipped: [],
      bodies: 0,
      empty: 0,
      hasRoom: true,
    });
    assert.deepEqual([ofTwo.told.sent, failed.told.sent], [[second, third], [second]]);
    assert.deepEqual([ofGlobex.told.sent, ofGlobex.told.skipped], [[], []]);
    assert.deepEqual(await rows(), { sent: 6 });
    // Nothing is read where nothing was added.
    assert.ok(tenants.names().filter((name) => name === "read-delivery-heads").length <= 3);
    assert.deepEqual(kept.lines, []);
  });

  it("has a note of its process and tenant alone, which is renewed, and goes when it is old", async () => {
    const { pool } = database;
    const globex = tenant("globex");
    const [first, second] = [randomUUID(), randomUUID()];
    for (const watcher of [first, second]) await noteWatch(pool, tenantId, watcher);
    await pool.query("UPDATE postern.log_watches SET until = now() - interval '1 s'");
    await noteWatch(pool, tenantId, second);
    await noteWatch(pool, globex, first);
    const left = async () => {
      const { rows: notes } = await pool.query(
        "SELECT tenant_id AS of, watcher FROM postern.log_watches ORDER BY 1",
      );
      return notes.map(({ of, watcher }) => [of, watcher]);
    };
    const others = [
      [tenantId, second],
      [globex, first],
    ];
    await removeOldWatches(pool);
    assert.deepEqual(await left(), others);
    await noteWatch(pool, tenantId, first);
    await endWatch(pool, tenantId, first);
    assert.deepEqual(await left(), others);
  });

  it("is noted for longer than until the next note", async () => {
    await watch();
    assert.ok((await noteLife()) > 10);
  });

  it("is told nothing of what is no announcement, or of a tenant that nobody watches here", async () => {
    const { told } = await watch();
    const others = JSON.stringify({ tenant: "globex", omitted: 3, added: [] });
    for (const payload of ["garbage", others]) {
      await database.pool.query("SELECT pg_notify('postern_log', $1)", [payload]);
    }
    const id = await add(one);
    await eventually(async () => told.sent.length === 1);
    assert.deepEqual([told.sent, told.skipped], [[id], []]);
  });

  it("is told of failures, where an announcement has no room for all that came with them", async () => {
    const { told } = await watch({ ...ALL, status: "failed" });
    await addMany(100, one, 99);
    await eventually(async () => told.sent.length + told.skipped.length > 0);
    assert.deepEqual([told.sent.length, told.skipped], [1, [20]]);
  });

  it("is told how many it missed in a burst, and those that came while it had no room", async () => {
    const [fast, slow] = [await watch(), await watch()];
    slow.told.hasRoom = false;
    await addMany(13);
    await eventually(async () => fast.told.sent.length === 10);
    assert.deepEqual([fast.told.skipped, slow.told.sent, slow.told.skipped], [[3], [], []]);
    await addMany(2);
    await eventually(async () => fast.told.sent.length === 12);
    slow.told.hasRoom = true;
    await eventually(async () => slow.told.skipped.length === 1);
    assert.deepEqual([slow.told.skipped, slow.told.sent, fast.told.skipped], [[15], [], [3]]);
    assert.deepEqual(await rows(), { sent: 12, skipped: 18 });
  });

  it("is told what could not be read, and gets what comes afterwards", async () => {
    const { told } = await watch();
    await database.pool.query("REVOKE SELECT ON postern.deliveries FROM postern_tenant");
    try {
      await addMany(2);
      await eventually(async () => told.skipped.length === 1);
    } finally {
      await database.pool.query("GRANT SELECT ON postern.deliveries TO postern_tenant");
    }
    assert.deepEqual(told.skipped, [2]);
    assert.deepEqual(await rows(), { sent: 0, skipped: 2 });
    assert.deepEqual(
      kept.lines.map(({ level, err }) => [level, String(err).split(" ", 2).join(" ")]),
      [[40, "permission denied"]],
    );
    const id = await add(one);
    await eventually(async () => told.sent.length === 1);
    assert.deepEqual(told.sent, [id]);
  });

  it("is told no more of what is gone again before it is read", async () => {
    const { told } = await watch();
    const gone = newDeliveryId();
    await inTransaction(database.pool, async (transaction) => {
      for (const id of [gone, newDeliveryId()]) {
        const row = { ...logged({ tenantId, endpointId: one, eventId: newEventId() }), id };
        await insertDelivery(transaction, row);
      }
      await transaction.query("DELETE FROM postern.deliveries WHERE id = $1", [gone]);
    });
    await eventually(async () => told.sent.length > 0);
    assert.deepEqual([told.sent.length, told.sent.includes(gone), told.skipped], [1, false, []]);
    assert.deepEqual(kept.lines, []);
  });

  it("is told how many had no room when they were read", async () => {
    const { told } = await watch();
    const { told: other } = await watch({ ...ALL, status: "delivered" });
    tenants.before = async ({ name }) => {
      if (name === "read-delivery-heads") told.hasRoom = false;
    };
    await addMany(3);
    await eventually(async () => !told.hasRoom);
    await add(one, { status: "delivered" });
    await eventually(async () => other.sent.length === 1);
    told.hasRoom = true;
    await eventually(async () => told.skipped.length === 1);
    assert.deepEqual([told.sent, told.skipped], [[], [4]]);
  });

  it("is told of rows that the notification has no room for, whatever it waits for", async () => {
    const [all, delivered] = [await watch(), await watch({ ...ALL, status: "delivered" })];
    await addMany(100);
    await eventually(async () => all.told.sent.length === 10 && delivered.told.skipped.length === 1);
    // The trigger names 80.
    assert.deepEqual([all.told.skipped, delivered.told.skipped], [[90], [20]]);
  });

  it("that has ended is told nothing more; the last one of a tenant ends the note of it, and others begin anew", async () => {
    const [first, second, ofGlobex] = [await watch(), await watch(), await watch(ALL, tenant("globex"))];
    assert.equal(await watches(), 2);
    ofGlobex.end();
    await eventually(async () => (await watches()) === 1);
    first.end();
    first.end();
    const id = await add(one);
    await eventually(async () => second.told.sent.length === 1);
    assert.deepEqual([first.told.sent, second.told.sent], [[], [id]]);
    second.end();
    await eventually(async () => (await watches()) === 0);
    await eventually(async () => (await listeners()) === 0);
    const third = await watch();
    const next = await add(one);
    await eventually(async () => third.told.sent.length === 1);
    assert.deepEqual(third.told.sent, [next]);
    assert.deepEqual(
      (await metrics.logWatchers.get()).values.map(({ value }) => value),
      [1],
    );
  });

  it("is refused while the database cannot be listened to, and leaves its place to others", async (test) => {
    const url = new URL(database.url);
    url.port = "1";
    const deaf = new LogTail({ tenants, databaseUrl: url.href, log: kept.log, metrics });
    test.after(() => deaf.close());
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const watching = deaf.watch(tenantId, ALL, sink);
    test.mock.timers.tick(4999);
    assert.deepEqual((await metrics.logWatchers.get()).values[0]?.value, 1);
    test.mock.timers.tick(1);
    await assert.rejects(
      watching,
      (error) => error instanceof Refusal && error.code === "unavailable" && error.retryAfterS === 10,
    );
    assert.deepEqual((await metrics.logWatchers.get()).values[0]?.value, 0);
    test.mock.timers.reset();
    await eventually(async () => kept.lines.length === 1);
    assert.equal(kept.lines[0]?.["level"], 40);
    assert.equal(typeof kept.lines[0]["err"], "string");
  });

  it("notes itself every ten seconds, as long as the database lets it, and says where it does not", async (test) => {
    const waits = new Map<number, () => void>();
    const wait: typeof pause = (ms, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => resolve());
      waits.set(ms, resolve);
      return promise;
    };
    const passTenSeconds = async () => {
      const pass = await eventually(async () => waits.get(10_000));
      waits.delete(10_000);
      pass();
    };
    const slow = new LogTail({ tenants, databaseUrl: database.url, log: kept.log, metrics, wait });
    test.after(() => slow.close());
    const end = await slow.watch(tenantId, ALL, sink);
    await eventually(async () => waits.size === 2);
    await database.pool.query("DELETE FROM postern.log_watches");
    await passTenSeconds();
    await eventually(async () => (await watches()) === 1);
    await database.pool.query("ALTER TABLE postern.log_watches RENAME TO away");
    try {
      await passTenSeconds();
      await eventually(async () => kept.lines.length === 1);
      end();
      await eventually(async () => kept.lines.length === 2);
    } finally {
      await database.pool.query("ALTER TABLE postern.away RENAME TO log_watches");
    }
    const told = { level: 40, err: 'relation "postern.log_watches" does not exist' };
    assert.deepEqual(kept.lines, [{ ...told, times: 1 }, told]);
  });

  it("that ends after its process asks the database nothing, which may be closed by then", async (test) => {
    const { end } = await watch();
    await tail.close();
    const of = test.mock.method(tenants, "of");
    end();
    assert.equal(of.mock.callCount(), 0);
  });

  it("is refused where 200 of all tenants watch in this process, and none has two more than its own", async () => {
    for (let n = 0; n < 50; n++) for (let m = 0; m < 4; m++) await watch(ALL, tenant(`tenant-${n}`));
    await assert.rejects(watch(ALL, tenant("tenant-0")), isTooMany);
  });

  it("has its stream ended where all places are taken, for another tenant that has fewer", async () => {
    let ended = 0;
    const sink = { hasRoom: () => true, send: nothing, skip: nothing, end: () => void ended++ };
    const longest = await tail.watch(tenant("tenant-0"), ALL, sink);
    for (let m = 1; m < 10; m++) await watch(ALL, tenant("tenant-0"));
    for (let n = 1; n < 20; n++) for (let m = 0; m < 10; m++) await watch(ALL, tenant(`tenant-${n}`));
    await watch();
    const { values } = await metrics.logWatchers.get();
    assert.deepEqual([ended, values.map(({ value }) => value)], [1, [200]]);
    longest();
    await assert.rejects(watch(ALL, tenant("tenant-0")), isTooMany);
  });
});
