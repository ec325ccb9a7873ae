/** What lanes take in, ask for, start and take out again, at the limits of each. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dispatchFor, offerAll, startAll } from "../../test/support/lane-dispatches.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { ALL_SLOTS } from "../queue/slots.ts";
import { Lanes, SHARES } from "./lanes.ts";
import { weightOf, type ShareLimits } from "./shares.ts";
import { FIRST_WIDTH } from "./width.ts";

const WIDE: ShareLimits = {
  inFlight: 1000,
  inFlightPerTenant: 1000,
  inFlightAlways: 2,
  weight: 100_000_000,
};

const weighing = (endpoint: number, weight: number): LeasedDispatch =>
  dispatchFor(endpoint, "x".repeat(weight - weightOf({ body: "" })));

const some = (count: number, endpoint = 0): LeasedDispatch[] =>
  Array.from({ length: count }, () => dispatchFor(endpoint));

/** Lanes of an endpoint that may send two a second, so that ten may wait, with so many waiting. */
function limitedLanes(waiting: number) {
  const lanes = new Lanes(WIDE);
  const [first, ...others] = some(1 + waiting);
  assert.ok(first !== undefined);
  offerAll(lanes, [first, ...others]);
  assert.deepEqual(lanes.next(0), { kind: "start", dispatch: first });
  assert.equal(lanes.keepRate(first, 2, 0), 0);
  return { lanes, others };
}

describe("memory", () => {
  it("is 32 MiB of dispatches, of which a tenant may take half of what is free beside its own", () => {
    const lanes = new Lanes(SHARES);
    const mebibyte = 1024 * 1024;
    offerAll(lanes, [weighing(0, 2 * mebibyte)]);
    assert.equal(lanes.offer(weighing(1, 14 * mebibyte + 1), 0), false);
    offerAll(lanes, [weighing(2, 14 * mebibyte)]);
  });

  it("is refused where a tenant may still take less than the dispatch, unless it is the tenant's only one", () => {
    const lanes = new Lanes({ ...WIDE, weight: 200_000 });
    offerAll(lanes, [weighing(0, 2000)]);
    assert.equal(lanes.offer(weighing(1, 150_000), 0), false);
    offerAll(lanes, [weighing(3, 150_000)]);
    assert.equal(lanes.weight, 152_000);
  });

  it("is taken to the last byte that a tenant may still take", () => {
    const lanes = new Lanes({ ...WIDE, weight: 100_000 });
    offerAll(lanes, [weighing(0, 2000)]);
    assert.equal(lanes.offer(weighing(1, 65_536 - 1999), 0), false);
    offerAll(lanes, [weighing(2, 65_536 - 2000)]);
  });

  it("is refused beyond the pool to what is larger than the little that each tenant may have", () => {
    for (const [weight, isTaken] of [
      [100_000, false],
      [100_001, true],
    ] as const) {
      const lanes = new Lanes({ ...WIDE, weight });
      offerAll(lanes, [weighing(0, 100_000)]);
      assert.equal(lanes.offer(weighing(3, 70_000), 0), isTaken);
    }
  });

  it("has no room for anybody once half as much again is taken", () => {
    const lanes = new Lanes({ ...WIDE, weight: 20_000 });
    assert.ok(lanes.hasRoom);
    offerAll(lanes, [weighing(0, 10_000), weighing(3, 10_000), weighing(6, 10_000)]);
    assert.equal(lanes.hasRoom, false);
  });

  it("that runs short is taken back from a tenant with more than twice its part, until it has no more", () => {
    const lanes = new Lanes({ ...WIDE, weight: 120_000 });
    // Of tenants that have nothing any more, which have no part.
    const [over, withdrawn, parked] = [12, 15, 18].map((endpoint) => dispatchFor(endpoint));
    assert.ok(over && withdrawn && parked);
    offerAll(lanes, [over]);
    for (const dispatch of startAll(lanes)) lanes.finished(dispatch, false, 0);
    offerAll(lanes, [withdrawn]);
    assert.deepEqual(lanes.withdraw(withdrawn, 0), [withdrawn]);
    lanes.foundBacklog(parked, 0);
    assert.equal(lanes.ask(ALL_SLOTS, { dispatches: 1, weight: 1 }, 0).length, 1);
    assert.ok(lanes.pulled(parked.endpointId, { dispatches: [], isAll: true }, 0));
    const mine = [0, 1, 0, 1, 0, 1].map((endpoint) => weighing(endpoint, 10_000));
    offerAll(lanes, [...mine, weighing(3, 40_000), weighing(6, 10_000)]);
    // Of three tenants, and one more that may come, each may keep 30,000: this one has twice that.
    assert.deepEqual([lanes.tend(0), lanes.backlogs], [[], 0]);
    offerAll(lanes, [weighing(9, 8000)]);
    // Of four, each may keep 24,000: half of it in each lane. With the first lane's rest it has less than twice that.
    assert.deepEqual(lanes.tend(0), [mine[2], mine[4]]);
    assert.deepEqual([lanes.weight, lanes.waiting], [98_000, 7]);
    assert.deepEqual(lanes.backlogged(ALL_SLOTS), [mine[0]?.endpointId]);
    assert.deepEqual(lanes.tend(0), []);
  });
});

describe("a lane's line", () => {
  it("is full at what it finishes in five seconds", () => {
    const { lanes } = limitedLanes(9);
    offerAll(lanes, some(1));
    assert.equal(lanes.offer(dispatchFor(0), 0), false);
    assert.equal(lanes.backlogs, 1);
  });

  it("is cut to that once it is half as long again", () => {
    const right = limitedLanes(15);
    assert.deepEqual([right.lanes.tend(0), right.lanes.backlogs], [[], 0]);
    const { lanes, others } = limitedLanes(16);
    assert.deepEqual(lanes.tend(0), others.slice(10));
    assert.deepEqual([lanes.waiting, lanes.backlogs], [10, 1]);
  });

  it("goes on after a pause also where nobody says that its turn came", () => {
    const { lanes, others } = limitedLanes(2);
    assert.equal(lanes.next(0)?.kind, "pause");
    assert.equal(lanes.next(500), null);
    lanes.tend(500);
    assert.deepEqual(lanes.next(500), { kind: "start", dispatch: others[0] });
  });

  it("takes no notice of what is parked for an endpoint of which it knows nothing", () => {
    const lanes = new Lanes(WIDE);
    lanes.parked(some(1));
    offerAll(lanes, some(1));
  });
});

describe("attempts in flight", () => {
  it("are as many of a tenant as it may have, in all its lanes, and then others start", () => {
    const lanes = new Lanes({ ...WIDE, inFlight: 10, inFlightPerTenant: 3, inFlightAlways: 1 });
    // An endpoint that comes again belongs to the same tenant.
    offerAll(lanes, some(1));
    for (const dispatch of startAll(lanes)) lanes.finished(dispatch, false, 0);
    offerAll(lanes, [...some(3, 1), ...some(3)]);
    const mine = startAll(lanes);
    assert.equal(mine.length, 3);
    offerAll(lanes, some(1, 3));
    assert.equal(startAll(lanes)[0]?.tenantId, dispatchFor(3).tenantId);
  });

  it("of a tenant count together while any of its endpoints has some", () => {
    const lanes = new Lanes({ ...WIDE, inFlight: 10, inFlightPerTenant: 3, inFlightAlways: 1 });
    const [over, ...others] = [dispatchFor(0), ...some(2, 1)];
    assert.ok(over !== undefined);
    offerAll(lanes, [over, ...others]);
    assert.equal(startAll(lanes).length, 3);
    lanes.finished(over, false, 0);
    offerAll(lanes, some(4, 2));
    assert.equal(startAll(lanes).length, 1);
  });

  it("of other workers count as a lane's own, until they are over", () => {
    const lanes = new Lanes(WIDE);
    const key = dispatchFor(0);
    lanes.setElsewhere(key, FIRST_WIDTH - 2, 0);
    offerAll(lanes, some(20));
    assert.equal(startAll(lanes).length, 2);
    lanes.setElsewhere(key, FIRST_WIDTH - 3, 0);
    assert.equal(startAll(lanes).length, 1);
    lanes.setElsewhere(key, 0, 0);
    assert.equal(startAll(lanes).length, FIRST_WIDTH - 3);
  });
});

/** What a lane asks for that knows nothing of its endpoint's dispatches: each may weigh twice 64 KiB. */
const askOf = (endpoint: number, dispatches: number, bodyBytes = 2 * 65_536 * dispatches) => {
  const { tenantId, endpointId } = dispatchFor(endpoint);
  return { tenantId, endpointId, dispatches, bodyBytes };
};

function backlogged(...endpoints: number[]): Lanes {
  const lanes = new Lanes(WIDE);
  for (const endpoint of endpoints) lanes.foundBacklog(dispatchFor(endpoint), 0);
  return lanes;
}

const pull = (lanes: Lanes, endpoint: number, count: number): boolean =>
  lanes.pulled(dispatchFor(endpoint).endpointId, { dispatches: some(count, endpoint), isAll: false }, 0);

describe("backlogged lanes", () => {
  it("ask in turn, for what they may take, together within the limits", () => {
    const lanes = backlogged(0, 3, 6);
    const most = { dispatches: 6, weight: 1_000_000 };
    assert.deepEqual(lanes.ask(ALL_SLOTS, most, 0), [askOf(0, 4), askOf(3, 2)]);
    assert.equal(lanes.weight, 6 * 2 * 65_536);
    for (const endpoint of [0, 3]) assert.ok(pull(lanes, endpoint, 0));
    assert.equal(lanes.weight, 0);
    assert.deepEqual(lanes.ask(ALL_SLOTS, most, 0), [askOf(6, 4), askOf(0, 2)]);
  });

  it("ask in turn by tenant, however many lanes another has", () => {
    const lanes = backlogged(0, 1, 2, 3, 6);
    const most = { dispatches: 8, weight: 10_000_000 };
    const rounds = [];
    for (let round = 0; round < 4; round++) {
      const asks = lanes.ask(ALL_SLOTS, most, 0);
      for (const { endpointId } of asks) lanes.pulled(endpointId, { dispatches: [], isAll: false }, 0);
      rounds.push(asks);
    }
    assert.deepEqual(
      rounds,
      [
        [0, 3],
        [6, 1],
        [3, 6],
        [2, 3],
      ].map((places) => places.map((place) => askOf(place, 4))),
    );
  });

  it("ask for bytes within the limit, and no more once they are given out", () => {
    const lanes = backlogged(0, 3, 6);
    assert.deepEqual(lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 600_000 }, 0), [
      askOf(0, 4),
      askOf(3, 4, 600_000 - 4 * 2 * 65_536),
    ]);
  });

  it("ask for bytes within what their tenant may take", () => {
    const lanes = new Lanes({ ...WIDE, weight: 300_000 });
    lanes.foundBacklog(dispatchFor(0), 0);
    assert.deepEqual(lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1_000_000 }, 0), [askOf(0, 4, 150_000)]);
  });

  it("ask while no more than half of what may wait does, for the rest", () => {
    const lanes = backlogged(0);
    const ask = () => lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1_000_000 }, 0);
    assert.equal(ask()[0]?.dispatches, 4);
    assert.ok(pull(lanes, 0, 2));
    assert.equal(ask()[0]?.dispatches, 2);
    assert.ok(pull(lanes, 0, 1));
    assert.deepEqual(ask(), []);
  });
});
