/** Lanes whose slots come and go, and what a lane gives back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { ALL_SLOTS, slotOf, SlotSet } from "../queue/slots.ts";
import { newEndpointId } from "../shared/id.ts";
import { Lanes } from "./lanes.ts";
import { FIRST_WIDTH } from "./width.ts";

const LIMITS = { inFlight: 1000, inFlightPerTenant: 1000, inFlightAlways: 2, weight: 100_000_000 };
const ONE = newEndpointId();
let OTHER = newEndpointId();
while (slotOf(OTHER) === slotOf(ONE)) OTHER = newEndpointId();

function offer(lanes: Lanes, count: number): void {
  for (let n = 0; n < count; n++) assert.ok(lanes.offer(leasedDispatch({ endpointId: ONE }), 0));
}

function startAll(lanes: Lanes, nowMs = 0): LeasedDispatch[] {
  const started: LeasedDispatch[] = [];
  for (let next = lanes.next(nowMs); next !== null; next = lanes.next(nowMs)) {
    if (next.kind === "start") started.push(next.dispatch);
  }
  return started;
}

describe("lanes", () => {
  const most = { dispatches: 100, weight: 1e6 };

  it("forget how slow an endpoint was whose slot is left, also while an attempt is still in flight", () => {
    const lanes = new Lanes(LIMITS);
    offer(lanes, 50);
    const [kept, ...others] = startAll(lanes);
    assert.ok(kept !== undefined);
    for (const dispatch of others) lanes.finished(dispatch, true, 0);
    const { inFlight } = lanes;
    assert.equal(inFlight, 1);
    lanes.leave(() => true, 0);
    lanes.arrive([slotOf(kept.endpointId)], 0);
    offer(lanes, 50);
    assert.equal(startAll(lanes).length, FIRST_WIDTH - inFlight);
  });

  it("give back the room of what they asked for when their slot is left", () => {
    const lanes = new Lanes(LIMITS);
    lanes.foundBacklog(leasedDispatch({ endpointId: ONE }), 0);
    assert.equal(lanes.ask(ALL_SLOTS, most, 0).length, 1);
    assert.ok(lanes.weight > 0);
    lanes.leave(() => true, 0);
    assert.equal(lanes.weight, 0);
  });

  it("ask only in the slots that the worker has", () => {
    const lanes = new Lanes(LIMITS);
    const [own, foreign] = [leasedDispatch({ endpointId: ONE }), leasedDispatch({ endpointId: OTHER })];
    for (const key of [own, foreign]) lanes.foundBacklog(key, 0);
    const asks = lanes.ask(new SlotSet([slotOf(own.endpointId)]), most, 0);
    assert.deepEqual(
      asks.map(({ endpointId }) => endpointId),
      [own.endpointId],
    );
  });

  it("ask for nothing of an endpoint before what was trimmed is parked", () => {
    const lanes = new Lanes(LIMITS);
    offer(lanes, 200);
    startAll(lanes);
    const trimmed = lanes.tend(5000);
    assert.ok(trimmed.length > 0);
    for (let left = lanes.started(() => true); left.length > 0; left = lanes.started(() => true)) {
      for (const dispatch of left) lanes.finished(dispatch, false, 5000);
      startAll(lanes, 5000);
    }
    assert.equal(lanes.waiting, 0);
    assert.deepEqual(lanes.ask(ALL_SLOTS, most, 5000), []);
    lanes.parked(trimmed);
    assert.equal(lanes.ask(ALL_SLOTS, most, 5000).length, 1);
  });
});
