import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newEndpointId } from "../shared/id.ts";
import { ReturnDelays } from "./return-delay.ts";

const endpoint = newEndpointId();
const lane = { finished: 0, waiting: 10_000, isSlow: false };

describe("what a full lane turns away", () => {
  it("comes back within a second at first, of a slow endpoint within a minute", () => {
    assert.equal(new ReturnDelays().within(endpoint, lane, 0), 1000);
    assert.equal(new ReturnDelays().within(endpoint, { ...lane, isSlow: true }, 0), 60_000);
  });

  it("comes back when the lane will be half empty, by how fast it empties", () => {
    const delays = new ReturnDelays();
    delays.within(endpoint, lane, 0);
    assert.equal(delays.within(endpoint, { ...lane, finished: 1000 }, 10_000), 50_000);
  });

  it("comes back within a second where the lane empties fast, and within ten minutes where it does not", () => {
    const fast = new ReturnDelays();
    fast.within(endpoint, lane, 0);
    assert.equal(fast.within(endpoint, { ...lane, finished: 80_000 }, 10_000), 1000);
    const stuck = new ReturnDelays();
    stuck.within(endpoint, lane, 0);
    assert.equal(stuck.within(endpoint, lane, 10_000), 600_000);
  });

  it("is judged anew after a minute, so that a recovered endpoint is noticed", () => {
    const delays = new ReturnDelays();
    delays.within(endpoint, lane, 0);
    delays.within(endpoint, lane, 61_000);
    assert.equal(delays.within(endpoint, { ...lane, finished: 50_000 }, 71_000), 1000);
  });

  it("is guessed again for a lane that was empty meanwhile", () => {
    const delays = new ReturnDelays();
    delays.within(endpoint, { ...lane, finished: 500 }, 0);
    assert.equal(delays.within(endpoint, lane, 10_000), 1000);
  });
});
