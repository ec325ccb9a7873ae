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

describe("how many events a relay takes", () => {
  it("is the most at first, and stays so while relays are short", () => {
    assert.deepEqual([after(), after(0), after(125), after(126), after(250)], [500, 500, 500, 500, 500]);
  });

  it("shrinks after a long relay, to what would have been short enough", () => {
    assert.deepEqual([after(251), after(500), after(2500), after(2500, 500)], [498, 250, 50, 25]);
  });

  it("grows again by twofold after those that took half of that, up to the most", () => {
    assert.deepEqual([after(2500, 125), after(2500, 126), after(2500, 0, 0, 0, 0)], [100, 50, 500]);
  });

  it("shrinks to an eighth after a failure, and never below one", () => {
    assert.deepEqual(
      [after("failed"), after("failed", "failed", "failed", "failed"), after(1e9), after(1e9, 0)],
      [62, 1, 1, 2],
    );
  });
});
