import assert from "node:assert/strict";
import { it } from "node:test";
import { seldom } from "./seldom.ts";

it("what happens often is told of at once, and then seldom, with how often it happened", (test) => {
  let nowMs = 5;
  test.mock.method(performance, "now", () => nowMs);
  const told: unknown[] = [];
  const tell = seldom(100, (times, what: string) => told.push([times, what]));
  for (const [atMs, what] of [
    [5, "first"],
    [6, "second"],
    [104, "third"],
    [105, "fourth"],
    [204, "fifth"],
    [300, "sixth"],
  ] as const) {
    nowMs = atMs;
    tell(what);
  }
  assert.deepEqual(told, [
    [1, "first"],
    [3, "fourth"],
    [2, "sixth"],
  ]);
});
