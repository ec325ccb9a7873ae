/** One dispatch, from its lane to its outcome: when it is sent, where it goes otherwise, and what is counted. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { targetOf, tenantId } from "../../test/support/worker-at-hand.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import type { CompletedAttempt, LeasedDispatch } from "../queue/queue.ts";
import { lowestIdAt, newEndpointId, parseEventId, type EventId } from "../shared/id.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { CarryOut } from "./carry-out.ts";
import { Lanes, SHARES } from "./lanes.ts";
import { FIRST_WIDTH, LEAST_WIDTH } from "./width.ts";

const endpointId = newEndpointId();

/** In place of a status: its address is not public. */
const NOT_PUBLIC = 0;

const TARGET = targetOf(endpointId);

const LOCKED = Object.assign(new Error("lock timeout"), { code: "55P03" });

const eventAt = (atMs: number): EventId => parseEventId(lowestIdAt(atMs)) ?? assert.fail();

async function partOf(histogram: Metrics["deliveryLatency" | "attemptDuration"], part: "count" | "sum") {
  const { values } = await histogram.get();
  return values.find(({ metricName }) => metricName?.endsWith(`_${part}`))?.value ?? 0;
}

describe("a dispatch", () => {
  let clock: VirtualClock;
  let metrics: Metrics;
  /** What became of it, in order. */
  let steps: string[];
  let status: number;
  let covers: boolean;
  let owns: boolean;
  let lock: Promise<unknown> | undefined;
  let target: () => SendTarget | null;
  let known: SendTarget | null | undefined;
  let isHealthNews: () => boolean;
  let observed: { status: string; isGone: boolean }[];
  let lanes: Lanes;
  let latencyMs: number;
  let scheduleMs: number[];
  let record: (completed: CompletedAttempt) => Promise<boolean>;
  let hold: () => Promise<void>;
  /** When what may start was started, and when due dispatches were claimed. */
  let pumpedAt: number[];
  let wokenAt: number[];
  let kept: ReturnType<typeof makeKeptLog>;

  beforeEach(() => {
    [clock, metrics, steps, status] = [new VirtualClock(), makeMetrics(), [], 200];
    [covers, owns, lock, target, isHealthNews] = [true, true, undefined, () => TARGET, () => false];
    [known, lanes, latencyMs, scheduleMs, record] = [undefined, new Lanes(SHARES), 1, [0], async () => true];
    [pumpedAt, wokenAt, kept, observed] = [[], [], makeKeptLog(), []];
    hold = async () => step("held");
  });

  const step = (text: string): void => void steps.push(text);

  function newCarryOut(): CarryOut {
    const services = {
      clock,
      metrics,
      log: kept.log,
      scheduleMs,
      tracing: null,
      artifacts: { choose: () => null },
      blockedTarget: ({ endpointId: blocked }: SendTarget) => step(`blocked ${blocked}`),
      sender: {
        async send() {
          step("sent");
          if (status === NOT_PUBLIC) return { kind: "unsafe" as const, rule: "not_public" as const };
          return { kind: "answered" as const, status, headers: {}, body: "", latencyMs };
        },
      },
      targets: { fresh: () => known, get: async () => target(), forget: () => step("target forgotten") },
      health: {
        observe: async (_of: SendTarget, what: { status: string; isGone: boolean }) => {
          observed.push(what);
          return isHealthNews();
        },
      },
      presence: {
        isConfirmed: () => true,
        unbrokenSince: () => 0,
        whenConfirmed: () => undefined,
        covers: () => covers,
      },
    };
    return new CarryOut(services, {
      lanes,
      slots: { owns: () => owns },
      outcomes: {
        async record(completed: CompletedAttempt) {
          step(completed.error ?? completed.status);
          return record(completed);
        },
        lockOf: () => lock,
        refused: () => 0,
      },
      returns: {
        hold: () => hold(),
        release: async (given, to, reason) => step(`${given.length} ${to}: ${reason}`),
      },
      pump: () => void pumpedAt.push(clock.nowMs()),
      wake: () => void wokenAt.push(clock.nowMs()),
    });
  }

  function start(made: Partial<LeasedDispatch> = {}, carryOut = newCarryOut()): Promise<void> {
    const dispatch = leasedDispatch({ endpointId, ...made });
    assert.ok(lanes.offer(dispatch, clock.nowMs()));
    assert.equal(lanes.next(clock.nowMs())?.kind, "start");
    return carryOut.attempt(dispatch);
  }

  async function stepsOf(made?: Partial<LeasedDispatch>): Promise<string[]> {
    await start(made);
    return steps;
  }

  const latencies = () => partOf(metrics.deliveryLatency, "count");

  it("is sent and recorded, and out of its lane before that, which goes on", async () => {
    record = async () => {
      step(`with ${lanes.inFlight} in flight, ${pumpedAt.length} started`);
      return true;
    };
    assert.deepEqual(await stepsOf(), ["sent", "delivered", "with 0 in flight, 1 started"]);
    assert.equal(lanes.weight, 0);
  });

  it("makes its endpoint's lane narrower once its receiver held it for more than three seconds", async () => {
    for (const [took, width] of [
      [3000, FIRST_WIDTH],
      [3001, LEAST_WIDTH],
    ] as const) {
      [lanes, latencyMs] = [new Lanes(SHARES), took];
      await start();
      for (let n = 0; n < 20; n++) assert.ok(lanes.offer(leasedDispatch({ endpointId }), clock.nowMs()));
      while (lanes.next(clock.nowMs()) !== null);
      assert.equal(lanes.inFlight, width);
    }
  });

  it("takes a target that is known without reading it", async () => {
    target = () => assert.fail("it is known");
    known = TARGET;
    assert.deepEqual(await stepsOf(), ["sent", "delivered"]);
    [known, steps] = [null, []];
    assert.deepEqual(await stepsOf(), ["endpoint_deleted"]);
  });

  it("is in line again while its endpoint's rate limit lets it wait, and goes on in its turn", async () => {
    target = () => ({ ...TARGET, rateLimit: 2 });
    await clock.runUntil(5000);
    const [first, second] = [leasedDispatch({ endpointId }), leasedDispatch({ endpointId })];
    // Both were given out before the lane knew the limit.
    for (const dispatch of [first, second]) {
      assert.ok(lanes.offer(dispatch, clock.nowMs()));
      assert.deepEqual(lanes.next(clock.nowMs()), { kind: "start", dispatch });
    }
    const carryOut = newCarryOut();
    await carryOut.attempt(first);
    await carryOut.attempt(second);
    assert.deepEqual(steps, ["sent", "delivered"]);
    assert.deepEqual([lanes.waiting, lanes.inFlight, pumpedAt], [1, 0, [5000, 5000]]);
    assert.equal(lanes.next(5499), null);
    await clock.runUntil(5499);
    assert.equal(pumpedAt.length, 2);
    await clock.runUntil(5500);
    assert.equal(pumpedAt.length, 3);
    assert.deepEqual(lanes.next(clock.nowMs()), { kind: "start", dispatch: second });
  });

  it("of an endpoint whose turn has come goes on at once, and never in the same moment", async () => {
    await clock.runUntil(1000);
    const carryOut = newCarryOut();
    carryOut.resumeAt(endpointId, 900);
    assert.deepEqual(pumpedAt, []);
    await clock.runUntil(1001);
    assert.deepEqual(pumpedAt, [1001]);
  });

  it("has its endpoint's next attempt claimed in time where it is due before the next poll", async (test) => {
    test.mock.method(Math, "random", () => 0);
    [status, scheduleMs] = [500, [0, 199]];
    await start();
    await clock.runUntil(1000);
    assert.deepEqual(wokenAt, [199]);
    scheduleMs = [0, 200];
    await start();
    scheduleMs = [0];
    await start();
    await clock.runUntil(3000);
    assert.equal(wokenAt.length, 1);
  });

  it("that passed to another worker has no outcome here, which is told, and nothing is claimed for it", async () => {
    [status, scheduleMs, record] = [500, [0, 100], async () => false];
    const { id } = leasedDispatch();
    await start({ id });
    await clock.runUntil(1000);
    assert.deepEqual([steps, wokenAt], [["sent", "failed"], []]);
    assert.deepEqual(kept.lines, [{ level: 40, tenantId, endpointId, deliveryId: id }]);
  });

  it("ends without its event, which counts as an error of this program and is told", async () => {
    const dispatch = leasedDispatch({ endpointId });
    const completed: CompletedAttempt[] = [];
    record = async (one) => completed.push(one) > 0;
    await newCarryOut().endWithoutEvent(dispatch);
    assert.deepEqual(completed, [
      {
        dispatch,
        status: "failed",
        sentAt: null,
        requestHeaders: {},
        responseStatus: null,
        responseHeaders: null,
        responseBody: null,
        latencyMs: 0,
        error: null,
        nextDelayMs: null,
        exhausted: false,
        toKeep: null,
      },
    ]);
    const { values } = await metrics.attemptsTotal.get();
    assert.deepEqual(
      values.map(({ labels, value }) => [labels, value]),
      [[{ outcome: "error", reason: "internal" }, 1]],
    );
    const { id, eventId } = dispatch;
    const of = { tenantId, endpointId, deliveryId: id, eventId };
    assert.deepEqual(kept.lines, [{ level: 50, ...of }]);

    kept = makeKeptLog();
    record = () => Promise.reject(new Error("away"));
    await newCarryOut().endWithoutEvent(dispatch);
    assert.deepEqual(kept.lines.slice(1), [{ level: 50, err: "away", deliveryId: id }]);
  });

  it("goes back unsent whose lease others have freed since", async () => {
    covers = false;
    assert.deepEqual(await stepsOf(), ["1 claimable: unseen"]);
  });

  it("goes back unsent whose slot has gone to another worker", async () => {
    owns = false;
    assert.deepEqual(await stepsOf(), ["1 claimable: moved"]);
  });

  it("goes back unsent whose lease ends before the longest attempt does", async () => {
    assert.deepEqual(await stepsOf({ leaseEndsMs: 24_999 }), ["1 claimable: late"]);
    assert.deepEqual([lanes.inFlight, lanes.weight, pumpedAt], [0, 0, [0]]);
    await clock.runUntil(1000);
    steps = [];
    assert.deepEqual(await stepsOf({ leaseEndsMs: 25_999 }), ["1 claimable: late"]);
    steps = [];
    assert.deepEqual(await stepsOf({ leaseEndsMs: 26_000 }), ["sent", "delivered"]);
  });

  it("is held where its endpoint is disabled or pull, and ends where it is deleted", async () => {
    for (const [found, step] of [
      [{ ...TARGET, enabled: false }, "held"],
      [{ ...TARGET, mode: "pull" }, "held"],
      [null, "endpoint_deleted"],
    ] as const) {
      steps = [];
      target = () => found;
      assert.deepEqual(await stepsOf(), [step]);
    }
  });

  it("waits until the outcomes before it are recorded", async () => {
    const before = Promise.withResolvers<unknown>();
    lock = before.promise;
    const sending = start();
    await clock.runUntil(1000);
    assert.deepEqual(steps, []);
    before.resolve(undefined);
    await sending;
    assert.deepEqual(steps, ["sent", "delivered"]);
  });

  it("goes where its endpoint is after that wait, not where it was before", async () => {
    for (const isKnown of [true, false]) {
      const before = Promise.withResolvers<unknown>();
      const disabled = { ...TARGET, enabled: false };
      [steps, lock] = [[], before.promise];
      [known, target] = [isKnown ? TARGET : undefined, () => TARGET];
      const sending = start();
      await clock.runUntil(clock.nowMs() + 1000);
      [known, target] = [isKnown ? disabled : undefined, () => disabled];
      before.resolve(undefined);
      await sending;
      assert.deepEqual(steps, ["held"]);
    }
  });

  it("counts as an error with its reason where the attempt can't be made, or the dispatch not be held", async () => {
    for (const [error, reason, line] of [
      [new SecretBoxError("it does not open"), "secret", { level: 50 }],
      [new Error("a fault"), "internal", { level: 50 }],
      [LOCKED, "database", { level: 40, times: 1 }],
    ] as const) {
      for (const isHeld of [false, true]) {
        metrics.attemptsTotal.reset();
        target = () => {
          if (isHeld) return { ...TARGET, enabled: false };
          throw error;
        };
        hold = () => Promise.reject(error);
        kept = makeKeptLog();
        const { id } = leasedDispatch();
        assert.deepEqual(await stepsOf({ id }), []);
        const of = { tenantId, endpointId, deliveryId: id };
        assert.deepEqual(kept.lines, [{ ...line, err: error.message, ...of }]);
        assert.deepEqual([lanes.inFlight, lanes.weight], [0, 0]);
        const { values } = await metrics.attemptsTotal.get();
        assert.deepEqual(
          values.map(({ labels, value }) => [labels, value]),
          [[{ outcome: "error", reason }, 1]],
        );
      }
    }
  });

  it("is told of once, however many others meet the same secret that does not open, and counts all the same", async () => {
    target = () => {
      throw new SecretBoxError("it does not open");
    };
    const carryOut = newCarryOut();
    for (const _ of [1, 2, 3]) await start({}, carryOut);
    assert.deepEqual([kept.lines.length, carryOut.unusableSecrets()], [1, 1]);
    const { values } = await metrics.attemptsTotal.get();
    assert.equal(values[0]?.value, 3);
  });

  it("has its target read anew once the endpoint's health has changed it", async () => {
    [status, isHealthNews] = [410, () => true];
    assert.deepEqual(await stepsOf(), ["sent", "target forgotten", "failed"]);
    assert.deepEqual(observed, [{ status: "failed", isGone: true }]);
  });

  it("is recorded although the endpoint's health can't be, which is told", async () => {
    isHealthNews = () => {
      throw new Error("away");
    };
    assert.deepEqual(await stepsOf(), ["sent", "delivered"]);
    assert.deepEqual(kept.lines, [{ level: 40, err: "away", endpointId, times: 1 }]);
  });

  it("counts by its outcome and why, and is told where its address is not public", async () => {
    for (const [given, outcome, reason] of [
      [200, "delivered", "none"],
      [500, "failed", "status"],
      [NOT_PUBLIC, "failed", "blocked_target"],
    ] as const) {
      [steps, status] = [[], given];
      metrics.attemptsTotal.reset();
      await start();
      const told = given === NOT_PUBLIC ? [`blocked ${endpointId}`, "blocked_target"] : [outcome];
      assert.deepEqual(steps, ["sent", ...told]);
      const { values } = await metrics.attemptsTotal.get();
      assert.deepEqual(
        values.map(({ labels, value }) => [labels, value]),
        [[{ outcome, reason }, 1]],
      );
    }
  });

  it("counts in seconds: what it took, and the time from its event to its delivery", async (test) => {
    latencyMs = 1500;
    const nowMs = 1_800_000_000_000;
    test.mock.timers.enable({ apis: ["Date"], now: nowMs });
    await start({ eventId: eventAt(nowMs - 2500) });
    // Its clock is ahead of this one.
    await start({ eventId: eventAt(nowMs + 1000) });
    assert.equal(await partOf(metrics.attemptDuration, "sum"), 3);
    assert.equal(await partOf(metrics.deliveryLatency, "sum"), 2.5);
  });

  it("counts in the time to delivery as a first attempt that nobody asked for", async () => {
    await start();
    assert.equal(await latencies(), 1);
    for (const other of [{ once: true }, { attempt: 2 }]) await start(other);
    status = 500;
    await start();
    assert.equal(await latencies(), 1);
  });
});
