/** How long ago something was, in its greatest unit. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agoOf } from "../src/display/ago.ts";

describe("a distance from now", () => {
  it("rounds to the next unit where it would be a whole one of it", () => {
    assert.deepEqual(agoOf(0), [0, "second"]);
    assert.deepEqual(agoOf(-59.4), [-59, "second"]);
    assert.deepEqual(agoOf(-59.6), [-1, "minute"]);
    assert.deepEqual(agoOf(-3569), [-59, "minute"]);
    assert.deepEqual(agoOf(-3570), [-1, "hour"]);
    assert.deepEqual(agoOf(-84_599), [-23, "hour"]);
    assert.deepEqual(agoOf(84_600), [1, "day"]);
    assert.deepEqual(agoOf(-34 * 3600), [-1, "day"]);
    assert.deepEqual(agoOf(30 * 86_400), [30, "day"]);
  });
});
