import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH, narrower, wider } from "./width.ts";

describe("a lane's width", () => {
  it("grows by one after a round of as many attempts as it has", () => {
    let width = FIRST_WIDTH;
    for (let attempt = 0; attempt < FIRST_WIDTH; attempt++) width = wider(width);
    assert.equal(width, FIRST_WIDTH + 1);
    assert.equal(wider(9.5), 9.5 + 1 / 9);
  });

  it("ends at 64", () => {
    assert.equal(wider(MOST_WIDTH - 0.001), 64);
    assert.equal(wider(MOST_WIDTH), 64);
  });

  it("is half, in whole attempts, after a slow one, and never less than 4", () => {
    assert.equal(narrower(MOST_WIDTH), 32);
    assert.equal(narrower(11.5), 5);
    assert.equal(narrower(FIRST_WIDTH), LEAST_WIDTH);
    assert.equal(narrower(LEAST_WIDTH), 4);
  });
});
