/** One step of a replay at a time, on a real database: what it adds, what it waits for, and how it ends. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedEvents } from "../../test/support/replays.ts";
import { openTenantPool, type OpenedTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { ReplayPage } from "../queue/once.ts";
import { newEndpointId, newReplayId, type ReplayId } from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { startOf } from "./count-candidates.ts";
import type { ReplaySelection } from "./replay.ts";
import { insertReplay } from "./replay-store.ts";
import { makeReplayWorker } from "./replay-worker.ts";

const ACME = tenant("acme");
const endpointId = newEndpointId();

let database: TestDatabase;
let tenants: OpenedTenantPool;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 4);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

let pages: ReplayPage[];
let addDispatches: (db: Db, page: ReplayPage) => Promise<void>;
let begunAt: Date;
beforeEach(async () => {
  // TRUNCATE makes new files of all partitions, which takes longer.
  for (const table of ["replays", "endpoints", "events", "deliveries", "dispatches", "outbox"])
    await sql(`DELETE FROM postern.${table}`);
  await sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ('acme', $1, 'https://example.com/', '{invoice.*}', '\\x0102030405060708', now(), now())`,
    [endpointId],
  );
  begunAt = (await sql("SELECT now() AS now")).rows[0].now;
  pages = [];
  addDispatches = async (_db, page) => void pages.push(page);
});

async function request(selection: ReplaySelection = "failed"): Promise<ReplayId> {
  const id = newReplayId();
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date()];
  const filter = { tenantId: ACME, endpointId, from, to, selection, eventType: null, cause: null };
  await insertReplay(database.pool, {
    ...filter,
    id,
    counted: 0,
    isCapped: false,
    before: startOf({ from }),
  });
  return id;
}

/** A worker that is stopped as soon as it has begun: it does one step. Answers what it told. */
async function step(
  through: TenantPool = tenants,
): Promise<{ failures: unknown[]; lines: Record<string, unknown>[] }> {
  const metrics = makeMetrics();
  const { log, lines } = makeKeptLog();
  const services = { db: database.pool, tenants: through, log, metrics };
  const worker = makeReplayWorker({ ...services, addDispatches: (db, page) => addDispatches(db, page) });
  worker.start();
  await worker.stop();
  const { values } = await metrics.upkeepFailures.get();
  return { failures: values.map(({ labels: { work }, value }) => ({ work, value })), lines };
}

async function rowOf(id: ReplayId) {
  const { rows } = await sql(
    `SELECT status, error, sent, skipped, is_fed, lease_owner, lease_until,
        extract(epoch FROM lease_until - now())::float8 * 1000 AS lease_ms
      FROM postern.replays WHERE id = $1`,
    [id],
  );
  return rows[0];
}

/** That it was given back since the test began, and when it may be claimed again. */
async function assertGivenBack(id: ReplayId, ms: number): Promise<void> {
  const { lease_owner: owner, lease_until: until, lease_ms: left } = await rowOf(id);
  assert.equal(owner, null);
  assert.ok(left <= ms + 1 && until.getTime() >= begunAt.getTime() + ms, `${left}`);
  await sql("UPDATE postern.replays SET lease_until = now() - interval '1 s'");
}

/** Dispatches of the replay that are in the queue. */
async function pend(id: ReplayId, count: number): Promise<void> {
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        parked, once, replay_id)
      SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 1, now(), now(), true, true, $2
      FROM generate_series(1, $3)`,
    [endpointId, id, count],
  );
}

const told = async () =>
  (await sql("SELECT tenant_id, type, body::json -> 'data' AS data FROM postern.outbox")).rows;

describe("a step of a replay", () => {
  it("adds the next 500 events, and none behind the last, until it is over", async () => {
    const events = await seedEvents(database.pool, { endpoint: endpointId, count: 501 });
    const id = await request();
    for (const [added, isFed] of [
      [500, false],
      [501, false],
      [501, true],
    ] as const) {
      await step();
      const { sent, is_fed: fed } = await rowOf(id);
      assert.deepEqual([sent, fed], [added, isFed]);
      await assertGivenBack(id, 0);
    }
    assert.deepEqual(
      pages.map(({ events: page, ...of }) => [of, page.length]),
      [500, 1].map((count) => [{ tenantId: ACME, endpointId, replayId: id }, count]),
    );
    assert.deepEqual(
      pages.flatMap(({ events: page }) => page),
      events.map((eventId) => ({ eventId, eventType: "invoice.paid", version: 1, attempt: 2 })),
    );
    const { lines } = await step();
    assert.deepEqual(lines, [{ level: 30, tenantId: ACME, replayId: id, endpointId, error: null }]);
    const { status, lease_owner: owner } = await rowOf(id);
    assert.deepEqual([status, owner], ["finished", null]);
    const data = { replay_id: id, endpoint_id: endpointId, sent: 501, delivered: 0, failed: 0, skipped: 0 };
    assert.deepEqual(await told(), [
      { tenant_id: "acme", type: "replay.finished", data: { ...data, status: "finished" } },
    ]);
  });

  it("counts what it skips, and neither sends nor counts what does not fit", async () => {
    const [pending, gone, sent] = await seedEvents(database.pool, { endpoint: endpointId, count: 3 });
    await seedEvents(database.pool, { endpoint: null, count: 2 });
    await sql("DELETE FROM postern.events WHERE id = $1", [gone]);
    await sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        VALUES ('acme', $1, postern.uuid_v7(), $2, 'invoice.paid', 2, now(), now())`,
      [endpointId, pending],
    );
    const id = await request();
    await step();
    const { sent: made, skipped } = await rowOf(id);
    assert.deepEqual([made, skipped], [1, 2]);
    assert.deepEqual(
      pages.flatMap(({ events }) => events.map(({ eventId }) => eventId)),
      [sent],
    );
  });

  it("adds nothing where nothing fits, and is over with a page of accepted events that is not full", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 2 });
    const id = await request("missed");
    await step();
    const { sent, skipped, is_fed: isFed } = await rowOf(id);
    assert.deepEqual([sent, skipped, isFed], [0, 0, true]);
    assert.deepEqual(pages, []);
  });

  it("makes the first attempt of what was missed", async () => {
    const [eventId] = await seedEvents(database.pool, { endpoint: null, count: 1 });
    await request("missed");
    await step();
    assert.deepEqual(
      pages.map(({ events }) => events),
      [[{ eventId, eventType: "invoice.paid", version: 1, attempt: 1 }]],
    );
  });

  it("waits while more than 250 of its dispatches are pending", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    await pend(id, 251);
    await step();
    assert.deepEqual(pages, []);
    await assertGivenBack(id, 200);
    await sql("DELETE FROM postern.dispatches WHERE id = (SELECT id FROM postern.dispatches LIMIT 1)");
    await step();
    assert.equal(pages.length, 1);
  });

  it("waits longer while its endpoint is disabled, and adds nothing", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    await sql("UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'");
    await step();
    assert.deepEqual(pages, []);
    await assertGivenBack(id, 2000);
    await sql("UPDATE postern.endpoints SET enabled = true, disabled_reason = NULL");
    await step();
    assert.equal(pages.length, 1);
  });

  it("is looked at five times a second while it runs, and once a second where there is none", async () => {
    const pauses: number[] = [];
    const wait = async (ms: number) => void pauses.push(ms);
    const services = { db: database.pool, tenants, log: makeKeptLog().log, metrics: makeMetrics() };
    const worker = makeReplayWorker({ ...services, addDispatches, wait });
    const id = await request();
    await pend(id, 251);
    const leases = new Set<number>();
    worker.start();
    try {
      await eventually(async () => leases.add((await rowOf(id)).lease_until.getTime()).size > 10);
      assert.deepEqual(pauses, []);
      await sql("DELETE FROM postern.replays");
      await eventually(async () => pauses.length > 0);
      assert.equal(pauses[0], 800);
    } finally {
      await worker.stop();
    }
  });

  it("ends when all is added and nothing is pending, at a disabled endpoint as well", async () => {
    const id = await request();
    await sql("UPDATE postern.replays SET is_fed = true");
    await sql("UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'");
    await pend(id, 1);
    await step();
    assert.equal((await rowOf(id)).status, "running");
    await assertGivenBack(id, 2000);
    await sql("DELETE FROM postern.dispatches");
    await step();
    assert.equal((await rowOf(id)).status, "finished");
  });

  it("does not wait for an endpoint that another holds, so no other replay does", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    const holder = await database.pool.connect();
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [endpointId]);
      const lines = [{ level: 40, tenantId: ACME, replayId: id, endpointId, times: 1 }];
      assert.deepEqual(await step(), { failures: [], lines });
      await assertGivenBack(id, 1000);
      assert.deepEqual(pages, []);
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    await step();
    assert.equal(pages.length, 1);
  });

  it("ends as failed when its endpoint is deleted and nothing is pending any more", async () => {
    const id = await request();
    await sql("DELETE FROM postern.endpoints");
    await pend(id, 1);
    await step();
    assert.equal((await rowOf(id)).status, "running");
    await assertGivenBack(id, 200);
    await sql("DELETE FROM postern.dispatches");
    const { lines } = await step();
    const { status, error } = await rowOf(id);
    assert.deepEqual([status, error], ["failed", "endpoint_deleted"]);
    assert.deepEqual(
      lines.map(({ error }) => error),
      ["endpoint_deleted"],
    );
    const data = { replay_id: id, endpoint_id: endpointId, sent: 0, delivered: 0, failed: 0, skipped: 0 };
    assert.deepEqual(await told(), [
      { tenant_id: "acme", type: "replay.finished", data: { ...data, status: "failed" } },
    ]);
  });

  it("has a lease of ten seconds, and statements that go by index", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    const { rows: begun } = await sql("SELECT now() AS at");
    let lease: unknown;
    let plans: unknown;
    addDispatches = async (db) => {
      const inTime = "BETWEEN $1::timestamptz + interval '10 s' AND now() + interval '10 s'";
      lease = (await sql(`SELECT lease_until ${inTime} AS fits FROM postern.replays`, [begun[0]?.at])).rows;
      plans = (await db.query("SHOW plan_cache_mode")).rows;
    };
    await step();
    assert.deepEqual([lease, plans], [[{ fits: true }], [{ plan_cache_mode: "force_generic_plan" }]]);
    await assertGivenBack(id, 0);
  });

  it("that fails is told and counted, and leaves all as it was for another worker", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    addDispatches = async () => {
      throw new Error("no luck");
    };
    assert.deepEqual(await step(), {
      failures: [{ work: "replays", value: 1 }],
      lines: [{ level: 40, err: "no luck", times: 1, work: "replays" }],
    });
    const { sent, is_fed: isFed, lease_owner: owner, status } = await rowOf(id);
    assert.deepEqual([sent, isFed, status], [0, false, "running"]);
    assert.notEqual(owner, null);
  });
});

const pass = () => sql("UPDATE postern.replays SET lease_owner = gen_random_uuid()");

describe("a replay that passed to another worker", () => {
  it("gets nothing from the first one's step", async () => {
    await seedEvents(database.pool, { endpoint: endpointId, count: 1 });
    const id = await request();
    const told = await step({
      ...tenants,
      of: (tenantId) => ({
        ...tenants.of(tenantId),
        transaction: async (work) => {
          await pass();
          return tenants.of(tenantId).transaction(work);
        },
      }),
    });
    const { status, sent, lease_owner: owner } = await rowOf(id);
    assert.deepEqual([pages, status, sent], [[], "running", 0]);
    assert.deepEqual(told, { failures: [], lines: [] });
    assert.notEqual(owner, null);
  });

  it("is not ended by the first one, and nobody is told of an end", async () => {
    const id = await request();
    await sql("UPDATE postern.replays SET is_fed = true");
    const { lines } = await step({
      ...tenants,
      reading: (tenantId) => ({
        query: async (text, values) => {
          await pass();
          return tenants.reading(tenantId).query(text, values);
        },
      }),
    });
    assert.deepEqual([(await rowOf(id)).status, lines, await told()], ["running", [], []]);
  });
});
