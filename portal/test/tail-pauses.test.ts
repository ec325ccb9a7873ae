/** How long the live tail waits between its streams. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failuresAfter, pauseMs, type Outcome } from "../src/pages/log/tail-pauses.ts";

function pausesAfter(outcomes: readonly Outcome[]): number[] {
  let failures = 0;
  return outcomes.map((outcome) => {
    failures = failuresAfter(failures, outcome);
    return pauseMs(failures);
  });
}

it("the live tail waits longer with each failure up to half a minute, and begins anew once its stream was open", () => {
  assert.deepEqual(
    pausesAfter(["unopened", "unopened", "broken", "unopened", "ended", "unopened"]),
    [2000, 4000, 2000, 4000, 0, 2000],
  );
  assert.deepEqual(
    pausesAfter(Array<Outcome>(6).fill("unopened")),
    [2000, 4000, 8000, 16_000, 30_000, 30_000],
  );
});
