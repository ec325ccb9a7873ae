/** One lane by itself: its states, its line, and what it learns. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { newEndpointId, parseTenantId } from "../shared/id.ts";
import { Lane, newLearned, type LaneEvent, type LaneState } from "./lane.ts";

function newLane(): Lane {
  const id = parseTenantId("acme");
  assert.ok(id !== null);
  const tenant = { id, lanes: new Set<Lane>(), ready: new Set<Lane>(), weight: 0, inFlight: 0 };
  return new Lane(tenant, newEndpointId(), { learned: newLearned(), nowMs: 0 });
}

const EVENTS: readonly LaneEvent[] = ["refused", "asked", "pulled", "drained", "left"];

/** How a new lane gets into each state, and what each event then makes of it; null: no lane may meet it. */
const STATES: Readonly<
  Record<LaneState, { by: readonly LaneEvent[]; next: Record<LaneEvent, LaneState | null> }>
> = {
  open: {
    by: [],
    next: { refused: "backlogged", asked: null, pulled: null, drained: null, left: "open" },
  },
  backlogged: {
    by: ["refused"],
    next: { refused: "backlogged", asked: "pulling", pulled: null, drained: null, left: "open" },
  },
  pulling: {
    by: ["refused", "asked"],
    next: { refused: "pulling_more", asked: null, pulled: "backlogged", drained: "open", left: "open" },
  },
  pulling_more: {
    by: ["refused", "asked", "refused"],
    next: {
      refused: "pulling_more",
      asked: null,
      pulled: "backlogged",
      drained: "backlogged",
      left: "open",
    },
  },
};

describe("a lane that is", () => {
  for (const [state, { by, next }] of Object.entries(STATES)) {
    for (const event of EVENTS) {
      const to = next[event];
      it(`${state} ${to === null ? "fails when it is" : `is ${to} once it is`} ${event}`, () => {
        const lane = newLane();
        for (const earlier of by) lane.move(earlier);
        assert.equal(lane.state, state);
        if (to === null) {
          assert.throws(() => lane.move(event), {
            name: "AssertionError",
            message: `a lane that is ${state} cannot be ${event}`,
          });
        } else lane.move(event);
        assert.equal(lane.state, to ?? state);
      });
    }
  }
});

type Line = [LeasedDispatch, LeasedDispatch, LeasedDispatch, LeasedDispatch];

/** A lane in which four wait. */
function linedUp(nowMs = 0): { lane: Lane; line: Line } {
  const lane = newLane();
  const line: Line = [leasedDispatch(), leasedDispatch(), leasedDispatch(), leasedDispatch()];
  for (const dispatch of line) lane.push(dispatch, nowMs);
  return { lane, line };
}

/** What starts, each a second after the one before. */
function startsOf(lane: Lane, fromMs: number): LeasedDispatch[] {
  const started: LeasedDispatch[] = [];
  for (let nowMs = fromMs; lane.waiting > 0; nowMs += 1000) {
    const next = lane.start(nowMs);
    assert.ok("dispatch" in next);
    started.push(next.dispatch);
  }
  return started;
}

describe("a lane", () => {
  it("is idle while nothing waits, is in flight or is on its way out, and nothing is parked", () => {
    const lane = newLane();
    assert.ok(lane.isIdle);
    lane.leaving = 1;
    assert.ok(!lane.isIdle);
    lane.leaving = 0;
    lane.move("refused");
    assert.ok(!lane.isIdle);
    lane.move("left");
    assert.ok(lane.isIdle);
    const dispatch = leasedDispatch();
    lane.push(dispatch, 0);
    assert.ok(!lane.isIdle);
    lane.start(0);
    assert.ok(!lane.isIdle);
    lane.forget(dispatch);
    assert.ok(lane.isIdle);
  });

  it("starts nothing when it is empty", () => {
    assert.throws(() => newLane().start(0), /an empty lane starts nothing/);
  });

  it("counts what waits, and what has started no more", () => {
    const { lane } = linedUp();
    lane.start(0);
    assert.deepEqual([lane.waiting, lane.inFlight], [3, 1]);
  });

  it("learns what its dispatches weigh, a quarter of the way each time", () => {
    const lane = newLane();
    assert.equal(lane.weigh(leasedDispatch({ body: "x".repeat(512) })), 1536);
    assert.equal(lane.learned.typicalWeight, 65_536 - 16_000);
  });

  it("may hold little once it has been behind for five seconds, until nothing waits any more", () => {
    const { lane, line } = linedUp(1000);
    assert.deepEqual([lane.capacityAt(5999), lane.capacityAt(6000)], [2000, 8]);
    assert.equal(lane.pullCapacityAt(5999), 2000);
    assert.deepEqual(
      lane.withdraw((dispatch) => dispatch === line[0]),
      [line[0]],
    );
    assert.equal(lane.capacityAt(6000), 8);
    lane.withdraw(() => true);
    assert.equal(lane.capacityAt(6000), 2000);
    lane.push(line[0], 7000);
    lane.push(line[1], 7000);
    lane.start(7000);
    // It does not begin anew with what comes meanwhile.
    lane.push(leasedDispatch({}), 11_999);
    assert.equal(lane.capacityAt(12_000), 4);
    lane.start(7000);
    lane.start(7000);
    assert.equal(lane.capacityAt(12_000), 2000);
  });

  it("is as wide as it was until its oldest attempt has lasted for three seconds", () => {
    const { lane } = linedUp();
    lane.start(5000);
    assert.deepEqual([lane.widthAt(8000), lane.widthAt(8001)], [8, 4]);
  });

  it("is cut at the end of its line, by number and by weight", () => {
    const { lane, line } = linedUp();
    const each = lane.weight / 4;
    assert.deepEqual(lane.trim({ count: 4, weight: 4 * each }), []);
    assert.deepEqual(lane.trim({ count: 3, weight: Infinity }), line.slice(3));
    assert.deepEqual(lane.trim({ count: Infinity, weight: 3 * each - 1 }), line.slice(2, 3));
    assert.deepEqual([lane.waiting, lane.weight], [2, 2 * each]);
  });

  it("holds what has started until that is finished or given back", () => {
    const { lane, line } = linedUp();
    const each = lane.weight / 4;
    lane.start(0);
    lane.start(0);
    assert.equal(lane.weight, 4 * each);
    lane.finish(line[0], false, 0);
    assert.equal(lane.weight, 3 * each);
    lane.forget(line[1]);
    assert.equal(lane.weight, 2 * each);
  });

  it("keeps its order where some of it is withdrawn", () => {
    const { lane, line } = linedUp();
    const [first, second, third, fourth] = line;
    assert.deepEqual(
      lane.withdraw((dispatch) => dispatch === second),
      [second],
    );
    assert.deepEqual([lane.waiting, startsOf(lane, 0)], [3, [first, third, fourth]]);
  });
});

describe("a lane's rate limit", () => {
  it("lets the first attempt of an endpoint start at once, and the next in its turn", () => {
    const { lane, line } = linedUp();
    lane.learned.perSecond = 1;
    assert.deepEqual([lane.start(0), lane.start(0)], [{ dispatch: line[0] }, { untilMs: 1000 }]);
  });

  it("is not kept twice, and not at all once there is none", () => {
    const { lane, line } = linedUp();
    lane.learned.perSecond = 1;
    lane.start(0);
    assert.equal(lane.keepRate(line[0], 1, 0), 0);
    assert.equal(lane.keepRate(line[0], null, 0), 0);
    assert.deepEqual(lane.start(0), { dispatch: line[1] });
    // Where there is one again, what has started counts.
    lane.learned.perSecond = 1;
    assert.deepEqual(lane.start(0), { untilMs: 1000 });
  });

  it("puts back what must wait, each where it was", () => {
    const { lane, line } = linedUp();
    const [first, second, third, fourth] = line;
    for (const dispatch of line) assert.deepEqual(lane.start(0), { dispatch });
    const waits = [first, second, fourth, third].map((dispatch) => lane.keepRate(dispatch, 1, 0));
    assert.deepEqual([waits, lane.waiting], [[0, 1000, 1000, 1000], 3]);
    assert.deepEqual(startsOf(lane, 1000), [second, third, fourth]);
  });

  it("lets none pass what it put back, whatever time goes by until that one asks", () => {
    const { lane, line } = linedUp();
    const [first, second, third, fourth] = line;
    for (const dispatch of line) assert.deepEqual(lane.start(0), { dispatch });
    assert.deepEqual([lane.keepRate(first, 1, 0), lane.keepRate(second, 1, 0)], [0, 1000]);
    assert.deepEqual([lane.keepRate(third, 1, 400), lane.keepRate(fourth, null, 5000)], [600, 1]);
    assert.deepEqual(startsOf(lane, 5001), [second, third, fourth]);
  });

  it("lets none pass what it put back and gave out again, until that one has asked", () => {
    const { lane, line } = linedUp();
    const [first, second, third, fourth] = line;
    lane.learned.perSecond = 2;
    for (const [n, dispatch] of [first, second].entries())
      assert.deepEqual(lane.start(n * 500), { dispatch });
    assert.deepEqual([lane.keepRate(first, 2, 500), lane.start(1000)], [500, { dispatch: first }]);
    // The first waits again, and the second has waited for something else.
    assert.equal(lane.keepRate(second, 2, 1500), 1);
    assert.equal(lane.keepRate(first, 2, 1500), 0);
    assert.deepEqual(startsOf(lane, 2000), [second, third, fourth]);
  });

  it("takes a turn anew for what did not use its own in time, and lets none pass it", () => {
    const { lane, line } = linedUp();
    const [first, second, third, fourth] = line;
    lane.learned.perSecond = 2;
    for (const [n, dispatch] of [first, second, third].entries())
      assert.deepEqual(lane.start(n * 500), { dispatch });
    // The endpoint was read for so long.
    assert.equal(lane.keepRate(first, 2, 499), 0);
    assert.deepEqual([lane.keepRate(second, 2, 1000), lane.keepRate(third, 2, 1001)], [500, 499]);
    assert.deepEqual(startsOf(lane, 1500), [second, third, fourth]);
  });

  it("leaves what it put back in line where others are withdrawn, and the others where it is", () => {
    for (const place of [1, 3]) {
      const { lane, line } = linedUp();
      const [first, second, third, fourth] = line;
      for (const dispatch of [first, second]) assert.deepEqual(lane.start(0), { dispatch });
      for (const dispatch of [first, second]) lane.keepRate(dispatch, 1, 0);
      assert.deepEqual(
        lane.withdraw((dispatch) => dispatch === line[place]),
        [line[place]],
      );
      assert.equal(lane.waiting, 2);
      assert.deepEqual(startsOf(lane, 1000), place === 1 ? [third, fourth] : [second, third]);
    }
  });
});
