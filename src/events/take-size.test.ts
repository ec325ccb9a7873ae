import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TakeSize } from "./take-size.ts";

function after(...relays: (number | "failed")[]): number {
  const size = new TakeSize(500);
  for (const relay of relays) {
    if (relay === "failed") size.failed();
    else size.took(relay);
  }
  return size.events;
}

const always = (ms: number) => Array<number>(50).fill(ms);

describe("how many events a relay takes", () => {
  it("is the most at first, and stays so while relays are short", () => {
    assert.deepEqual([after(), after(0), after(125), after(126), after(250)], [500, 500, 500, 500, 500]);
  });

  it("shrinks after a long relay, to what would have been short enough", () => {
    assert.deepEqual([after(251), after(500), after(2500), after(2500, 500)], [498, 250, 50, 25]);
  });

  it("grows again after short ones, as far as their time allows, twofold and up to the most", () => {
    assert.deepEqual(
      [after(2500, 125), after(2500, 200), after(2500, 250), after(2500, 0, 0, 0, 0)],
      [100, 63, 50, 500],
    );
  });

  it("stays above a few where relays are long whatever they take", () => {
    assert.deepEqual([after(...always(300)), after(1e9), after(1e9, ...always(200))], [20, 20, 500]);
  });

  it("shrinks to an eighth after a failure, down to one, and grows from there after short ones alone", () => {
    const one = Array<"failed">(4).fill("failed");
    assert.deepEqual([after("failed"), after(...one), after(...one, 1e9), after(...one, 0)], [63, 1, 1, 2]);
  });
});
