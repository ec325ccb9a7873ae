import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { sleep, systemClock } from "./clock.ts";

const ranAfter = (ms: number): Promise<number> =>
  new Promise((resolve) => {
    systemClock.after(ms, () => resolve(systemClock.nowMs()));
  });

/** Timers of the clock do not keep the process alive. */
const KEPT_ALIVE_MS = 60_000;

describe("the system's clock", () => {
  it("never runs work early, because a caller that checks the time would keep waiting", async () => {
    const alive = setTimeout(() => undefined, KEPT_ALIVE_MS);
    for (let turn = 0; turn < 50; turn++) {
      const ms = 1 + turn / 7;
      const dueMs = systemClock.nowMs() + ms;
      const ranMs = await ranAfter(ms);
      assert.ok(ranMs >= dueMs, `${ms} ms: ${dueMs - ranMs} ms early`);
    }
    clearTimeout(alive);
  });

  it("waits for the rest of the time where a timer of Node comes early", (test) => {
    let nowMs = 1000;
    test.mock.method(performance, "now", () => nowMs);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    let ran = 0;
    systemClock.after(5.5, () => ran++);
    nowMs += 5.2;
    test.mock.timers.tick(6);
    assert.equal(ran, 0);
    nowMs += 0.3;
    test.mock.timers.tick(1);
    assert.equal(ran, 1);
  });

  it("runs what waits for no time at the end of this turn", async () => {
    const done: string[] = [];
    systemClock.after(0, () => done.push("this turn"));
    assert.deepEqual(done, []);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(done, ["this turn"]);
  });

  it("never goes back", () => {
    const first = systemClock.nowMs();
    assert.ok(systemClock.nowMs() >= first);
  });

  it("runs nothing that was cancelled", async () => {
    const alive = setTimeout(() => undefined, KEPT_ALIVE_MS);
    let ran = 0;
    for (const ms of [0, 0.4, 5.9]) {
      for (let turn = 0; turn < 20; turn++) systemClock.after(ms, () => ran++)();
    }
    await ranAfter(20);
    assert.equal(ran, 0);
    clearTimeout(alive);
  });
});

describe("a sleep", () => {
  it("leaves nothing behind: neither at its signal, which may be a process's own, nor in its clock", async () => {
    const stopping = new AbortController();
    const waiting = new Set<() => void>();
    const clock = {
      nowMs: () => 0,
      after(_ms: number, work: () => void) {
        waiting.add(work);
        return () => waiting.delete(work);
      },
    };
    const slept = sleep(clock, 1000, stopping.signal);
    const stopped = sleep(clock, 1000, stopping.signal);
    assert.equal(getEventListeners(stopping.signal, "abort").length, 2);
    const [first] = waiting;
    first?.();
    await slept;
    assert.equal(getEventListeners(stopping.signal, "abort").length, 1);
    stopping.abort();
    await stopped;
    assert.equal(waiting.size, 0);
    await sleep(clock, 1000, stopping.signal);
    assert.equal(waiting.size, 0);
  });
});
