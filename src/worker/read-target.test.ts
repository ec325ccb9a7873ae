import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { targetOf, tenantId } from "../../test/support/worker-at-hand.ts";
import { newEndpointId } from "../shared/id.ts";
import { readTarget } from "./read-target.ts";

const endpointId = newEndpointId();
const TARGET = targetOf(endpointId);
const LOST = new Error("Connection terminated unexpectedly");

/** Reads that fail at first; what came of them, and when each was made. */
async function reading(failures: number, error: Error) {
  const clock = new VirtualClock();
  const readAt: number[] = [];
  const targets = {
    get: async () => {
      readAt.push(clock.nowMs());
      if (readAt.length <= failures) throw error;
      return TARGET;
    },
  };
  const outcome = readTarget(targets, { tenantId, endpointId }, clock).catch((thrown: unknown) => thrown);
  await clock.runUntil(60_000);
  return { outcome: await outcome, readAt };
}

describe("reading where a dispatch goes", () => {
  it("is done again where the connection was lost, twice a second", async () => {
    assert.deepEqual(await reading(2, LOST), { outcome: TARGET, readAt: [0, 500, 1000] });
  });

  it("is done ten times at most", async () => {
    const { outcome, readAt } = await reading(9, LOST);
    assert.deepEqual([outcome, readAt.length], [TARGET, 10]);
    const { outcome: last, readAt: all } = await reading(10, LOST);
    assert.deepEqual([last, all.length], [LOST, 10]);
  });

  it("fails at once for any other reason", async () => {
    const error = new Error("no such table");
    assert.deepEqual(await reading(1, error), { outcome: error, readAt: [0] });
  });
});
