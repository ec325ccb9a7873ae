import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as pause } from "node:timers/promises";
import { endOfFailed, inTurn, together } from "./ending.ts";

const [one, other] = [new Error("one"), new Error("other")];

const both = { name: "AggregateError", message: "one; other", errors: [one, other] };

describe("ends in turn", () => {
  it("wait for each other", async () => {
    const done: string[] = [];
    const step = (name: string) => async () => {
      done.push(`begin ${name}`);
      await pause();
      done.push(`end ${name}`);
    };
    await inTurn([step("a"), step("b")]);
    assert.deepEqual(done, ["begin a", "end a", "begin b", "end b"]);
  });

  it("come to the last one, whichever fail, and every failure is told", async () => {
    const done: string[] = [];
    const steps = [
      async () => Promise.reject(one),
      () => {
        done.push("second");
        throw other;
      },
      () => done.push("third"),
    ];
    await assert.rejects(inTurn(steps), both);
    assert.deepEqual(done, ["second", "third"]);
  });

  it("tell a single failure as it is", async () => {
    await assert.rejects(inTurn([() => Promise.reject(one), () => {}]), (error) => error === one);
  });
});

describe("ends at once", () => {
  it("begin together, and are over with the last, whichever fail", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isOver = false;
    const steps = [
      () => promise,
      () => {
        throw one;
      },
      () => Promise.reject(other),
    ];
    const ending = together(steps, (step) => step()).finally(() => (isOver = true));
    const told = assert.rejects(ending, both);
    await pause();
    assert.equal(isOver, false);
    resolve();
    await told;
  });

  it("that all succeed are told as nothing", async () => {
    assert.equal(await together([1, 2], async (one) => one), undefined);
  });
});

describe("the end of a start that failed", () => {
  it("is waited for, and throws why the start failed, whether it fails itself or not", async () => {
    const told: unknown[] = [];
    const tell = (failure: unknown) => void told.push(failure);
    await assert.rejects(
      endOfFailed(one, () => pause().then(() => told.push("ended")), tell),
      (error) => error === one,
    );
    await assert.rejects(
      endOfFailed(one, () => Promise.reject(other), tell),
      (error) => error === one,
    );
    assert.deepEqual(told, ["ended", other]);
  });
});
