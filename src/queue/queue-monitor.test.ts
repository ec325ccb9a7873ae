import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, type TestContext } from "node:test";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { QUIET } from "../../test/support/quiet-queue.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeQueueMonitor } from "./queue-monitor.ts";
import type { QueueDepth } from "./queue-troubles.ts";

const NONE = { reasons: [], warnings: [] };

let nowMs: number;
let measured: number;
/** What a measuring takes on the clock. */
let takesMs: number;
let measure: () => Promise<QueueDepth>;

beforeEach(() => {
  nowMs = 100_000;
  measured = 0;
  takesMs = 0;
  measure = async () => QUIET;
});

afterEach(releaseWaits);

function monitored(t: TestContext) {
  t.mock.method(performance, "now", () => nowMs);
  const metrics = makeMetrics();
  const queue = {
    async measure() {
      measured++;
      const depth = await measure();
      nowMs += takesMs;
      return depth;
    },
  };
  return { metrics, monitor: makeQueueMonitor({ queue, metrics }) };
}

describe("the queue's monitor", () => {
  it("shows each number in its own gauge", async (t) => {
    measure = async () => ({
      due: 1,
      leased: 2,
      parked: 3,
      scheduled: 4,
      held: 5,
      unfetched: 6,
      oldestDueAgeS: 7,
      longestWaitS: 8,
      deadLeases: 0,
      outboxWaiting: 10,
      outboxOldestAgeS: 11,
      handoversWaiting: 12,
      handoversOldestAgeS: 13,
    });
    const { monitor, metrics } = monitored(t);
    assert.deepEqual(await monitor.look(), NONE);
    const states = await metrics.queueDepth.get();
    assert.deepEqual(Object.fromEntries(states.values.map(({ labels, value }) => [labels.state, value])), {
      due: 1,
      leased: 2,
      parked: 3,
      scheduled: 4,
      held: 5,
      unfetched: 6,
    });
    const gauges = [
      metrics.queueOldestAge,
      metrics.queueLongestWait,
      metrics.queueDeadLeases,
      metrics.outboxWaiting,
      metrics.outboxOldestAge,
      metrics.handoversWaiting,
      metrics.handoversOldestAge,
    ];
    const shown = await Promise.all(gauges.map(async (gauge) => (await gauge.get()).values[0]?.value));
    assert.deepEqual(shown, [7, 8, 0, 10, 11, 12, 13]);
  });

  it("answers the queue's faults", async (t) => {
    measure = async () => ({ ...QUIET, deadLeases: 2 });
    const { monitor, metrics } = monitored(t);
    const { reasons } = await monitor.look();
    assert.match(reasons.join(), /^2 leases of dead or hanging workers/);
    assert.equal((await metrics.queueDeadLeases.get()).values[0]?.value, 2);
  });

  it("counts at most once a second, and answers the last result until then", async (t) => {
    const { monitor } = monitored(t);
    measure = async () => ({ ...QUIET, deadLeases: 2 });
    await monitor.look();
    measure = async () => QUIET;
    nowMs += 999;
    assert.equal((await monitor.look()).reasons.length, 1);
    assert.equal(measured, 1);
    nowMs += 1;
    assert.deepEqual(await monitor.look(), NONE);
    assert.equal(measured, 2);
  });

  it("rests for thirty times as long as it counted", async (t) => {
    const { monitor } = monitored(t);
    takesMs = 200;
    await monitor.look();
    nowMs += 5999;
    await monitor.look();
    assert.equal(measured, 1);
    nowMs += 1;
    await monitor.look();
    assert.equal(measured, 2);
  });

  it("counts once for many who ask at the same time", async (t) => {
    const { monitor } = monitored(t);
    assert.deepEqual(await Promise.all([monitor.look(), monitor.look()]), [NONE, NONE]);
    assert.equal(measured, 1);
  });

  it("counts again after the database failed, and says that it failed", async (t) => {
    const { monitor } = monitored(t);
    measure = () => Promise.reject(new Error("no connection"));
    await assert.rejects(monitor.look(), /no connection/);
    measure = async () => QUIET;
    assert.deepEqual(await monitor.look(), NONE);
    assert.equal(measured, 2);
  });

  it("knows of no faults while even its first count takes more than a second", async (t) => {
    const waits = holdWaits("all");
    const { monitor } = monitored(t);
    measure = () => new Promise(() => undefined);
    const look = monitor.look();
    assert.deepEqual(
      waits.map(({ ms }) => ms),
      [1000],
    );
    waits[0]?.end();
    assert.deepEqual(await look, NONE);
  });

  it("answers what it last knew when a count takes more than a second", async (t) => {
    const waits = holdWaits("all");
    const { monitor } = monitored(t);
    measure = async () => ({ ...QUIET, deadLeases: 2 });
    const known = await monitor.look();
    nowMs += 1000;
    const { promise, resolve } = Promise.withResolvers<QueueDepth>();
    measure = () => promise;
    let answer: unknown = null;
    const look = monitor.look().then((troubles) => (answer = troubles));
    await new Promise(setImmediate);
    assert.equal(answer, null);
    waits.at(-1)?.end();
    assert.deepEqual(await look, known);
    // Whoever comes now waits for the same count.
    const next = monitor.look();
    resolve(QUIET);
    assert.deepEqual(await next, NONE);
    assert.equal(measured, 2);
  });
});
