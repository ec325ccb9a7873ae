import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { LONGEST_RETURN_MS } from "../queue/queue.ts";
import { newEndpointId } from "../shared/id.ts";
import { returnDelay, ReturnDelays } from "./return-times.ts";

const endpoint = newEndpointId();
const lane = { finished: 0, waiting: 10_000, isSlow: false };
const at = (spreadMs: number) => ({ afterMs: 0, spreadMs, everyMs: 0 });

describe("what a full lane turns away", () => {
  it("comes back within a second at first, of a slow endpoint within a minute", () => {
    assert.deepEqual(new ReturnDelays().timesFor(endpoint, lane, 0), at(1000));
    assert.deepEqual(new ReturnDelays().timesFor(endpoint, { ...lane, isSlow: true }, 0), at(60_000));
  });

  it("comes back from when the lane will be half empty, as fast as it empties", () => {
    const delays = new ReturnDelays();
    delays.timesFor(endpoint, lane, 0);
    const times = delays.timesFor(endpoint, { ...lane, finished: 1000 }, 10_000);
    assert.deepEqual(times, { afterMs: 0, spreadMs: 50_000, everyMs: 10 });
  });

  it("comes back behind what was turned away before, until that is back", () => {
    const delays = new ReturnDelays();
    delays.timesFor(endpoint, lane, 0);
    const times = delays.timesFor(endpoint, { ...lane, finished: 1000 }, 10_000);
    delays.turnedAway(endpoint, 3000, times, 10_000);
    assert.equal(delays.timesFor(endpoint, { ...lane, finished: 1000 }, 10_000).afterMs, 30_000);
    assert.equal(delays.timesFor(endpoint, { ...lane, finished: 2000 }, 20_000).afterMs, 20_000);
    assert.equal(delays.timesFor(endpoint, { ...lane, finished: 5000 }, 50_000).afterMs, 0);
  });

  it("comes back within a second where the lane empties fast, and within ten minutes where it does not", () => {
    const fast = new ReturnDelays();
    fast.timesFor(endpoint, lane, 0);
    assert.equal(fast.timesFor(endpoint, { ...lane, finished: 80_000 }, 10_000).spreadMs, 1000);
    const stuck = new ReturnDelays();
    stuck.timesFor(endpoint, lane, 0);
    assert.deepEqual(stuck.timesFor(endpoint, lane, 10_000), at(600_000));
  });

  it("is judged anew after a minute, so that a recovered endpoint is noticed", () => {
    const delays = new ReturnDelays();
    delays.timesFor(endpoint, lane, 0);
    delays.timesFor(endpoint, lane, 61_000);
    assert.equal(delays.timesFor(endpoint, { ...lane, finished: 50_000 }, 71_000).spreadMs, 1000);
  });

  it("is guessed again for a lane that was empty meanwhile", () => {
    const delays = new ReturnDelays();
    delays.timesFor(endpoint, { ...lane, finished: 500 }, 0);
    assert.deepEqual(delays.timesFor(endpoint, lane, 10_000), at(1000));
  });

  it("never waits for longer than ten minutes", () => {
    const milliseconds = fc.double({ min: 0, max: LONGEST_RETURN_MS, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true }), milliseconds, (afterMs, spreadMs) => {
        const delay = returnDelay({ afterMs, spreadMs, everyMs: 0 });
        assert.ok(delay >= 0 && delay <= LONGEST_RETURN_MS);
      }),
    );
  });
});
