import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { takeTurn } from "./pacer.ts";

/** When attempts start that each wait for as long as they are told. */
function startsOf(perSecond: number, seconds: number): number[] {
  const turn = { nextMs: -Infinity, sinceMs: -Infinity };
  const starts: number[] = [];
  for (let nowMs = 5000; nowMs < 5000 + seconds * 1000;) {
    const waitMs = takeTurn(turn, perSecond, nowMs);
    if (waitMs === 0) starts.push(nowMs);
    nowMs += waitMs;
  }
  return starts;
}

describe("an endpoint's rate limit", () => {
  it("lets so many a second start, after a first tenth of a second at once", () => {
    for (const perSecond of [1, 3, 10, 250, 1000]) {
      const atOnce = Math.max(1, perSecond / 10);
      const count = startsOf(perSecond, 10).length;
      assert.ok(Math.abs(count - 10 * perSecond - atOnce) <= 1, `${count} at ${perSecond} a second`);
    }
  });

  it("never lets more start, whenever it is asked", () => {
    const waits = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), waits, (perSecond, steps) => {
        const turn = { nextMs: -Infinity, sinceMs: -Infinity };
        const starts: number[] = [];
        let nowMs = 0;
        for (const step of steps) {
          nowMs += step;
          while (takeTurn(turn, perSecond, nowMs) === 0) starts.push(nowMs);
        }
        const atOnce = Math.max(1, perSecond / 10);
        for (const [from, fromMs] of starts.entries()) {
          for (const [to, toMs] of starts.entries()) {
            assert.ok(to - from + 1 <= ((toMs - fromMs) / 1000) * perSecond + atOnce + 1 || to < from);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it("lets a quiet endpoint catch up on a tenth of a second, or on one attempt", () => {
    for (const [perSecond, atOnce, waitMs] of [
      [50, 5, 20],
      [20, 2, 50],
      [10, 1, 100],
      [4, 1, 250],
    ] as const) {
      const turn = { nextMs: -Infinity, sinceMs: -Infinity };
      const waits = Array.from({ length: atOnce + 1 }, () => takeTurn(turn, perSecond, 5000));
      assert.deepEqual(waits, [...Array.from({ length: atOnce }, () => 0), waitMs], `${perSecond} a second`);
    }
  });

  it("returns the wait for the next turn", () => {
    const turn = { nextMs: -Infinity, sinceMs: -Infinity };
    assert.equal(takeTurn(turn, 1, 0), 0);
    assert.equal(takeTurn(turn, 1, 400), 600);
    assert.equal(takeTurn(turn, 1, 1000), 0);
  });
});

describe("the rate limit of an endpoint whose slot has just arrived", () => {
  it("waits one interval, and catches up on nothing for a second", () => {
    const turn = { nextMs: -Infinity, sinceMs: 1000 };
    assert.equal(takeTurn(turn, 50, 1000), 20);
    assert.equal(takeTurn(turn, 50, 1500), 0);
    assert.equal(takeTurn(turn, 50, 1500), 20);
    assert.equal(takeTurn(turn, 50, 2500), 0);
    assert.equal(takeTurn(turn, 50, 2500), 0);
  });

  it("waits so even after a second, and then is like any other", () => {
    for (const [nowMs, waitMs] of [
      [1999, 20],
      [2000, 0],
    ] as const) {
      const turn = { nextMs: -Infinity, sinceMs: 1000 };
      assert.equal(takeTurn(turn, 50, nowMs), 0);
      assert.equal(takeTurn(turn, 50, nowMs), waitMs);
    }
  });
});
