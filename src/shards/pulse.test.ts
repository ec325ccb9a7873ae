import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventually } from "../../test/support/eventually.ts";
import { isForgotten } from "../../test/support/forgotten.ts";
import { Refusal } from "../shared/refusal.ts";
import { makePulse } from "./pulse.ts";

const isUnavailable = (error: unknown): boolean => error instanceof Refusal && error.code === "unavailable";

describe("a shard's pulse", () => {
  it("refuses who waits when it stops, refuses others at once, and lets all through when it is back", async () => {
    let isDead = false;
    let back = Promise.withResolvers<void>();
    const told: boolean[] = [];
    const pulse = makePulse(
      async () => {
        if (isDead) throw new Error("refused");
      },
      (isAway) => {
        told.push(isAway);
        if (!isAway) back.resolve();
      },
    );
    pulse.start();
    try {
      assert.equal(await pulse.guard(async () => "done"), "done");
      isDead = true;
      await assert.rejects(
        pulse.guard(() => new Promise(() => undefined)),
        isUnavailable,
      );
      let isAsked = false;
      await assert.rejects(
        pulse.guard(async () => {
          isAsked = true;
        }),
        isUnavailable,
      );
      assert.equal(isAsked, false);
      back = Promise.withResolvers();
      isDead = false;
      await back.promise;
      assert.equal(await pulse.guard(async () => "again"), "again");
      assert.deepEqual(told, [true, false]);
    } finally {
      await pulse.stop();
    }
  });

  it("has stopped too where a shard is silent for three seconds, twice", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const looks: PromiseWithResolvers<void>[] = [];
    const told: boolean[] = [];
    const pulse = makePulse(
      async () => {
        const look = Promise.withResolvers<void>();
        looks.push(look);
        return look.promise;
      },
      (isAway) => void told.push(isAway),
    );
    // Only the limit of a look is on this clock.
    const passed = async (ms: number) => {
      test.mock.timers.tick(ms);
      await setImmediate();
      return pulse.isAway();
    };
    pulse.start();
    assert.deepEqual([await passed(2999), await passed(1)], [false, false]);
    await eventually(async () => looks.length === 2);
    assert.deepEqual([await passed(2999), await passed(1)], [false, true]);
    await eventually(async () => looks.length === 3);
    looks[2]?.resolve();
    await eventually(async () => !pulse.isAway());
    assert.deepEqual(told, [true, false]);
    await pulse.stop();
  });

  it("is missing until the shard is known to be the right one, though it answers", async () => {
    const joined = Promise.withResolvers<void>();
    const told: boolean[] = [];
    let looks = 0;
    const pulse = makePulse(
      async () => void looks++,
      (isAway) => void told.push(isAway),
      joined.promise,
    );
    pulse.start();
    try {
      await eventually(async () => looks === 1);
      await assert.rejects(
        pulse.guard(async () => assert.fail("nothing is asked of it")),
        isUnavailable,
      );
      joined.resolve();
      await joined.promise;
      assert.equal(await pulse.guard(async () => "done"), "done");
      assert.deepEqual(told, []);
    } finally {
      await pulse.stop();
    }
  });

  it("hands on what the work fails with", async () => {
    const pulse = makePulse(
      async () => undefined,
      () => undefined,
    );
    await assert.rejects(
      pulse.guard(async () => {
        throw new Error("its own");
      }),
      /its own/,
    );
  });

  it("keeps nothing of what it has answered, nor of what has failed: every call of a tenant passes by here", async () => {
    const pulse = makePulse(
      async () => undefined,
      () => undefined,
    );
    assert.ok(await isForgotten((object) => pulse.guard(async () => object)));
    assert.ok(
      await isForgotten((cause) =>
        pulse.guard(() => Promise.reject(new Error("its own", { cause }))).catch(() => undefined),
      ),
    );
    assert.equal(await pulse.guard(async () => "on"), "on");
  });
});
