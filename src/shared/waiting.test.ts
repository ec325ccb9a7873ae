/** What waits, repeats and gives up: by the clock, by a signal, by a limit. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sleep } from "./clock.ts";
import { every, makeRepeated, pause } from "./every.ts";
import { withinLimit } from "./time-limit.ts";

/** All promises that are resolved have done what follows. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("a sleep", () => {
  const timers: { ms: number; work: () => void; cancelled: boolean }[] = [];
  const clock = {
    nowMs: () => 0,
    after(ms: number, work: () => void) {
      const timer = { ms, work, cancelled: false };
      timers.push(timer);
      return () => void (timer.cancelled = true);
    },
  };

  it("ends by the clock, and listens to its signal no longer", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = () => void listeners++;
    signal.removeEventListener = (type: string) => void (listeners -= type === "abort" ? 1 : 0);
    const sleeping = sleep(clock, 7, signal);
    assert.deepEqual([timers.at(-1)?.ms, listeners], [7, 1]);
    timers.at(-1)?.work();
    await sleeping;
    assert.equal(listeners, 0);
  });

  it("needs no signal", async () => {
    const sleeping = sleep(clock, 7);
    timers.at(-1)?.work();
    await sleeping;
  });

  it("ends when its signal aborts, or does not begin, and leaves no timer", async () => {
    const stopping = new AbortController();
    const sleeping = sleep(clock, 7, stopping.signal);
    const before = timers.length;
    stopping.abort();
    await sleeping;
    assert.equal(timers.at(-1)?.cancelled, true);
    await sleep(clock, 7, stopping.signal);
    assert.equal(timers.length, before);
  });
});

describe("a pause", () => {
  it("takes its time, but not beyond its signal", async () => {
    const stopping = new AbortController();
    const pausing = pause(3_600_000, stopping.signal).then(() => "over");
    assert.equal(await Promise.race([pausing, settled().then(() => "still")]), "still");
    stopping.abort();
    assert.equal(await pausing, "over");
  });
});

describe("repeated work", () => {
  it("continues after a failure, which is reported, and ends with the signal", async () => {
    const stopping = new AbortController();
    const told: unknown[] = [];
    let rounds = 0;
    const work = async () => {
      if (++rounds === 3) stopping.abort();
      if (rounds === 1) throw new Error("first");
    };
    await every(1, work, { signal: stopping.signal, failed: (error) => void told.push(error) });
    assert.deepEqual([rounds, told.length], [3, 1]);
    await every(1, work, { signal: stopping.signal, failed: () => undefined });
    assert.equal(rounds, 3);
  });

  it("is done again within a minute after a failure, however rare it is, and else in its own time", async () => {
    const stopping = new AbortController();
    const waits: number[] = [];
    const wait = async (ms: number) => {
      if (waits.push(ms) === 3) stopping.abort();
    };
    const work = async () => {
      if (waits.length === 0) throw new Error("the database was away");
    };
    await every(1_800_000, work, { signal: stopping.signal, failed: () => undefined, wait });
    assert.deepEqual(waits, [60_000, 1_800_000, 1_800_000]);
  });

  it("is not done sooner after a failure than it would be otherwise", async () => {
    const stopping = new AbortController();
    const waits: number[] = [];
    const wait = async (ms: number) => {
      waits.push(ms);
      stopping.abort();
    };
    const options = { signal: stopping.signal, failed: () => undefined, wait };
    await every(500, () => Promise.reject(new Error("the database is away")), options);
    assert.deepEqual(waits, [500]);
  });

  it("is started once, told of the stop, and waited for", async () => {
    const entered = Promise.withResolvers<AbortSignal>();
    const gate = Promise.withResolvers<void>();
    let rounds = 0;
    const work = async (signal: AbortSignal) => {
      rounds++;
      entered.resolve(signal);
      await gate.promise;
    };
    const repeated = makeRepeated(1, work, () => undefined);
    repeated.start();
    repeated.start();
    const signal = await entered.promise;
    let isStopped = false;
    const stopping = repeated.stop().then(() => void (isStopped = true));
    await settled();
    assert.deepEqual([signal.aborted, isStopped], [true, false]);
    gate.resolve();
    await stopping;
    assert.equal(rounds, 1);
  });
});

describe("work with a limit", () => {
  it("ends as it ends by itself, and leaves no timer", async (test) => {
    const cleared = test.mock.method(globalThis, "clearTimeout");
    assert.equal(await withinLimit(Promise.resolve(7), 60_000, () => new Error("late")), 7);
    await assert.rejects(
      withinLimit(Promise.reject(new Error("no")), 60_000, () => new Error("late")),
      /no/,
    );
    await settled();
    assert.equal(cleared.mock.callCount(), 2);
  });

  it("is given up after it", async () => {
    await assert.rejects(
      withinLimit(new Promise(() => undefined), 1, () => new Error("late")),
      /late/,
    );
  });
});
