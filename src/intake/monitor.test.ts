import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../shared/clock.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeIntakeMonitor } from "./monitor.ts";
import { StreamUnavailableError, type StreamStatus } from "./stream.ts";

const ALONE: StreamStatus = {
  replicas: 1,
  current: 1,
  leader: "a",
  messages: 0,
  bytes: 0,
  consumer: "there",
  taken: 0,
  waiting: 0,
  oldestAtMs: null,
  maxMessageBytes: 1024 * 1024,
  unsafe: [],
  takesNone: null,
};

const TAKING = { failure: () => null };

/** What a look at a stream of three replicas answers and shows. */
async function lookAt(given: Partial<StreamStatus>, failure: string | null = null) {
  const status: StreamStatus = { ...ALONE, replicas: 3, current: 3, ...given };
  const metrics = makeMetrics();
  const monitor = makeIntakeMonitor(
    { status: async () => status, stores: { failure: () => failure } },
    metrics,
    systemClock,
  );
  const trouble = await monitor.look();
  const valueOf = async (name: string, label?: string) => {
    const shown = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
    return shown.find(({ labels }) => label === undefined || labels["state"] === label)?.value;
  };
  return {
    trouble,
    taken: await valueOf("webhook_intake_messages", "taken"),
    ready: await valueOf("webhook_intake_messages", "ready"),
    replicas: await valueOf("webhook_intake_replicas_current"),
    ageS: await valueOf("webhook_intake_oldest_age_seconds"),
  };
}

const troubleOf = async (given: Partial<StreamStatus>) => (await lookAt(given)).trouble;

describe("the look at the intake's stream", () => {
  it("shows what waits and what is taken, and the age of the oldest in seconds", async () => {
    const { ageS = 0, ...shown } = await lookAt({ messages: 5, taken: 2, oldestAtMs: Date.now() - 90_000 });
    assert.deepEqual(shown, { trouble: null, taken: 2, ready: 3, replicas: 3 });
    assert.equal(Math.floor(ageS / 10), 9);
    const empty = await lookAt({ taken: 1 });
    assert.deepEqual(empty, { trouble: null, taken: 1, ready: 0, replicas: 3, ageS: 0 });
  });

  it("wants a leader, and more than half of the replicas", async () => {
    assert.equal(await troubleOf({ current: 2 }), null);
    assert.match((await troubleOf({ current: 1 })) ?? "", /no majority/);
    assert.match((await troubleOf({ replicas: 2, current: 1 })) ?? "", /no majority/);
    assert.match((await troubleOf({ leader: null })) ?? "", /no majority/);
  });

  it("tells why a stream takes nothing although its servers run", async () => {
    const trouble = await troubleOf({ takesNone: "it is full: max_bytes is 3000" });
    assert.equal(
      trouble,
      "the intake's stream takes nothing (it is full: max_bytes is 3000): see `postern doctor`",
    );
  });

  it("tells that events are not taken although the stream has its leader", async () => {
    const { trouble } = await lookAt({}, "timeout");
    assert.equal(
      trouble,
      "the intake's stream takes nothing (timeout): see the logs of the NATS servers, and their disks",
    );
    assert.match((await lookAt({ leader: null }, "timeout")).trouble ?? "", /no majority/);
  });

  it("waits three seconds for servers that fell silent, and shows no replica", async () => {
    let nowMs = 0;
    const silence = new Promise<never>(() => undefined);
    const status = async () => (nowMs === 0 ? ALONE : silence);
    const metrics = makeMetrics();
    const clock = { ...systemClock, nowMs: () => nowMs };
    const monitor = makeIntakeMonitor({ status, stores: TAKING }, metrics, clock);
    const replicas = async () =>
      (await metrics.registry.getSingleMetric("webhook_intake_replicas_current")?.get())?.values[0]?.value;
    assert.deepEqual([await monitor.look(), await replicas()], [null, 1]);
    nowMs = 1000;
    test.mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const look = monitor.look();
      test.mock.timers.tick(3_000);
      assert.match((await Promise.race([look, setImmediate("it still waits")])) ?? "", /\(no answer\)/);
    } finally {
      test.mock.timers.reset();
    }
    assert.equal(await replicas(), 0);
  });

  it("asks the servers once a second, however often it is asked", async () => {
    let nowMs = 0;
    let asked = 0;
    const status = () => {
      asked++;
      return Promise.reject(new StreamUnavailableError("away"));
    };
    const clock = { ...systemClock, nowMs: () => nowMs };
    const monitor = makeIntakeMonitor({ status, stores: TAKING }, makeMetrics(), clock);
    const [first, second] = await Promise.all([monitor.look(), monitor.look()]);
    assert.match(first ?? "", /does not answer \(away\)/);
    assert.equal(second, first);
    nowMs = 999;
    await monitor.look();
    assert.equal(asked, 1);
    nowMs = 1000;
    await monitor.look();
    assert.equal(asked, 2);
  });
});
