import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../shared/clock.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeIntakeMonitor } from "./monitor.ts";
import { StreamUnavailableError } from "./stream.ts";

describe("the look at the intake's stream", () => {
  it("asks the servers once a second, however often it is asked", async () => {
    let nowMs = 0;
    let asked = 0;
    const status = () => {
      asked++;
      return Promise.reject(new StreamUnavailableError("away"));
    };
    const clock = { ...systemClock, nowMs: () => nowMs };
    const monitor = makeIntakeMonitor({ status }, makeMetrics(), clock);
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
