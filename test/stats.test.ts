/** Statistics: whatever is asked for, the answer counts the log's attempts, before and after they are folded. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type * as z from "zod";
import { foldCounts, forgetOldStats } from "../src/deliveries/stats-store.ts";
import { MEMBER, OTHER_OWNER, PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  at,
  byCause,
  DAY,
  delivered,
  failed,
  MINUTE,
  NOON,
  ONE,
  overTime,
  range,
  statsOf,
  TWO,
} from "./support/stats.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID, webhooksOf } from "./support/webhooks.ts";

/** An API without a worker, so that nothing is folded unless a test does it. */
let service: TestService;

before(async () => {
  service = await startTestService({ roles: ["api"] });
});
after(() => service.stop());

const { read, log, empty } = statsOf(() => service);

const shown = ({ buckets }: z.output<typeof overTime>) =>
  buckets.map((bucket) => [
    bucket.at.slice(11, 16),
    bucket.delivered,
    bucket.failed,
    bucket.latency_avg_ms,
    bucket.latency_max_ms,
  ]);

const issues = async (path: string) =>
  issuesOf(await service.call("GET", `/api/stats${path}`), "Invalid query");

const answers = async () => ({
  tens: shown(await read(overTime, `?${range(NOON, NOON + 20 * MINUTE)}&bucket=10m`)),
  hours: shown(await read(overTime, `?${range(NOON - 1, NOON + 60 * MINUTE + 1)}`)),
  days: shown(await read(overTime, `?${range(NOON - DAY, NOON)}&bucket=1d`)),
  two: shown(await read(overTime, `?${range(NOON, NOON + 1)}&endpoint_id=${TWO}&bucket=1d`)),
  unknown: shown(await read(overTime, `?${range(NOON, NOON + 1)}&endpoint_id=${UNKNOWN_ID}`)),
  foreign: shown(await read(overTime, `?${range(NOON, NOON + 1)}`, { as: OTHER_OWNER })),
  causes: (await read(byCause, `/causes?${range(NOON, NOON + DAY)}`)).causes.map(
    ({ example_delivery_id: _random, ...cause }) => cause,
  ),
});

describe("statistics over time", () => {
  before(async () => {
    await empty();
    await log([
      delivered(NOON - 1, 5),
      delivered(NOON, 10),
      delivered(NOON + 9 * MINUTE, 25),
      failed(NOON + 10 * MINUTE, null),
      failed(NOON + 11 * MINUTE, "endpoint_deleted"),
      delivered(NOON + 60 * MINUTE, 1, TWO),
      { ...delivered(NOON), status: "test" },
    ]);
    await log([delivered(NOON), failed(NOON, "timeout")], "globex");
  });

  const expected = {
    tens: [
      ["12:00", 2, 0, 17.5, 25],
      ["12:10", 0, 2, 30, 30],
    ],
    hours: [
      ["11:00", 1, 0, 5, 5],
      ["12:00", 2, 2, 21.7, 30],
      ["13:00", 1, 0, 1, 1],
    ],
    days: [
      ["00:00", 0, 0, null, null],
      ["00:00", 4, 2, 14.2, 30],
    ],
    two: [["00:00", 1, 0, 1, 1]],
    unknown: [["12:00", 0, 0, null, null]],
    foreign: [["12:00", 1, 1, 20, 30]],
    causes: [
      {
        cause: "endpoint_deleted",
        count: 1,
        first_at: at(NOON + 11 * MINUTE),
        last_at: at(NOON + 11 * MINUTE),
      },
      { cause: "http_500", count: 1, first_at: at(NOON + 10 * MINUTE), last_at: at(NOON + 10 * MINUTE) },
    ],
  };

  it("count attempts by the time of their creation, without tests and other tenants, folded or not", async () => {
    assert.deepEqual(await answers(), expected);
    assert.equal(await foldCounts(service.database.pool), false);
    assert.deepEqual(await answers(), expected);
  });

  it("are the same when several processes fold at once, and more comes meanwhile", async () => {
    await empty();
    const rows = Array.from({ length: 3000 }, (_, n) =>
      n % 3 === 0
        ? failed(NOON + (n % 300) * MINUTE, n % 2 === 0 ? null : "timeout", n % 5 === 0 ? TWO : ONE)
        : delivered(NOON + n * 1000),
    );
    const batches = Array.from({ length: 60 }, (_, n) => rows.slice(n * 50, n * 50 + 50));
    const folding = new AbortController();
    const folders = Array.from({ length: 3 }, async () => {
      while (!folding.signal.aborted) await foldCounts(service.database.pool);
    });
    await Promise.all(batches.map((batch) => log(batch)));
    folding.abort();
    await Promise.all(folders);
    const { rows: inLog } = await service.database.pool.query<Record<string, unknown>>(
      `SELECT coalesce(error, 'http_' || response_status) AS cause, count(*)::int AS count, min(id::text) AS first, max(id::text) AS last
        FROM postern.deliveries WHERE status = 'failed' GROUP BY 1 ORDER BY 1`,
    );
    const { causes } = await read(byCause, `/causes?${range(NOON, NOON + DAY)}`);
    const sorted = causes.toSorted((left, right) => (left.cause < right.cause ? -1 : 1));
    assert.deepEqual(
      sorted.map(({ cause, count, example_delivery_id }) => [cause, count, example_delivery_id]),
      inLog.map(({ cause, count, last }) => [cause, count, last]),
    );
    const [day] = (await read(overTime, `?${range(NOON, NOON + 1)}&bucket=1d`)).buckets;
    assert.deepEqual([day?.delivered, day?.failed], [2000, 1000]);
  });

  it("go with the days of the log", async () => {
    await empty();
    const today = Math.floor(Date.now() / DAY) * DAY;
    const [, kept] = await log([
      delivered(today - 3 * DAY - 1, 10, TWO),
      delivered(today - 3 * DAY),
      failed(today - 3 * DAY - 1, null),
    ]);
    await foldCounts(service.database.pool);
    assert.equal(await forgetOldStats(service.database.pool, 3), false);
    for (const table of ["delivery_stats", "delivery_totals"]) {
      const { rows } = await service.database.pool.query(
        `SELECT DISTINCT at FROM postern.${table} ORDER BY at`,
      );
      assert.deepEqual(rows, [{ at: new Date(today - 3 * DAY) }], table);
    }
    const { rows } = await service.database.pool.query("SELECT endpoint_id, id FROM postern.newest_attempts");
    assert.deepEqual(rows, [{ endpoint_id: ONE, id: kept }]);
  });
});

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

describe("what real attempts count as", () => {
  it("agrees with the log, retries included", async () => {
    let status = 500;
    const running = await startTestService({ respond: () => ({ status }) });
    try {
      const webhooks = webhooksOf(running);
      const { endpoint } = await webhooks.create({ events: ["invoice.paid"] });
      const published = await running.call("POST", "/api/events", {
        as: PRODUCER,
        json: Array.from({ length: 20 }, (_, n) => ({ type: "invoice.paid", data: { n } })),
      });
      assert.equal(published.status, 202, published.text);
      const [one] = await webhooks.waitFor(endpoint.id, "failed", 20);
      assert.ok(one !== undefined);
      status = 200;
      await webhooks.retry(endpoint.id, one.id);
      await webhooks.test(endpoint.id, "invoice.paid");
      const totals = async () => {
        const answer = await running.call("GET", "/api/stats?bucket=1d", { as: MEMBER });
        const { buckets } = overTime.parse(answer.body);
        return [sum(buckets.map((day) => day.delivered)), sum(buckets.map((day) => day.failed))];
      };
      assert.deepEqual(await totals(), [1, 20]);
      await eventually(async () => {
        const { rows } = await running.database.pool.query("SELECT FROM postern.delivery_counts");
        return rows.length === 0;
      });
      assert.deepEqual(await totals(), [1, 20]);
    } finally {
      await running.stop();
    }
  });
});

it("causes are those of whole ten minutes", async () => {
  const { from, to } = await read(byCause, "/causes?from=2026-01-01T00:14:00Z&to=2026-01-01T00:21:00Z");
  assert.deepEqual([from, to], ["2026-01-01T00:10:00.000Z", "2026-01-01T00:30:00.000Z"]);
});

describe("statistics asked for wrongly", () => {
  it("are refused, and say by which parameter", async () => {
    assert.match((await issues("?bucket=5m"))["bucket"] ?? "", /10m/);
    assert.match(
      (await issues("?bucket=10m&from=2026-01-01T00:00:00Z&to=2026-01-07T00:00:00Z"))["bucket"] ?? "",
      /864 .* 750/,
    );
    assert.match(
      (await issues("?from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z"))["from"] ?? "",
      /before to/,
    );
    assert.match((await issues("?from=2020-01-02T00:00:00Z&bucket=1d"))["from"] ?? "", /400 days/);
    assert.match((await issues("/causes?from=2020-01-02T00:00:00Z"))["from"] ?? "", /400 days/);
    const most = "?from=2026-01-01T00:00:00Z&to=2026-01-06T05:00:00Z&bucket=10m";
    assert.equal((await read(overTime, most)).buckets.length, 750);
    const longest = "?from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:00Z&bucket=1d";
    assert.equal((await read(overTime, longest)).buckets.length, 400);
    const longer = longest.replace("2025-01-01T00:00:00Z", "2024-12-31T23:59:59Z");
    assert.match((await issues(longer))["from"] ?? "", /400 days/);
    assert.match((await issues("?endpoint_id=nobody"))["endpoint_id"] ?? "", /endpoint's id/);
    assert.match((await issues("?endpointId=nobody"))["endpointId"] ?? "", /endpoint_id/);
    assert.match((await issues("/endpoints?window=25h"))["window"] ?? "", /24h/);
  });

  it("are for the tenant's users", async () => {
    for (const path of ["", "/endpoints", "/causes"]) {
      const url = `/api/stats${path}`;
      assertRefused(await service.call("GET", url, { as: null }), REFUSED.unauthorized);
      assertRefused(await service.call("GET", url, { as: PRODUCER }), REFUSED.unauthorized);
      assertRefused(
        await service.call("GET", url, { as: { type: "user", tid: "acme", sub: "x", permissions: [] } }),
        REFUSED.forbidden,
      );
      assertRefused(await service.call("POST", url), REFUSED.methodNotAllowed);
    }
    assertRefused(await service.call("GET", "/api/stats/nothing"), REFUSED.notFound);
  });
});
