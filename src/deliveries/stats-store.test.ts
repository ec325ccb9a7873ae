import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
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
  of: { tenantId: TenantId; endpointId: EndpointId } = { tenantId, endpointId },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.delivery_counts
      VALUES ($1, $2, date_bin('10 min', to_timestamp($3 / 1000.0), 'epoch'), $4, 2, 2, $5, $6, $7, $8)`,
    [of.tenantId, of.endpointId, idTimeMs(ids[0]), cause, ...latency, ...ids],
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

it("counts are folded and forgotten in steps, and each says where it took as many as it may", async () => {
  const { pool } = database;
  await pool.query("DELETE FROM postern.delivery_counts");
  await pool.query(
    `INSERT INTO postern.delivery_counts
      SELECT $1, $2, '2026-03-01T12:00:00Z', '', 1, 1, 1, 1, $3, $3 FROM generate_series(1, 20001)`,
    [tenantId, endpointId, newDeliveryId()],
  );
  assert.deepEqual([await foldCounts(pool), await foldCounts(pool)], [true, false]);
  await pool.query(
    `INSERT INTO postern.newest_attempts
      SELECT $1, gen_random_uuid(), false, postern.lowest_id_at('2026-03-01T12:00:00Z') FROM generate_series(1, 20001)`,
    [tenantId],
  );
  assert.deepEqual([await forgetOldStats(pool, 3), await forgetOldStats(pool, 3)], [true, false]);
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

it("the newest endpoints are told, where there are more than are asked for", async () => {
  const { pool } = database;
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await insertEndpoint(pool, newEndpoint({ tenantId }))).id);
  const told = await readEndpointsNow(pool, tenantId, { maxEndpoints: 2, maxPending: 1 });
  assert.deepEqual(
    told.map((endpoint) => endpoint.endpointId),
    ids.slice(0, 2),
  );
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
      each: await readEndpointBuckets(pool, readers, { grain, span }),
    };
  };
  const nothing = { all: [[], []], one: [[], []], each: new Map() };
  assert.deepEqual(await read(globex), nothing);
  const own = { tenantId: globex, endpointId: one };
  await count("timeout", ids, [10, 8], own);
  await count("", ids, [2, 1], { ...own, endpointId: other });
  await count("http_500", ids, [2, 1], { ...own, endpointId: other });
  await count("http_500", ids, [4, 3], { ...own, endpointId: other });
  const [firstId, lastId] = ids;
  const ofOne = { atMs: fromMs, delivered: 0, failed: 2, latencyAvgMs: 5, latencyMaxMs: 8 };
  const expected = {
    all: [
      [{ atMs: fromMs, delivered: 2, failed: 6, latencyAvgMs: 18 / 8, latencyMaxMs: 8 }],
      [{ cause: "http_500", count: 4, firstId, lastId }],
    ],
    one: [[ofOne], [{ cause: "timeout", count: 2, firstId, lastId }]],
    each: new Map([
      [one, [ofOne]],
      [other, [{ atMs: fromMs, delivered: 2, failed: 4, latencyAvgMs: 8 / 6, latencyMaxMs: 3 }]],
    ]),
  };
  assert.deepEqual(await read(globex), expected);
  await foldCounts(pool);
  assert.deepEqual(await read(globex), expected);
  const earlier = { fromMs: span.fromMs - HOUR_MS, toMs: span.fromMs };
  assert.deepEqual(await readEndpointBuckets(pool, globex, { grain, span: earlier }), new Map());
});
