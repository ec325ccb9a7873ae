/** One lane by itself: its states, and how much it pulls. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
