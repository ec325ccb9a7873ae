/** The lanes' laws, on random histories and on the cases that made them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { dispatchFor, startAll } from "../../test/support/lane-dispatches.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { ALL_SLOTS } from "../queue/slots.ts";
import { Lanes } from "./lanes.ts";
import { weightOf, type ShareLimits } from "./shares.ts";
import { FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH } from "./width.ts";

const LIMITS: ShareLimits = { inFlight: 40, inFlightPerTenant: 20, inFlightAlways: 2, weight: 60_000 };
const WIDE: ShareLimits = { ...LIMITS, inFlight: 1000, inFlightPerTenant: 1000, weight: 100_000_000 };
type Step =
  | { kind: "offer" | "found" | "turn"; endpoint: number; size: number }
  | { kind: "start" | "tend" | "ask" | "parked" }
  | { kind: "finish" | "return" | "pace"; pick: number }
  | { kind: "wait"; ms: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          "offer" as const,
          "offer" as const,
          "offer" as const,
          "found" as const,
          "turn" as const,
        ),
        endpoint: fc.nat({ max: 5 }),
        size: fc.constantFrom(1, 100, 5000),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          "start" as const,
          "start" as const,
          "start" as const,
          "tend" as const,
          "ask" as const,
          "parked" as const,
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom("finish" as const, "finish" as const, "return" as const, "pace" as const),
        pick: fc.nat(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat({ max: 8000 }) }) },
  ),
  { maxLength: 200, size: "max" },
);

/** Plays steps on lanes and keeps a plain account beside them. */
class Play {
  readonly lanes = new Lanes(LIMITS);
  nowMs = 0;
  waiting: LeasedDispatch[] = [];
  inFlight: LeasedDispatch[] = [];
  leaving: LeasedDispatch[] = [];
  readonly #order = new Map<LeasedDispatch, number>();

  do(step: Step): void {
    if (step.kind === "wait") this.nowMs += step.ms;
    else if (step.kind === "offer") this.#offer(dispatchFor(step.endpoint, "x".repeat(step.size)));
    else if (step.kind === "found") this.lanes.foundBacklog(dispatchFor(step.endpoint), this.nowMs);
    else if (step.kind === "turn") this.lanes.turnCame(dispatchFor(step.endpoint).endpointId, this.nowMs);
    else if (step.kind === "start") this.#start();
    else if (step.kind === "tend") this.#leave(this.lanes.tend(this.nowMs));
    else if (step.kind === "ask") this.#pull();
    else if (step.kind === "parked") this.lanes.parked(this.leaving.splice(0));
    else if ("pick" in step) this.#end(step.kind, step.pick);
  }

  check(): void {
    const { lanes, waiting, inFlight } = this;
    assert.deepEqual([lanes.waiting, lanes.inFlight], [waiting.length, inFlight.length]);
    const weight = [...waiting, ...inFlight].reduce((sum, dispatch) => sum + weightOf(dispatch), 0);
    assert.equal(lanes.weight, weight);
    // A body over, for a tenant that held nothing.
    assert.ok(weight <= LIMITS.weight * 1.5 + 2 * 6024, `${weight}`);
    assert.ok(inFlight.length <= LIMITS.inFlight * 1.5);
  }

  #offer(dispatch: LeasedDispatch): void {
    if (this.lanes.offer(dispatch, this.nowMs)) this.#line(dispatch);
    else this.leaving.push(dispatch);
  }

  #line(dispatch: LeasedDispatch): void {
    this.#order.set(dispatch, this.#order.size);
    this.waiting.push(dispatch);
  }

  #leave(dispatches: LeasedDispatch[]): void {
    const gone = new Set(dispatches);
    this.waiting = this.waiting.filter((dispatch) => !gone.has(dispatch));
    this.leaving.push(...dispatches);
  }

  #start(): void {
    const next = this.lanes.next(this.nowMs);
    if (next?.kind !== "start") return;
    const { dispatch } = next;
    this.#checkOrder(dispatch);
    this.waiting = this.waiting.filter((other) => other !== dispatch);
    this.inFlight.push(dispatch);
    const own = this.inFlight.filter(({ endpointId }) => endpointId === dispatch.endpointId);
    assert.ok(own.length <= MOST_WIDTH);
  }

  #pull(): void {
    for (const ask of this.lanes.ask(ALL_SLOTS, { dispatches: 5, weight: 10_000 }, this.nowMs)) {
      assert.ok(ask.dispatches > 0 && ask.bodyBytes > 0);
      const endpoint = Number(ask.endpointId.slice(-12));
      const dispatches = Array.from({ length: Math.min(2, ask.dispatches) }, () => dispatchFor(endpoint));
      this.lanes.pulled(ask.endpointId, { dispatches, isAll: ask.dispatches > 2 }, this.nowMs);
      for (const dispatch of dispatches) this.#line(dispatch);
    }
  }

  #end(how: "finish" | "return" | "pace", pick: number): void {
    const [dispatch] = this.inFlight.splice(pick % Math.max(1, this.inFlight.length), 1);
    if (dispatch === undefined) return;
    if (how === "finish") this.lanes.finished(dispatch, pick % 5 === 0, this.nowMs);
    else if (how === "return") this.lanes.returned(dispatch, this.nowMs);
    else if (this.lanes.keepRate(dispatch, (pick % 3) + 1, this.nowMs) > 0) this.waiting.push(dispatch);
    else {
      this.#checkOrder(dispatch);
      this.inFlight.push(dispatch);
    }
  }

  #checkOrder(dispatch: LeasedDispatch): void {
    const orderOf = (one: LeasedDispatch): number => this.#order.get(one) ?? NaN;
    const passed = this.waiting.filter(
      (other) => other.endpointId === dispatch.endpointId && orderOf(other) < orderOf(dispatch),
    );
    assert.deepEqual(passed, [], "an endpoint's dispatches keep their order");
  }
}

describe("lanes, on any history", () => {
  it("lose nothing, keep each endpoint's order, and stay within their limits", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const play = new Play();
        for (const step of history) {
          play.do(step);
          play.check();
        }
        const taken = play.lanes.leave(() => true, play.nowMs);
        assert.deepEqual(new Set(taken), new Set(play.waiting));
        for (const dispatch of play.inFlight) play.lanes.finished(dispatch, false, play.nowMs);
        assert.deepEqual([play.lanes.waiting, play.lanes.inFlight, play.lanes.weight], [0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});

function offer(lanes: Lanes, endpoint: number, count: number): void {
  for (let n = 0; n < count; n++) assert.ok(lanes.offer(dispatchFor(endpoint), 0));
}

describe("lanes are fair", () => {
  it("between tenants: one with much waiting takes turns with one that has little", () => {
    const lanes = new Lanes(WIDE);
    for (const endpoint of [0, 1, 2]) offer(lanes, endpoint, 5);
    offer(lanes, 3, 3);
    const tenants = startAll(lanes).slice(0, 6);
    assert.deepEqual(
      tenants.map(({ tenantId }) => tenantId),
      ["tenant-0", "tenant-1", "tenant-0", "tenant-1", "tenant-0", "tenant-1"],
    );
  });

  it("between endpoints of a tenant: each has its turn before one has its second", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 5);
    offer(lanes, 1, 1);
    offer(lanes, 2, 1);
    const turns = startAll(lanes).map(({ endpointId }) => Number(endpointId.slice(-1)));
    assert.deepEqual(turns.slice(0, 4), [0, 1, 2, 0]);
  });

  it("to others while an endpoint is stuck: its attempts in flight delay no other", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 50);
    assert.equal(startAll(lanes).length, FIRST_WIDTH);
    offer(lanes, 1, 1);
    offer(lanes, 3, 1);
    assert.deepEqual(
      startAll(lanes)
        .map(({ endpointId }) => Number(endpointId.slice(-1)))
        .toSorted((one, other) => one - other),
      [1, 3],
    );
  });
});

/** Ends each attempt and starts what may start then; answers what is in flight after the last. */
function playRound(lanes: Lanes, inFlight: readonly LeasedDispatch[], wasSlow: boolean): LeasedDispatch[] {
  return inFlight.flatMap((dispatch) => {
    lanes.finished(dispatch, wasSlow, 0);
    return startAll(lanes);
  });
}

describe("an endpoint's width", () => {
  it("narrows by slow attempts, down to the least, and widens by fast ones", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 200);
    let inFlight = startAll(lanes);
    const widths = [inFlight.length];
    for (const wasSlow of [true, true, false, false]) {
      inFlight = playRound(lanes, inFlight, wasSlow);
      widths.push(inFlight.length);
    }
    assert.deepEqual(widths, [FIRST_WIDTH, LEAST_WIDTH, LEAST_WIDTH, LEAST_WIDTH + 1, LEAST_WIDTH + 2]);
  });

  it("is the least while an attempt hangs, before it has ended", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 200);
    const [hanging, ...others] = startAll(lanes);
    assert.ok(hanging !== undefined);
    for (const dispatch of others) lanes.finished(dispatch, false, 10);
    lanes.tend(5000);
    assert.equal(startAll(lanes, 5000).length, LEAST_WIDTH - 1);
  });

  it("is the least from the moment when an attempt hangs, which delays no other tenant", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 20);
    for (const dispatch of startAll(lanes).slice(-3)) lanes.finished(dispatch, false, 10);
    const other = dispatchFor(3);
    assert.ok(lanes.offer(other, 10));
    assert.deepEqual(lanes.next(3001), { kind: "start", dispatch: other });
    assert.equal(lanes.next(3001), null);
    lanes.tend(3000);
    assert.equal(startAll(lanes, 3000).length, 3);
  });

  it("learns nothing from what was returned without an attempt", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 500);
    for (let round = 0; round < 20; round++) {
      for (const dispatch of startAll(lanes)) lanes.returned(dispatch, 0);
    }
    assert.equal(startAll(lanes).length, FIRST_WIDTH);
  });

  it("does not grow while the endpoint does not use what it has", () => {
    const lanes = new Lanes(WIDE);
    for (let n = 0; n < 50; n++) {
      offer(lanes, 0, 1);
      playRound(lanes, startAll(lanes), false);
    }
    offer(lanes, 0, 50);
    assert.equal(startAll(lanes).length, FIRST_WIDTH);
  });
});

describe("a rate limit that the lane did not know", () => {
  it("puts back what it lets wait, in its place", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 12);
    const started = startAll(lanes);
    const [first, ...others] = started;
    assert.ok(first !== undefined);
    const waits = [first, ...others.toReversed()].map((dispatch) => lanes.keepRate(dispatch, 1, 0));
    assert.deepEqual(waits, [0, ...others.map(() => 1000)]);
    assert.equal(lanes.next(500), null);
    for (const [place, dispatch] of others.slice(0, 3).entries()) {
      const nowMs = 1000 * (place + 1);
      lanes.turnCame(dispatch.endpointId, nowMs);
      assert.deepEqual(lanes.next(nowMs), { kind: "start", dispatch });
      assert.equal(lanes.next(nowMs)?.kind, "pause");
    }
  });
});

describe("a backlogged lane", () => {
  it("refuses what is newer until it has pulled all that is parked", () => {
    const lanes = new Lanes(WIDE);
    const key = dispatchFor(0);
    lanes.foundBacklog(key, 0);
    assert.ok(!lanes.offer(key, 0));
    assert.deepEqual(
      lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1e6 }, 0),
      [],
      "not before what it refused is parked",
    );
    lanes.parked([key]);
    const [ask] = lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1e6 }, 0);
    assert.equal(ask?.endpointId, key.endpointId);
    assert.deepEqual(lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1e6 }, 0), [], "one pull at once");
    assert.ok(lanes.pulled(key.endpointId, { dispatches: [key], isAll: true }, 0));
    assert.deepEqual(lanes.backlogged(ALL_SLOTS), []);
    assert.ok(lanes.offer(dispatchFor(0), 0));
    assert.equal(startAll(lanes)[0], key);
  });

  it("stays backlogged when something was refused while it pulled", () => {
    const lanes = new Lanes(WIDE);
    const key = dispatchFor(0);
    lanes.foundBacklog(key, 0);
    assert.equal(lanes.ask(ALL_SLOTS, { dispatches: 1, weight: 1e6 }, 0).length, 1);
    assert.ok(!lanes.offer(key, 0));
    lanes.parked([key]);
    lanes.pulled(key.endpointId, { dispatches: [], isAll: true }, 0);
    assert.deepEqual(lanes.backlogged(ALL_SLOTS), [key.endpointId]);
    assert.equal(lanes.ask(ALL_SLOTS, { dispatches: 1, weight: 1e6 }, 0).length, 1);
    lanes.pulled(key.endpointId, { dispatches: [key], isAll: true }, 0);
    assert.deepEqual(lanes.backlogged(ALL_SLOTS), []);
  });

  it("asks for no more than its width after slow attempts, however many of them ended at once", () => {
    const lanes = new Lanes(WIDE);
    const key = dispatchFor(0);
    offer(lanes, 0, 40);
    lanes.foundBacklog(key, 0);
    for (let slow = startAll(lanes); slow.length > 0; slow = startAll(lanes, 15_000)) {
      for (const dispatch of slow) lanes.finished(dispatch, true, 15_000);
    }
    const asked = (): number | undefined =>
      lanes.ask(ALL_SLOTS, { dispatches: 100, weight: 1e6 }, 15_000)[0]?.dispatches;
    assert.equal(asked(), LEAST_WIDTH);
    lanes.pulled(key.endpointId, { dispatches: [key], isAll: false }, 15_000);
    for (const dispatch of startAll(lanes, 15_000)) lanes.finished(dispatch, false, 15_000);
    assert.equal(asked(), 20, "a fast one shows that it is well: as many as it ended in ten seconds, halved");
  });

  it("is forgotten when nothing was parked after all", () => {
    const lanes = new Lanes(WIDE);
    lanes.foundBacklog(dispatchFor(0), 0);
    const [ask] = lanes.ask(ALL_SLOTS, { dispatches: 1, weight: 1 }, 0);
    assert.ok(ask !== undefined);
    lanes.pulled(ask.endpointId, { dispatches: [], isAll: true }, 0);
    assert.deepEqual([lanes.backlogs, lanes.weight], [0, 0]);
  });

  it("takes an end without a start for a fault, and no pull that it does not wait for", () => {
    const lanes = new Lanes(WIDE);
    offer(lanes, 0, 1);
    for (const endpoint of [0, 1])
      assert.equal(lanes.pulled(dispatchFor(endpoint).endpointId, { dispatches: [], isAll: true }, 0), false);
    assert.throws(() => lanes.finished(dispatchFor(1), false, 0), /was started/);
    assert.throws(() => lanes.keepRate(dispatchFor(1), null, 0), /what keeps a rate was started/);
  });
});

describe("withdrawing an event", () => {
  it("takes what waits of it out of its endpoint's lane, and nothing else", () => {
    const lanes = new Lanes({ ...WIDE, inFlight: 1, inFlightAlways: 1 });
    const [started, withdrawn, kept, elsewhere] = [0, 0, 0, 1].map((endpoint) => dispatchFor(endpoint));
    assert.ok(started && withdrawn && kept && elsewhere);
    for (const dispatch of [started, withdrawn, kept, elsewhere]) assert.ok(lanes.offer(dispatch, 0));
    assert.deepEqual(lanes.next(0), { kind: "start", dispatch: started });
    assert.deepEqual(lanes.withdraw(started, 0), []);
    assert.deepEqual(lanes.withdraw(withdrawn, 0), [withdrawn]);
    assert.deepEqual(lanes.withdraw(withdrawn, 0), []);
    assert.deepEqual(lanes.withdraw({ ...elsewhere, eventId: kept.eventId }, 0), []);
    assert.deepEqual(lanes.withdraw(dispatchFor(5), 0), []);
    assert.deepEqual(new Set(lanes.leave(() => true, 0)), new Set([kept, elsewhere]));
  });
});
