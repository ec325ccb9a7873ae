import assert from "node:assert/strict";
import { it } from "node:test";
import { clockDifferenceMs, isWrongClock } from "./clock-difference.ts";

it("two clocks differ by what the way of the question cannot explain", () => {
  const cases: [toldMs: number, differenceMs: number][] = [
    [900, 100],
    [1000, 0],
    [4000, 0],
    [9000, 0],
    [9250, -250],
  ];
  for (const [toldMs, differenceMs] of cases)
    assert.equal(clockDifferenceMs({ askedAtMs: 1000, toldMs, answeredAtMs: 9000 }), differenceMs);
});

it("a clock is wrong from five seconds on, ahead and behind", () => {
  assert.deepEqual([-5000, -4999, 0, 4999, 5000].map(isWrongClock), [true, false, false, false, true]);
});
