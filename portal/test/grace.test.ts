import assert from "node:assert/strict";
import { it } from "node:test";
import { graceSeconds } from "../src/pages/endpoint-secret/grace.ts";

it("a grace period of one's own is more than none, and a week at most", () => {
  assert.equal(graceSeconds("none", "5", "days"), 0);
  assert.equal(graceSeconds("week", "", "minutes"), 604_800);
  assert.equal(graceSeconds("own", " 90 ", "minutes"), 5400);
  assert.equal(graceSeconds("own", "168", "hours"), 604_800);
  assert.equal(graceSeconds("own", "7", "days"), 604_800);
  for (const [count, unit] of [
    ["0", "days"],
    ["8", "days"],
    ["169", "hours"],
    ["10081", "minutes"],
    ["-1", "hours"],
    ["1.5", "hours"],
    ["", "hours"],
  ] as const)
    assert.equal(graceSeconds("own", count, unit), null, `${count} ${unit}`);
});
