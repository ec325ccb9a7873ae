/** Statistics of a tenant's endpoints beside each other: they agree with each endpoint's own, folded or not. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { foldCounts } from "../src/deliveries/stats-store.ts";
import { idTimeMs } from "../src/shared/id.ts";
import { OTHER_OWNER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { at, byEndpoint, DAY, delivered, failed, MINUTE, NOON, overTime, statsOf } from "./support/stats.ts";
import { webhooksOf } from "./support/webhooks.ts";

/** An API without a worker, so that nothing is folded unless a test does it. */
let service: TestService;

before(async () => {
  service = await startTestService({ roles: ["api"] });
});
after(() => service.stop());

const { read, log, empty } = statsOf(() => service);

const dayOf = (ms: number): string => at(Math.floor(ms / DAY) * DAY);

/** The buckets in which there is something. */
function attempted<Bucket extends { delivered: number; failed: number }>(
  series: readonly Bucket[],
): Bucket[] {
  return series.filter(({ delivered, failed }) => delivered + failed > 0);
}

describe("endpoints compared", () => {
  it("show their series, what is pending and their newest attempts", async () => {
    await empty();
    const webhooks = webhooksOf(service);
    const { endpoint } = await webhooks.create();
    const { endpoint: quiet } = await webhooks.create();
    const now = Date.now();
    await log([
      delivered(now - 3 * DAY, 10, endpoint.id),
      delivered(now - 2 * DAY, 10, endpoint.id),
      failed(now, "timeout", endpoint.id),
    ]);
    await service.database.pool.query(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held, superseded)
        SELECT 'acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 1, $2::timestamptz + n * interval '1 s', now(), true, n = 0
        FROM generate_series(0, 3) AS n`,
      [endpoint.id, new Date(NOON)],
    );
    for (const folds of [false, true]) {
      if (folds) await foldCounts(service.database.pool);
      const week = await read(byEndpoint, "/endpoints?window=7d");
      assert.equal(week.bucket, "1d");
      const [newer, older] = week.endpoints;
      assert.ok(newer !== undefined && older !== undefined && week.endpoints.length === 2);
      assert.deepEqual(
        [newer.endpoint_id, newer.success_rate, newer.last_delivered_at],
        [quiet.id, null, null],
      );
      const { series, ...rest } = older;
      assert.deepEqual(rest, {
        endpoint_id: endpoint.id,
        delivered: 2,
        failed: 1,
        success_rate: 2 / 3,
        pending: 3,
        oldest_due_at: new Date(NOON + 1000).toISOString(),
        last_delivered_at: new Date(now - 2 * DAY).toISOString(),
        last_failed_at: new Date(now).toISOString(),
      });
      // By their days: a midnight since moves each of them by one place.
      assert.equal(series.length, 7);
      assert.deepEqual(
        attempted(series).map((bucket) => [bucket.at, bucket.delivered, bucket.failed]),
        [
          [dayOf(now - 3 * DAY), 1, 0],
          [dayOf(now - 2 * DAY), 1, 0],
          [dayOf(now), 0, 1],
        ],
      );
      const day = (await read(byEndpoint, "/endpoints")).endpoints[1];
      assert.equal(day?.series.length, 24);
      // Older than the window, and told all the same.
      assert.deepEqual([day.delivered, day.last_delivered_at], [0, rest.last_delivered_at]);
    }
    assert.deepEqual((await read(byEndpoint, "/endpoints", { as: OTHER_OWNER })).endpoints, []);
  });

  it("agree with each endpoint's own series at the borders of buckets, folded, unfolded and half of it", async () => {
    await empty();
    const webhooks = webhooksOf(service);
    const ids = [(await webhooks.create()).endpoint.id, (await webhooks.create()).endpoint.id];
    const { endpoint: deleted } = await webhooks.create();
    const hour = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE;
    const make = async (ms: number) => {
      for (const endpoint of [...ids, deleted.id])
        await log([
          delivered(hour - 1, ms, endpoint),
          delivered(hour, ms + 1, endpoint),
          failed(hour - 10 * MINUTE, null, endpoint),
          failed(hour - 60 * MINUTE, "timeout", endpoint),
          failed(hour - 60 * MINUTE, "endpoint_deleted", endpoint),
          failed(hour - DAY, "timeout", endpoint),
        ]);
    };
    const compare = async () => {
      for (const window of ["1h", "24h", "7d", "30d"]) {
        const { from, to, bucket, endpoints } = await read(byEndpoint, `/endpoints?window=${window}`);
        assert.deepEqual(
          endpoints.map((one) => one.endpoint_id),
          ids.toReversed(),
        );
        for (const { endpoint_id: id, series, last_delivered_at: last } of endpoints) {
          const path = `?from=${from}&to=${to}&bucket=${bucket}&endpoint_id=${id}`;
          assert.deepEqual(series, (await read(overTime, path)).buckets, window);
          assert.equal(last, at(hour));
        }
      }
    };
    await webhooks.remove(deleted.id);
    await make(10);
    await compare();
    await foldCounts(service.database.pool);
    await compare();
    await make(40);
    await compare();
    await foldCounts(service.database.pool);
    await compare();
  });

  it("have what was folded before their tables were there", async () => {
    await empty();
    const { endpoint } = await webhooksOf(service).create();
    const now = Date.now();
    const [, newest] = await log([
      delivered(now - 2 * DAY, 10, endpoint.id),
      delivered(now, 30, endpoint.id),
      failed(now, "timeout", endpoint.id),
      failed(now, null, endpoint.id),
    ]);
    await foldCounts(service.database.pool);
    const week = await read(byEndpoint, "/endpoints?window=7d");
    assert.equal(week.endpoints[0]?.last_delivered_at, new Date(idTimeMs(newest ?? "")).toISOString());
    assert.deepEqual([week.endpoints[0].delivered, week.endpoints[0].failed], [2, 2]);
    // What is there is written anew, and what is not is added.
    await service.database.pool.query(
      "DELETE FROM postern.delivery_totals WHERE grain = 60; DELETE FROM postern.newest_attempts",
    );
    const file = new URL("../migrations/0039_totals_of_before.sql", import.meta.url);
    await service.database.pool.query(await readFile(file, "utf8"));
    const told = ({ endpoints }: typeof week) =>
      endpoints.map(({ series, ...rest }) => ({ ...rest, series: attempted(series) }));
    assert.deepEqual(told(await read(byEndpoint, "/endpoints?window=7d")), told(week));
    const day = (await read(byEndpoint, "/endpoints")).endpoints[0];
    assert.deepEqual([day?.delivered, day?.failed], [1, 2]);
  });
});
