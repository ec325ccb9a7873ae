import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as pause } from "node:timers/promises";
import { startAfter } from "./late-start.ts";

function parts() {
  const done: string[] = [];
  const part = (name: string) => ({
    start: () => void done.push(`start ${name}`),
    stop: async () => void done.push(`stop ${name}`),
  });
  return { done, list: [part("one"), part("other")] };
}

const start = () => {};
const ALL = ["start one", "start other", "stop one", "stop other"];

describe("parts that wait", () => {
  it("start once what they wait for is there, and stop if they have started", async () => {
    const { done, list } = parts();
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = startAfter(promise, list);
    late.start();
    await Promise.resolve();
    assert.deepEqual(done, []);
    resolve();
    await promise;
    assert.deepEqual(done, ALL.slice(0, 2));
    await late.stop();
    assert.deepEqual(done, ALL);
  });

  it("start once, however often they are told to", async () => {
    const { done, list } = parts();
    const late = startAfter(Promise.resolve(), list);
    late.start();
    late.start();
    await Promise.resolve();
    assert.deepEqual(done, ALL.slice(0, 2));
  });

  it("never start where they were stopped before, and then have nothing to stop", async () => {
    const { done, list } = parts();
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = startAfter(promise, list);
    late.start();
    await late.stop();
    resolve();
    await promise;
    assert.deepEqual(done, []);
  });

  it("have stopped with the last of them, whichever fails", async () => {
    const failure = new Error("does not stop");
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = startAfter(Promise.resolve(), [
      { start, stop: async () => Promise.reject(failure) },
      { start, stop: () => promise },
    ]);
    late.start();
    await Promise.resolve();
    let isOver = false;
    const told = assert.rejects(
      late.stop().finally(() => (isOver = true)),
      failure,
    );
    await pause();
    assert.equal(isOver, false);
    resolve();
    await told;
  });
});
