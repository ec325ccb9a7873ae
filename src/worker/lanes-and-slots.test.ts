/** What lanes keep and forget when the slots of their endpoints go to another worker, and come back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dispatchFor, offerAll, startAll } from "../../test/support/lane-dispatches.ts";
import { slotOf } from "../queue/slots.ts";
import { Lanes } from "./lanes.ts";
import { FIRST_WIDTH, MOST_WIDTH } from "./width.ts";

const WIDE = { inFlight: 1000, inFlightPerTenant: 1000, inFlightAlways: 2, weight: 100_000_000 };
const one = dispatchFor(0);

const some = (count: number) => Array.from({ length: count }, () => dispatchFor(0));

describe("a slot that comes back while an attempt of it is in flight", () => {
  it("has its rate limit kept from then on, as others may have started attempts meanwhile", () => {
    const lanes = new Lanes(WIDE);
    const [first, second] = [dispatchFor(0), dispatchFor(0)];
    assert.ok(lanes.offer(first, 0));
    assert.deepEqual(lanes.next(0), { kind: "start", dispatch: first });
    assert.equal(lanes.keepRate(first, 1, 0), 0);
    assert.deepEqual(
      lanes.leave(() => true, 0),
      [],
    );
    lanes.arrive([slotOf(first.endpointId)], 5000);
    assert.ok(lanes.offer(second, 5000));
    assert.deepEqual(lanes.next(5000), { kind: "pause", endpointId: first.endpointId, untilMs: 6000 });
  });
});

/** As many as start at once after many attempts that were fast. */
function startedAfter(leave: (lanes: Lanes) => void): number {
  const lanes = new Lanes(WIDE);
  offerAll(lanes, some(200));
  const started = startAll(lanes);
  for (const dispatch of started) {
    lanes.finished(dispatch, false, 0);
    started.push(...startAll(lanes));
  }
  leave(lanes);
  lanes.arrive([slotOf(one.endpointId)], 0);
  offerAll(lanes, some(2 * MOST_WIDTH));
  return startAll(lanes).length;
}

function leaveAll(lanes: Lanes): void {
  lanes.leave(() => true, 0);
}

function leaveWithOneInFlight(lanes: Lanes): void {
  offerAll(lanes, [one]);
  lanes.next(0);
  leaveAll(lanes);
}

it("an endpoint whose slot was left begins with few attempts at once, whether one was in flight or not", () => {
  assert.ok(startedAfter(() => undefined) > FIRST_WIDTH);
  assert.equal(startedAfter(leaveAll), FIRST_WIDTH);
  assert.equal(startedAfter(leaveWithOneInFlight), FIRST_WIDTH - 1);
});
