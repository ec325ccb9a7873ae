/** The lanes' laws, on random histories and on the cases that made them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { newDeliveryId, newEventId, parseEndpointId, parseTenantId } from "../shared/id.ts";
import { Lanes, type LaneLimits } from "./lanes.ts";
import type { LeasedDispatch } from "../queue/queue.ts";

const LIMITS: LaneLimits = {
  inFlight: 7,
  inFlightPerTenant: 4,
  inFlightPerEndpoint: 2,
  firstInFlightPerEndpoint: 2,
  leastInFlightPerEndpoint: 1,
  waitingPerEndpoint: 5,
  waitingBodySize: 100,
  waitingBodySizePerTenant: 100,
  waitingBodySizePerEndpoint: 100,
};
const ENDPOINTS_PER_TENANT = 3;

/** A dispatch for one of a few endpoints, numbered through the tenants. */
function dispatchFor(endpoint: number, body = "x"): LeasedDispatch {
  const tenantId = parseTenantId(`tenant-${Math.floor(endpoint / ENDPOINTS_PER_TENANT)}`);
  const endpointId = parseEndpointId(`00000000-0000-7000-8000-${String(endpoint).padStart(12, "0")}`);
  assert.ok(tenantId !== null && endpointId !== null);
  return {
    id: newDeliveryId(),
    tenantId,
    endpointId,
    eventId: newEventId(),
    eventType: "invoice.paid",
    body,
    attempt: 1,
    leaseId: "a-b-c-d-e",
    leaseEndsMs: 0,
  };
}

const tenantOf = (dispatch: LeasedDispatch | null) => dispatch?.tenantId;

type Step =
  | { kind: "offer"; endpoint: number }
  | { kind: "start" }
  | { kind: "finish"; pick: number }
  | { kind: "pause"; pick: number }
  | { kind: "unpause"; endpoint: number };

const endpoints = fc.nat({ max: 5 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("offer" as const), endpoint: endpoints }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("start" as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("finish" as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("unpause" as const), endpoint: endpoints }) },
  ),
  { maxLength: 200, size: "max" },
);

/** Plays steps on lanes and keeps a plain account beside them. */
class Play {
  readonly lanes = new Lanes(LIMITS);
  readonly waiting = new Map<string, LeasedDispatch[]>();
  readonly inFlight: LeasedDispatch[] = [];
  readonly paused = new Set<string>();

  do(step: Step): void {
    if (step.kind === "offer") this.#offer(dispatchFor(step.endpoint));
    else if (step.kind === "start") this.start();
    else if (step.kind === "finish") this.#finish(step.pick);
    else if (step.kind === "pause") this.#pause(step.pick);
    else this.#unpause(dispatchFor(step.endpoint));
  }

  waitingOf(dispatch: LeasedDispatch): LeasedDispatch[] {
    return this.waiting.get(dispatch.endpointId) ?? [];
  }

  #offer(dispatch: LeasedDispatch): void {
    const before = this.waitingOf(dispatch);
    const taken = this.lanes.offer(dispatch);
    assert.equal(taken, before.length < LIMITS.waitingPerEndpoint);
    if (taken) this.waiting.set(dispatch.endpointId, [...before, dispatch]);
  }

  start(): LeasedDispatch | null {
    const startable = this.#startable();
    const dispatch = this.lanes.next();
    assert.equal(dispatch !== null, startable, "what may start starts, and nothing else");
    if (dispatch === null) return null;
    const [expected, ...rest] = this.waitingOf(dispatch);
    assert.equal(dispatch, expected, "an endpoint's dispatches keep their order");
    assert.ok(!this.paused.has(dispatch.endpointId));
    this.waiting.set(dispatch.endpointId, rest);
    this.inFlight.push(dispatch);
    return dispatch;
  }

  #finish(pick: number): void {
    const [dispatch] = this.inFlight.splice(pick % Math.max(1, this.inFlight.length), 1);
    if (dispatch !== undefined) this.lanes.finished(dispatch, false);
  }

  #pause(pick: number): void {
    const [dispatch] = this.inFlight.splice(pick % Math.max(1, this.inFlight.length), 1);
    if (dispatch === undefined) return;
    this.lanes.putBackAndPause(dispatch);
    this.lanes.finished(dispatch, false);
    this.waiting.set(dispatch.endpointId, [dispatch, ...this.waitingOf(dispatch)]);
    this.paused.add(dispatch.endpointId);
  }

  #unpause(dispatch: LeasedDispatch): void {
    this.lanes.unpause(dispatch);
    this.paused.delete(dispatch.endpointId);
  }

  #startable(): boolean {
    if (this.inFlight.length >= LIMITS.inFlight) return false;
    return [...this.waiting.values()].some(([dispatch]) => {
      if (dispatch === undefined || this.paused.has(dispatch.endpointId)) return false;
      return (
        this.#count("endpointId", dispatch) < LIMITS.inFlightPerEndpoint &&
        this.#count("tenantId", dispatch) < LIMITS.inFlightPerTenant
      );
    });
  }

  #count(key: "endpointId" | "tenantId", dispatch: LeasedDispatch): number {
    return this.inFlight.filter((other) => other[key] === dispatch[key]).length;
  }

  checkLimits(): void {
    assert.ok(this.inFlight.length <= LIMITS.inFlight);
    for (const dispatch of this.inFlight) {
      assert.ok(this.#count("endpointId", dispatch) <= LIMITS.inFlightPerEndpoint);
      assert.ok(this.#count("tenantId", dispatch) <= LIMITS.inFlightPerTenant);
    }
    const waiting = [...this.waiting.values()].flat();
    assert.deepEqual([this.lanes.inFlight, this.lanes.waiting], [this.inFlight.length, waiting.length]);
    assert.equal(this.lanes.hasRoom, waiting.length < LIMITS.waitingBodySize);
  }
}

describe("lanes, on any history", () => {
  it("start exactly what may start, in each endpoint's order, and keep every limit", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const play = new Play();
        for (const step of history) {
          play.do(step);
          play.checkLimits();
        }
      }),
    );
  });

  it("lose nothing: what was taken is waiting, in flight or given out", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const play = new Play();
        for (const step of history) play.do(step);
        const waiting = [...play.waiting.values()].flat();
        const taken = play.lanes.takeAll();
        assert.deepEqual(taken.map(({ id }) => id).sort(), waiting.map(({ id }) => id).sort());
        assert.deepEqual([play.lanes.waiting, play.lanes.next()], [0, null]);
        for (const dispatch of play.inFlight) play.lanes.finished(dispatch, false);
        assert.equal(play.lanes.inFlight, 0);
      }),
    );
  });
});

describe("lanes are fair", () => {
  it("between tenants: one with much waiting takes turns with one that has little", () => {
    const lanes = new Lanes({
      ...LIMITS,
      inFlight: 100,
      inFlightPerTenant: 100,
      inFlightPerEndpoint: 100,
      firstInFlightPerEndpoint: 100,
    });
    for (let n = 0; n < 5; n++) for (const endpoint of [0, 1, 2]) lanes.offer(dispatchFor(endpoint));
    for (let n = 0; n < 3; n++) lanes.offer(dispatchFor(3));
    const turns = Array.from({ length: 6 }, () => tenantOf(lanes.next()));
    assert.deepEqual(turns, ["tenant-0", "tenant-1", "tenant-0", "tenant-1", "tenant-0", "tenant-1"]);
  });

  it("between endpoints of a tenant: each has its turn before one has its second", () => {
    const lanes = new Lanes({
      ...LIMITS,
      inFlight: 100,
      inFlightPerTenant: 100,
      inFlightPerEndpoint: 100,
      firstInFlightPerEndpoint: 100,
    });
    for (let n = 0; n < 5; n++) lanes.offer(dispatchFor(0));
    lanes.offer(dispatchFor(1));
    lanes.offer(dispatchFor(2));
    const turns = Array.from({ length: 4 }, () => Number(lanes.next()?.endpointId.slice(-1)));
    assert.deepEqual(turns, [0, 1, 2, 0]);
  });

  it("to others while an endpoint is stuck: its attempts in flight hold up nobody", () => {
    const lanes = new Lanes(LIMITS);
    for (let n = 0; n < 5; n++) lanes.offer(dispatchFor(0));
    assert.deepEqual(
      [tenantOf(lanes.next()), tenantOf(lanes.next()), lanes.next()],
      ["tenant-0", "tenant-0", null],
    );
    lanes.offer(dispatchFor(1));
    lanes.offer(dispatchFor(3));
    assert.deepEqual(
      new Set([tenantOf(lanes.next()), tenantOf(lanes.next())]),
      new Set(["tenant-0", "tenant-1"]),
    );
  });
});

function startAll(lanes: Lanes): LeasedDispatch[] {
  const started: LeasedDispatch[] = [];
  for (let next = lanes.next(); next !== null; next = lanes.next()) started.push(next);
  return started;
}

/** Ends each attempt and starts what may start then; answers what is in flight after the last. */
function playRound(lanes: Lanes, inFlight: readonly LeasedDispatch[], wasSlow: boolean): LeasedDispatch[] {
  return inFlight.flatMap((dispatch) => {
    lanes.finished(dispatch, wasSlow);
    return startAll(lanes);
  });
}

describe("lanes narrow", () => {
  const limits = {
    ...LIMITS,
    inFlight: 100,
    inFlightPerTenant: 100,
    inFlightPerEndpoint: 4,
    firstInFlightPerEndpoint: 4,
    waitingPerEndpoint: 100,
  };

  it("for an endpoint whose attempts hang, down to the least, and widen again one by one", () => {
    const lanes = new Lanes(limits);
    for (let n = 0; n < 40; n++) lanes.offer(dispatchFor(0));
    let inFlight = startAll(lanes);
    const widths = [inFlight.length];
    for (const wasSlow of [true, true, false, false, false]) {
      inFlight = playRound(lanes, inFlight, wasSlow);
      widths.push(inFlight.length);
    }
    assert.deepEqual(widths, [4, 1, 1, 2, 3, 4]);
    assert.equal(lanes.isSlow(dispatchFor(0).endpointId), false);
  });

  it("at the start: an endpoint begins with few attempts at once and earns more", () => {
    const lanes = new Lanes({ ...limits, firstInFlightPerEndpoint: 1 });
    for (let n = 0; n < 40; n++) lanes.offer(dispatchFor(0));
    let inFlight = startAll(lanes);
    const widths = [inFlight.length];
    for (let round = 0; round < 4; round++) {
      inFlight = playRound(lanes, inFlight, false);
      widths.push(inFlight.length);
    }
    assert.deepEqual(widths, [1, 2, 3, 4, 4]);
  });

  it("not wider while the endpoint does not use the width it has", () => {
    const lanes = new Lanes({ ...limits, firstInFlightPerEndpoint: 2 });
    for (let n = 0; n < 10; n++) {
      lanes.offer(dispatchFor(0));
      playRound(lanes, startAll(lanes), false);
    }
    for (let n = 0; n < 10; n++) lanes.offer(dispatchFor(0));
    assert.equal(startAll(lanes).length, 2);
  });

  it("for that endpoint alone", () => {
    const lanes = new Lanes(limits);
    for (let n = 0; n < 10; n++) for (const endpoint of [0, 1]) lanes.offer(dispatchFor(endpoint));
    for (const dispatch of startAll(lanes)) lanes.finished(dispatch, dispatch.endpointId.endsWith("0"));
    assert.deepEqual(
      [lanes.isSlow(dispatchFor(0).endpointId), lanes.isSlow(dispatchFor(1).endpointId)],
      [true, false],
    );
    assert.equal(startAll(lanes).length, 1 + 4);
  });
});

describe("lanes bound what waits", () => {
  it("by the size of bodies, and have room again when those have started", () => {
    const lanes = new Lanes(LIMITS);
    lanes.offer(dispatchFor(0, "x".repeat(100)));
    assert.equal(lanes.hasRoom, false);
    lanes.next();
    assert.equal(lanes.hasRoom, true);
  });

  it("takes an end without a start for a fault", () => {
    assert.throws(() => new Lanes(LIMITS).finished(dispatchFor(0), false), /no lane had started/);
  });
});

describe("withdrawing an event", () => {
  it("takes what waits of it out of its endpoint's lane, and leaves room for others", () => {
    const lanes = new Lanes({ ...LIMITS, inFlight: 1 });
    const [started, withdrawn, kept, elsewhere] = [0, 0, 0, 1].map((endpoint) => dispatchFor(endpoint));
    assert.ok(started && withdrawn && kept && elsewhere);
    for (const dispatch of [started, withdrawn, kept, elsewhere]) assert.ok(lanes.offer(dispatch));
    assert.equal(lanes.next(), started);
    assert.deepEqual(lanes.withdraw(started), []);
    assert.deepEqual(lanes.withdraw(withdrawn), [withdrawn]);
    assert.deepEqual(lanes.withdraw(withdrawn), []);
    assert.deepEqual(lanes.withdraw({ ...elsewhere, eventId: kept.eventId }), []);
    assert.equal(lanes.waiting, 2);
    lanes.finished(started, false);
    const rest = [lanes.next(), lanes.takeAll()].flat();
    assert.deepEqual(new Set(rest), new Set([kept, elsewhere]));
  });

  it("turns away what a tenant has too much of, but from no lane that could start it at once", () => {
    const lanes = new Lanes({ ...LIMITS, waitingBodySizePerTenant: 10 });
    for (const endpoint of [0, 1, 0, 1, 0]) assert.ok(lanes.offer(dispatchFor(endpoint, "xx")));
    assert.ok(!lanes.offer(dispatchFor(1)));
    assert.ok(lanes.offer(dispatchFor(2)));
    assert.ok(lanes.offer(dispatchFor(ENDPOINTS_PER_TENANT)));
    assert.ok(lanes.next() !== null);
    assert.ok(lanes.next() !== null);
    assert.ok(lanes.offer(dispatchFor(1)));
  });

  it("names the crowded endpoints for as long as their lanes are full", () => {
    const lanes = new Lanes(LIMITS);
    for (let n = 0; n < LIMITS.waitingPerEndpoint; n++) lanes.offer(dispatchFor(0));
    assert.deepEqual(lanes.crowded(), []);
    assert.ok(!lanes.offer(dispatchFor(0)));
    assert.deepEqual(lanes.crowded(), [dispatchFor(0).endpointId]);
    lanes.next();
    assert.deepEqual(lanes.crowded(), []);
    lanes.offer(dispatchFor(0));
    lanes.offer(dispatchFor(0));
    lanes.takeAll();
    assert.deepEqual(lanes.crowded(), []);
  });
});
