import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { readingOnly } from "../../test/support/reading-only.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { DeliveryStats, WINDOW_NAMES } from "./stats.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import {
  idTimeMs,
  newDeliveryId,
  newEndpointId,
  type DeliveryId,
  type EndpointId,
  type TenantId,
} from "../shared/id.ts";
import {
  foldCounts,
  forgetOldStats,
  readBuckets,
  readCauses,
  readEndpointBuckets,
  readEndpointsNow,
  readNewestAttempts,
} from "./stats-store.ts";

const tenantId = tenant("acme");
const endpointId = newEndpointId();
const HOUR_MS = 3_600_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** As a statement notes attempts that it logs. */
async function count(
  cause: string,
  ids: readonly [first: DeliveryId, last: DeliveryId],
  latency: readonly [sumMs: number, maxMs: number],
  of: { tenantId: TenantId; endpointId: EndpointId; atMs?: number } = { tenantId, endpointId },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.delivery_counts
      VALUES ($1, $2, date_bin('10 min', to_timestamp($3 / 1000.0), 'epoch'), $4, 2, 2, $5, $6, $7, $8)`,
    [of.tenantId, of.endpointId, of.atMs ?? idTimeMs(ids[0]), cause, ...latency, ...ids],
  );
}

it("counts add up to the same, however many of them are folded and in whatever order they come", async () => {
  const ids = Array.from({ length: 8 }, () => newDeliveryId());
  const pair = (first: number): [DeliveryId, DeliveryId] => [
    ids[first] ?? newDeliveryId(),
    ids[first + 1] ?? newDeliveryId(),
  ];
  const grain = 60;
  const startMs = Math.floor(idTimeMs(pair(0)[0]) / HOUR_MS) * HOUR_MS;
  const span = { fromMs: startMs, toMs: startMs + 2 * HOUR_MS };
  const read = async () => {
    const { pool } = database;
    const buckets = await readBuckets(pool, tenantId, { endpointId, grain, span });
    const causes = await readCauses(pool, tenantId, { endpointId, spans: [{ ...span, grain }], limit: 10 });
    return {
      buckets: buckets.length,
      first: buckets[0],
      causes,
      newest: (await readNewestAttempts(pool, tenantId)).get(endpointId),
    };
  };
  // The greatest latency and the first id come first, the newest id last, and then the other way round.
  await count("timeout", pair(2), [50, 40]);
  assert.equal(await foldCounts(database.pool), false);
  await count("timeout", pair(4), [10, 9]);
  await count("", pair(6), [8, 5]);
  const expected = {
    buckets: 1,
    first: { atMs: startMs, delivered: 2, failed: 4, latencyAvgMs: 68 / 6, latencyMaxMs: 40 },
    causes: [{ cause: "timeout", count: 4, firstId: ids[2], lastId: ids[5] }],
    newest: { delivered: ids[7], failed: ids[5] },
  };
  assert.deepEqual(await read(), expected);
  await foldCounts(database.pool);
  assert.deepEqual(await read(), expected);
  // What is late, of attempts that began before.
  await count("timeout", pair(0), [60, 59]);
  const more = {
    ...expected,
    first: { ...expected.first, failed: 6, latencyAvgMs: 128 / 8, latencyMaxMs: 59 },
    causes: [{ cause: "timeout", count: 6, firstId: ids[0], lastId: ids[5] }],
  };
  assert.deepEqual(await read(), more);
  await foldCounts(database.pool);
  assert.deepEqual(await read(), more);
});

const AT = "'2026-03-01T12:00:00Z'::timestamptz";
/** A row of each table that is too old, after its tenant. */
const OLD = {
  newest_attempts: `id, false, postern.lowest_id_at(${AT})`,
  delivery_stats: `id, 10, ${AT}, '', 1, 1, 1, 1, id, id`,
  delivery_totals: `10, ${AT}, id, 1, 1, 2, 1, 1`,
};

it("what another process folds or forgets is passed over, and the rest is not kept waiting", async () => {
  const { pool } = database;
  const tables = ["delivery_counts", ...Object.keys(OLD)];
  await pool.query(tables.map((table) => `DELETE FROM postern.${table}`).join("; "));
  for (const [table, values] of Object.entries({
    ...OLD,
    delivery_counts: `id, ${AT}, '', 1, 1, 1, 1, id, id`,
  })) {
    await pool.query(
      `INSERT INTO postern.${table} SELECT $1, ${values} FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 2)) AS made`,
      [tenantId],
    );
  }
  // What is newest of a tenant that is being moved is not forgotten.
  await pool.query(
    `INSERT INTO postern.newest_attempts SELECT 'hooli', ${OLD.newest_attempts} FROM gen_random_uuid() AS id`,
  );
  await pool.query(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ('hooli', 1, true, true)",
  );
  const [one, two] = [await pool.connect(), await pool.connect()];
  try {
    await one.query("BEGIN");
    for (const table of tables)
      await one.query(`SELECT FROM postern.${table} WHERE tenant_id = 'acme' LIMIT 1 FOR UPDATE`);
    const left = async () =>
      Promise.all(tables.map(async (table) => (await pool.query(`SELECT FROM postern.${table}`)).rowCount));
    await forgetOldStats(two, 3);
    assert.deepEqual(await left(), [2, 2, 1, 1]);
    await foldCounts(two);
    assert.equal((await left())[0], 1);
  } finally {
    await one.query("ROLLBACK");
    one.release();
    await two.query("DELETE FROM postern.shard_tenants; DELETE FROM postern.newest_attempts");
    two.release();
  }
});

it("counts are folded in the order of their keys, so that two who fold never wait for each other", async () => {
  const { pool } = database;
  await pool.query("DELETE FROM postern.delivery_counts; DELETE FROM postern.delivery_stats");
  const rows = `SELECT $1, id, ${AT}, '', 1, 1, 1, 1, id, id FROM unnest($2::uuid[]) AS id`;
  const ids = Array.from({ length: 40 }, () => newEndpointId());
  const add = () => pool.query(`INSERT INTO postern.delivery_counts ${rows}`, [tenantId, ids]);
  await add();
  await foldCounts(pool);
  await add();
  const [one, two] = [await pool.connect(), await pool.connect()];
  try {
    await one.query("BEGIN");
    const key = "tenant_id, endpoint_id, grain, at, cause";
    await one.query(`SELECT FROM postern.delivery_stats ORDER BY ${key} LIMIT 1 FOR UPDATE`);
    const pid = await pidOf(one);
    const folding = foldCounts(two);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    // It waits for the first, and has locked none behind it: of each endpoint and of all, in three grains.
    const free = await pool.query("SELECT FROM postern.delivery_stats FOR UPDATE SKIP LOCKED");
    assert.equal(free.rowCount, 3 * 41 - 1);
    await one.query("COMMIT");
    await folding;
  } finally {
    one.release();
    two.release();
  }
});

it("counts are folded and forgotten in steps, and each says where it took as many as it may", async () => {
  const { pool } = database;
  await pool.query("DELETE FROM postern.delivery_counts");
  await pool.query(
    `INSERT INTO postern.delivery_counts
      SELECT $1, $2, '2026-03-01T12:00:00Z', '', 1, 1, 1, 1, $3, $3 FROM generate_series(1, 20001)`,
    [tenantId, endpointId, newDeliveryId()],
  );
  assert.deepEqual([await foldCounts(pool), await foldCounts(pool)], [true, false]);
  await forgetOldStats(pool, 3);
  // Each table alone, for there may be more where one of them has more.
  for (const [table, values] of Object.entries(OLD)) {
    await pool.query(
      `INSERT INTO postern.${table} SELECT $1, ${values} FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 20001)) AS made`,
      [tenantId],
    );
    assert.deepEqual([await forgetOldStats(pool, 3), await forgetOldStats(pool, 3)], [true, false], table);
  }
});

it("a window has as many whole buckets as it is long, with the one that is under way", async (test) => {
  const tenants = new SteeredTenants(openTenantPool(database, 3));
  test.after(() => tenants.end());
  const { id } = await insertEndpoint(database.pool, newEndpoint({ tenantId: tenant("globex") }));
  const hours = { "1h": 1, "24h": 24, "7d": 7 * 24, "30d": 30 * 24 };
  const bucketMs = { "1h": 600_000, "24h": HOUR_MS, "7d": 24 * HOUR_MS, "30d": 24 * HOUR_MS };
  const midnightMs = Date.UTC(2026, 2, 1);
  for (const window of WINDOW_NAMES) {
    for (const nowMs of [midnightMs, midnightMs + 1, midnightMs + bucketMs[window] - 1]) {
      const { span, endpoints } = await new DeliveryStats(tenants).byEndpoint(tenant("globex"), {
        window,
        nowMs,
      });
      const toMs = midnightMs + bucketMs[window];
      const fromMs = toMs - hours[window] * HOUR_MS;
      assert.deepEqual(span, { fromMs, toMs });
      const none = { delivered: 0, failed: 0, latencyAvgMs: null, latencyMaxMs: null };
      const series = Array.from({ length: (toMs - fromMs) / bucketMs[window] }, (_, place) =>
        Object.assign({ atMs: fromMs + place * bucketMs[window] }, none),
      );
      const nothing = { pending: 0, oldestDueAt: null, lastDeliveredAt: null, lastFailedAt: null };
      assert.deepEqual(endpoints, [{ endpointId: id, series, ...nothing }]);
    }
  }
  const now = tenants.statements.find(({ name }) => name === "read-endpoints-now");
  assert.deepEqual(now?.values.slice(1), [1000, 10_000]);
});

it("statistics take turns with the tenant's other reads", async (test) => {
  const pool = openTenantPool(database, 2);
  test.after(() => pool.end());
  const stats = new DeliveryStats(readingOnly(pool));
  const initech = tenant("initech");
  const span = { fromMs: 0, toMs: HOUR_MS };
  const empty = { atMs: 0, delivered: 0, failed: 0, latencyAvgMs: null, latencyMaxMs: null };
  assert.deepEqual(await stats.overTime(initech, { endpointId: null, bucket: "1h", span }), [empty]);
  const { endpoints } = await stats.byEndpoint(initech, { window: "1h", nowMs: HOUR_MS });
  assert.deepEqual(endpoints, []);
  assert.deepEqual(await stats.causes(initech, { endpointId: null, span }), []);
});

it("the newest endpoints are told, where there are more than are asked for", async () => {
  const { pool } = database;
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await insertEndpoint(pool, newEndpoint({ tenantId }))).id);
  await insertEndpoint(pool, newEndpoint({ tenantId: tenant("globex") }));
  const dispatch = `INSERT INTO postern.dispatches
      (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, superseded)
    SELECT $1, $2, id, id, 'a.b', 1, to_timestamp(n), now(), n = 1
      FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, 3) AS n) AS made`;
  for (const owner of [tenant("globex"), tenantId]) await pool.query(dispatch, [owner, ids[0]]);
  const pending = async (maxPending: number) => {
    const told = await readEndpointsNow(pool, tenantId, { maxEndpoints: 2, maxPending });
    return told.map((endpoint) => [endpoint.endpointId, endpoint.pending, endpoint.oldestDueAt?.getTime()]);
  };
  assert.deepEqual(
    (await pending(1)).map(([id, count]) => [id, count]),
    [
      [ids[0], 1],
      [ids[1], 0],
    ],
  );
  assert.deepEqual((await pending(5))[0], [ids[0], 2, 2000]);
  await pool.query("UPDATE postern.endpoints SET deleted_at = now() WHERE id = $1", [ids[0]]);
  assert.equal((await pending(5))[0]?.[0], ids[1]);
});

it("an endpoint's counts are its own, and a tenant's are those of all of its endpoints", async () => {
  const { pool } = database;
  const globex = tenant("globex");
  const [one, other] = [newEndpointId(), newEndpointId()];
  const ids = [newDeliveryId(), newDeliveryId()] as const;
  const grain = 60;
  const fromMs = Math.floor(idTimeMs(ids[0]) / HOUR_MS) * HOUR_MS;
  const span = { fromMs, toMs: fromMs + HOUR_MS };
  const read = async (readers: TenantId) => {
    const causes = (of: EndpointId | null) =>
      readCauses(pool, readers, { endpointId: of, spans: [{ ...span, grain }], limit: 1 });
    const buckets = (of: EndpointId | null) => readBuckets(pool, readers, { endpointId: of, grain, span });
    return {
      all: [await buckets(null), await causes(null)],
      one: [await buckets(one), await causes(one)],
      other: await buckets(other),
      each: await readEndpointBuckets(pool, readers, { grain, span }),
    };
  };
  const nothing = { all: [[], []], one: [[], []], other: [], each: new Map() };
  assert.deepEqual(await read(globex), nothing);
  const own = { tenantId: globex, endpointId: one };
  await count("timeout", ids, [10, 8], own);
  await count("", ids, [2, 1], { ...own, endpointId: other });
  await count("http_500", ids, [2, 1], { ...own, endpointId: other });
  const later = [newDeliveryId(), newDeliveryId()] as const;
  await count("http_500", later, [4, 3], { ...own, endpointId: other, atMs: idTimeMs(ids[0]) });
  const [firstId, lastId] = ids;
  const ofOne = { atMs: fromMs, delivered: 0, failed: 2, latencyAvgMs: 5, latencyMaxMs: 8 };
  const ofOther = { atMs: fromMs, delivered: 2, failed: 4, latencyAvgMs: 8 / 6, latencyMaxMs: 3 };
  const expected = {
    all: [
      [{ atMs: fromMs, delivered: 2, failed: 6, latencyAvgMs: 18 / 8, latencyMaxMs: 8 }],
      [{ cause: "http_500", count: 4, firstId, lastId: later[1] }],
    ],
    one: [[ofOne], [{ cause: "timeout", count: 2, firstId, lastId }]],
    other: [ofOther],
    each: new Map([
      [one, [ofOne]],
      [other, [ofOther]],
    ]),
  };
  assert.deepEqual(await read(globex), expected);
  await foldCounts(pool);
  assert.deepEqual(await read(globex), expected);
  const earlier = { fromMs: span.fromMs - HOUR_MS, toMs: span.fromMs };
  assert.deepEqual(await readEndpointBuckets(pool, globex, { grain, span: earlier }), new Map());
});

it("an attempt counts in the hour that it is in, of its tenant and endpoint, folded or not", async () => {
  const { pool } = database;
  const initech = tenant("initech");
  const id = newEndpointId();
  const [first, last] = [newDeliveryId(), newDeliveryId()].toSorted();
  const grain = 60;
  const fromMs = Date.UTC(2026, 2, 1, 12);
  const span = { fromMs, toMs: fromMs + HOUR_MS };
  const at = (minutes: number) => new Date(fromMs + minutes * 60_000);
  await pool.query("DELETE FROM postern.delivery_counts");
  // Nothing was sent: no latency is told.
  for (const [of, endpoint, minutes, attempts, cause] of [
    [initech, id, -10, 1, "dns"],
    [initech, id, 0, 2, "dns"],
    [initech, id, 60, 4, "dns"],
    [initech, newEndpointId(), 0, 2, "connect"],
    [tenant("globex"), id, 0, 16, "dns"],
    [tenant("globex"), id, 0, 32, ""],
  ] as const) {
    await pool.query("INSERT INTO postern.delivery_counts VALUES ($1, $2, $3, $6, $4, 0, 0, 0, $5, $5)", [
      of,
      endpoint,
      at(minutes),
      attempts,
      minutes === 60 ? last : first,
      cause,
    ]);
  }
  const failed = async (endpoint: EndpointId | null) => {
    const buckets = await readBuckets(pool, initech, { endpointId: endpoint, grain, span });
    const causes = await readCauses(pool, initech, {
      endpointId: endpoint,
      spans: [{ ...span, grain }],
      limit: 2,
    });
    return [buckets, causes.map(({ cause, count: attempts }) => [cause, attempts])];
  };
  const bucket = (attempts: number) => ({
    atMs: fromMs,
    delivered: 0,
    failed: attempts,
    latencyAvgMs: null,
    latencyMaxMs: null,
  });
  for (const isFolded of [false, true]) {
    if (isFolded) await foldCounts(pool);
    assert.deepEqual(await failed(id), [[bucket(2)], [["dns", 2]]], `folded: ${isFolded}`);
    assert.deepEqual(
      await failed(null),
      [
        [bucket(4)],
        [
          ["connect", 2],
          ["dns", 2],
        ],
      ],
      `folded: ${isFolded}`,
    );
    const each = await readEndpointBuckets(pool, initech, { grain, span });
    assert.deepEqual([each.size, each.get(id)?.map((one) => [one.atMs, one.failed])], [2, [[fromMs, 2]]]);
    const newest = await readNewestAttempts(pool, initech);
    assert.deepEqual([newest.size, newest.get(id)], [2, { delivered: null, failed: last }]);
  }
});
