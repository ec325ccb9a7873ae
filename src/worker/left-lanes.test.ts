/** Lanes whose slots come and go, and what a lane gives back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import { startAll } from "../../test/support/lane-dispatches.ts";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { ALL_SLOTS, slotOf, SlotSet } from "../queue/slots.ts";
import { newEndpointId } from "../shared/id.ts";
import { Lanes } from "./lanes.ts";
import { FIRST_WIDTH, LEAST_WIDTH } from "./width.ts";

const LIMITS = { inFlight: 1000, inFlightPerTenant: 1000, inFlightAlways: 2, weight: 100_000_000 };
const ONE = newEndpointId();
let OTHER = newEndpointId();
while (slotOf(OTHER) === slotOf(ONE)) OTHER = newEndpointId();

function offer(lanes: Lanes, count: number): void {
  for (let n = 0; n < count; n++) assert.ok(lanes.offer(leasedDispatch({ endpointId: ONE }), 0));
}

/** Ends what waits at the endpoint as slow, until its lane is as narrow as can be, and empty. */
function narrow(lanes: Lanes): void {
  offer(lanes, FIRST_WIDTH);
  for (const dispatch of startAll(lanes)) lanes.finished(dispatch, true, 0);
}

function widthOf(lanes: Lanes): number {
  offer(lanes, 50);
  return startAll(lanes).length;
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

  it("remember how slow an endpoint was while it has none, and forget it with its slot alone", () => {
    const lanes = new Lanes(LIMITS);
    narrow(lanes);
    lanes.leave((slot) => slot !== slotOf(ONE), 0);
    assert.equal(widthOf(lanes), LEAST_WIDTH);
    const left = new Lanes(LIMITS);
    narrow(left);
    left.leave((slot) => slot === slotOf(ONE), 0);
    assert.equal(widthOf(left), FIRST_WIDTH);
  });

  it("forget a tenant of which nothing waits: after an attempt, a withdrawal, a backlog and a slot that is left", async () => {
    const lanes = new Lanes(LIMITS);
    const ends: ((dispatch: LeasedDispatch) => unknown)[] = [
      (dispatch) => startAll(lanes).forEach(() => lanes.finished(dispatch, false, 0)),
      (dispatch) => lanes.withdraw(dispatch, 0),
      (dispatch) => {
        lanes.withdraw(dispatch, 0);
        lanes.foundBacklog(dispatch, 0);
        assert.equal(lanes.ask(ALL_SLOTS, most, 0).length, 1);
        lanes.pulled(dispatch.endpointId, { dispatches: [], isAll: true }, 0);
      },
      () => lanes.leave(() => true, 0),
    ];
    for (const end of ends) {
      // In place of the tenant's name an object, since nobody sees whether a text is held.
      const isGone = await isForgotten((tenantId) => {
        const dispatch = Object.assign(leasedDispatch({ endpointId: ONE }), { tenantId });
        assert.ok(lanes.offer(dispatch, 0));
        end(dispatch);
      });
      assert.equal(isGone, true, String(end));
    }
  });

  it("forget the rate limit of an endpoint whose slot is left while some wait, and no other's", () => {
    for (const endpointId of [ONE, OTHER]) {
      const lanes = new Lanes(LIMITS);
      const [first, second, third] = Array.from({ length: 3 }, () => leasedDispatch({ endpointId: ONE }));
      assert.ok(first && second && third && lanes.offer(first, 0));
      startAll(lanes);
      assert.equal(lanes.keepRate(first, 1, 0), 0);
      lanes.finished(first, false, 0);
      assert.ok(lanes.offer(second, 0));
      const isOwn = endpointId === ONE;
      assert.deepEqual(
        lanes.leave((slot) => slot === slotOf(endpointId), 0),
        isOwn ? [second] : [],
      );
      assert.ok(lanes.offer(third, 0));
      assert.deepEqual(startAll(lanes), isOwn ? [third] : []);
    }
  });

  it("learn on from an attempt that lasts while its slot goes and comes", () => {
    const lanes = new Lanes(LIMITS);
    offer(lanes, 1);
    const [kept] = startAll(lanes);
    assert.ok(kept !== undefined);
    lanes.leave(() => true, 0);
    lanes.arrive([slotOf(ONE)], 0);
    lanes.finished(kept, true, 0);
    assert.equal(widthOf(lanes), LEAST_WIDTH);
  });

  it("give back the room of what they asked for when their slot is left", () => {
    const lanes = new Lanes(LIMITS);
    lanes.foundBacklog(leasedDispatch({ endpointId: ONE }), 0);
    assert.equal(lanes.ask(ALL_SLOTS, most, 0).length, 1);
    assert.ok(lanes.weight > 0);
    lanes.leave(() => true, 0);
    assert.deepEqual([lanes.weight, lanes.backlogs], [0, 0]);
  });

  it("ask only in the slots that the worker has", () => {
    const lanes = new Lanes(LIMITS);
    const [own, foreign] = [leasedDispatch({ endpointId: ONE }), leasedDispatch({ endpointId: OTHER })];
    for (const key of [own, foreign]) lanes.foundBacklog(key, 0);
    const slots = new SlotSet([slotOf(own.endpointId)]);
    assert.deepEqual(lanes.backlogged(slots), [own.endpointId]);
    const asks = lanes.ask(slots, most, 0);
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
