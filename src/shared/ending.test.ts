import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as pause } from "node:timers/promises";
import { inTurn, together } from "./ending.ts";

const [one, other] = [new Error("one"), new Error("other")];

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

  it("come to the last one, whichever fail, and the first failure is told", async () => {
    const done: string[] = [];
    const steps = [
      async () => Promise.reject(one),
      () => {
        done.push("second");
        throw other;
      },
      () => done.push("third"),
    ];
    await assert.rejects(inTurn(steps), one);
    assert.deepEqual(done, ["second", "third"]);
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
    const told = assert.rejects(ending, one);
    await pause();
    assert.equal(isOver, false);
    resolve();
    await told;
  });

  it("that all succeed are told as nothing", async () => {
    assert.equal(await together([1, 2], async (one) => one), undefined);
  });
});
