import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { sleep } from "../shared/clock.ts";
import { readAgain } from "./read-again.ts";

const FOUND = "what was read";
const LOST = new Error("Connection terminated unexpectedly");

/** Reads that fail at first, each after so long; what came of them, and when each was made. */
async function reading(failures: number, error: Error, tookMs = 0) {
  const clock = new VirtualClock();
  const readAt: number[] = [];
  const read = async (): Promise<string> => {
    readAt.push(clock.nowMs());
    if (readAt.length > failures) return FOUND;
    if (tookMs > 0) await sleep(clock, tookMs);
    throw error;
  };
  const outcome = readAgain(read, clock).catch((thrown: unknown) => thrown);
  await clock.runUntil(600_000);
  return { outcome: await outcome, readAt };
}

describe("reading what an attempt needs", () => {
  it("is done again where the connection was lost, twice a second", async () => {
    assert.deepEqual(await reading(2, LOST), { outcome: FOUND, readAt: [0, 500, 1000] });
  });

  it("is done again for five seconds at most, however long each takes to fail", async () => {
    const { outcome, readAt } = await reading(9, LOST);
    assert.deepEqual([outcome, readAt.length], [FOUND, 10]);
    const { outcome: last, readAt: all } = await reading(10, LOST);
    assert.deepEqual([last, all.length], [LOST, 10]);
    // As a database that is silent fails it.
    assert.deepEqual(await reading(99, LOST, 3000), { outcome: LOST, readAt: [0, 3500] });
    assert.deepEqual(await reading(99, LOST, 35_000), { outcome: LOST, readAt: [0] });
  });

  it("fails at once for any other reason", async () => {
    const error = new Error("no such table");
    assert.deepEqual(await reading(1, error), { outcome: error, readAt: [0] });
  });
});
