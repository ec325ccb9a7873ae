import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Tries } from "./embedded-keeper.ts";

/** The pauses before each of so many tries, all of which fail. */
function pausesOf(tries: Tries, count: number, reason = "it does not start"): (number | undefined)[] {
  return Array.from({ length: count }, () => {
    const pauseMs = tries.pauseMs();
    assert.equal(tries.failed(reason), true);
    return pauseMs;
  });
}

describe("the tries to start the embedded database again", () => {
  it("come after growing pauses, and are used up after five", () => {
    assert.deepEqual(pausesOf(new Tries(), 6), [0, 1000, 2000, 4000, 8000, undefined]);
  });

  it("are used up by starts too, until one ran for long", () => {
    const tries = new Tries();
    tries.succeeded();
    tries.succeeded();
    assert.equal(tries.pauseMs(), 2000);
    tries.forget();
    assert.deepEqual(pausesOf(tries, 2), [0, 1000]);
  });

  it("are not used up by a full disk, which is told once", () => {
    const tries = new Tries();
    tries.failed("it does not start");
    const full = [
      "PANIC: could not write: No space left on device",
      "ENOSPC: no space left on device, write",
    ];
    const told = [...full, ...full].map((reason) => tries.failed(reason));
    assert.deepEqual([told, tries.isDiskFull, tries.pauseMs()], [[true, false, false, false], true, 2000]);
    tries.succeeded();
    assert.deepEqual([tries.isDiskFull, tries.pauseMs()], [false, 1000]);
    for (const reason of full) tries.failed(reason);
    assert.equal(tries.failed("it does not start"), true);
    assert.deepEqual([tries.isDiskFull, tries.pauseMs()], [false, 2000]);
    assert.equal(tries.failed(full[0] ?? ""), true);
  });
});
