import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PassSummary } from "../../storage/upkeep/reconcile-pass.ts";
import { describePass } from "./storage-reconcile.ts";

const nothing: PassSummary = {
  end: "complete",
  reason: null,
  keys: 0,
  decisions: {},
  destruction: { number: 0, digest: "d1" },
  undeleted: 0,
  relinked: 0,
  finished: 0,
  refusal: null,
};

describe("what postern storage reconcile prints", () => {
  it("is what it found, and nothing of what there was none of", () => {
    assert.deepEqual(describePass(nothing, false), ["0 keys: rows and objects agree"]);
    const found = { ...nothing, keys: 9, undeleted: 2, relinked: 3, finished: 4, refusal: "no link works" };
    assert.deepEqual(describePass({ ...found, decisions: { purge: 5, suspect: 6 } }, false), [
      "9 keys: purge 5, suspect 6",
      "3 artifacts have their bytes again, which lay under other keys",
      "4 uploads finished that a process which died had left",
      "2 objects could not be deleted; the next pass tries again",
      "An upload is whole and waits; the next pass tries again. Why it could not be made available: no link works",
    ]);
  });

  it("is how to do what a dry run showed, and why a pass would stop at it", () => {
    const dry = { ...nothing, keys: 9, destruction: { number: 7, digest: "d2" } };
    const how = "7 results destroy something. To do exactly this: --acknowledge d2";
    const agreed = "9 keys: rows and objects agree";
    assert.deepEqual(describePass(dry, true), [agreed, "nothing was changed", how]);
    assert.deepEqual(describePass({ ...dry, reason: "too many" }, true), [
      agreed,
      "nothing was changed",
      "A pass would stop: too many",
      how,
    ]);
  });

  it("is why it stopped, and how to go on", () => {
    const stopped = { ...nothing, reason: "too many" };
    const halted =
      "Stopped: too many. To go on, run --dry-run, and then --acknowledge with the digest that it prints.";
    assert.deepEqual(describePass({ ...stopped, end: "halted", keys: 1 }, false), [
      "1 keys: rows and objects agree",
      halted,
    ]);
    // It came to no page.
    assert.deepEqual(
      (["halted", "unapproved", "refused", "interrupted"] as const).map((end) =>
        describePass({ ...stopped, end }, false),
      ),
      [
        [halted],
        ["Stopped: what would be destroyed is not what that dry run showed. Run --dry-run again."],
        ["Stopped: too many"],
        [],
      ],
    );
  });
});
