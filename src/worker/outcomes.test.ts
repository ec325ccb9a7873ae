/** Outcomes that the database does not take at once: what becomes of them, and of those beside and behind them. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { moveClockOf } from "../../test/support/moved-clock.ts";
import { completed } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CompletedAttempt } from "../queue/queue.ts";
import { newDeliveryId, newEndpointId, newEventId, type DeliveryId } from "../shared/id.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { makeOutcomes } from "./outcomes.ts";

const tenantId = tenant("acme");
const endpointId = newEndpointId();

function attempt(leaseEndsMs = 60_000): CompletedAttempt {
  const made = completed({ tenantId, endpointId, eventId: newEventId(), leasedId: newDeliveryId() });
  return { ...made, dispatch: { ...made.dispatch, leaseEndsMs } };
}

/** As the database sees it where nothing of a receiver's is in it. */
const BARE = { requestHeaders: {}, responseHeaders: null, responseBody: null, toKeep: null };

type Complete = (ids: DeliveryId[], whenLocked: "skip" | "wait") => Promise<Set<DeliveryId>>;

const refusal = () => Object.assign(new Error("no"), { code: "22021" });
const outage = () => Object.assign(new Error("away"), { code: "ECONNREFUSED" });

describe("an outcome", () => {
  let clock: VirtualClock;
  let complete: Complete;
  let deferred: DeliveryId[];
  let isDeferable: boolean;
  let statements: [whenLocked: "skip" | "wait", attempts: CompletedAttempt[]][];
  let metrics: Metrics;
  let kept: ReturnType<typeof makeKeptLog>;

  beforeEach(() => {
    [clock, deferred, complete] = [new VirtualClock(), [], async (ids) => new Set(ids)];
    [isDeferable, statements, metrics, kept] = [true, [], makeMetrics(), makeKeptLog()];
  });

  const newOutcomes = () =>
    makeOutcomes({
      queue: {
        complete: (attempts, whenLocked) => {
          statements.push([whenLocked, [...attempts]]);
          return complete(
            attempts.map(({ dispatch }) => dispatch.id),
            whenLocked,
          );
        },
        defer: async ({ id }) => {
          if (!isDeferable) throw new Error("not now");
          deferred.push(id);
        },
      },
      clock,
      log: kept.log,
      metrics,
    });

  /** Lets five seconds pass. */
  async function after<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    await clock.runUntil(clock.nowMs() + 5000);
    return work;
  }

  async function handled(): Promise<[handling: string | number | undefined, count: number][]> {
    const { values } = await metrics.outcomesRefused.get();
    return values.map(({ labels, value }) => [labels.handling, value]);
  }

  it("that the database refuses is recorded without what a receiver may have put in it, which is told", async () => {
    for (const given of [
      { requestHeaders: { a: "b" } },
      { responseHeaders: {} },
      { responseBody: "" },
      { toKeep: { requestBody: true, responseBody: null, days: null } },
    ]) {
      [statements, kept] = [[], makeKeptLog()];
      const refused = { ...attempt(), ...BARE, ...given };
      complete = (ids) =>
        statements.length === 1 ? Promise.reject(refusal()) : Promise.resolve(new Set(ids));
      assert.equal(await after(newOutcomes().record(refused)), true);
      assert.deepEqual(statements, [
        ["skip", [refused]],
        ["skip", [{ ...refused, ...BARE }]],
      ]);
      const of = { level: 50, tenantId, endpointId, deliveryId: refused.dispatch.id };
      assert.deepEqual(kept.lines, [{ ...of, err: "no" }]);
    }
    assert.deepEqual([await handled(), deferred], [[["recorded_bare", 4]], []]);
  });

  it("that is refused without anything of a receiver's in it is not tried again at once", async () => {
    complete = () => Promise.reject(refusal());
    await assert.rejects(after(newOutcomes().record({ ...attempt(), ...BARE })), ({ cause }: Error) => {
      assert.equal(cause instanceof Error ? cause.message : "", "no");
      return true;
    });
    assert.equal(statements.length, 1);
    assert.deepEqual(await handled(), [["deferred", 1]]);
  });

  it("that lost its lease is not recorded, also where the database refused it first", async () => {
    complete = () => (statements.length === 1 ? Promise.reject(refusal()) : Promise.resolve(new Set()));
    assert.equal(await after(newOutcomes().record(attempt())), false);
    assert.deepEqual(
      statements.map(([whenLocked]) => whenLocked),
      ["skip", "skip", "wait"],
    );
    assert.deepEqual([await handled(), kept.lines, deferred], [[], [], []]);
  });

  it("that is refused delays none of the others in its group", async () => {
    const outcomes = newOutcomes();
    const [one, refused, three] = [attempt(), { ...attempt(), ...BARE }, attempt()];
    complete = (ids) =>
      ids.includes(refused.dispatch.id) ? Promise.reject(refusal()) : Promise.resolve(new Set(ids));
    const recorded = Promise.allSettled([one, refused, three].map((made) => outcomes.record(made)));
    assert.deepEqual(
      (await after(recorded)).map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(
      statements.map(([, attempts]) => attempts),
      [[one, refused, three], [one], [refused, three], [refused], [three]],
    );
    assert.deepEqual(deferred, [refused.dispatch.id]);
  });

  it("that is refused counts for two hours, and is told where it can't be deferred", async (test) => {
    const moveClock = moveClockOf(test);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    isDeferable = false;
    complete = () => Promise.reject(refusal());
    const outcomes = newOutcomes();
    const refused = { ...attempt(), ...BARE };
    await assert.rejects(after(outcomes.record(refused)), /cannot be recorded/);
    assert.deepEqual(kept.lines, [{ level: 40, err: "not now", deliveryId: refused.dispatch.id }]);
    moveClock(7_200_000);
    test.mock.timers.tick(1);
    assert.equal(outcomes.refused(), 1);
    moveClock(1);
    test.mock.timers.tick(1);
    assert.equal(outcomes.refused(), 0);
  });

  it("is tried twice a second during an outage, up to the end of its lease, which is told", async () => {
    const triedAt: number[] = [];
    complete = () => {
      triedAt.push(clock.nowMs());
      return Promise.reject(outage());
    };
    const outcomes = newOutcomes();
    const recorded = Promise.allSettled([outcomes.record(attempt(1000)), outcomes.record(attempt(500))]);
    assert.deepEqual(
      (await after(recorded)).map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.deepEqual(triedAt, [0, 500, 1000, 1500]);
    assert.deepEqual(kept.lines, [{ level: 40, err: "away", attempts: 2, times: 1 }]);
    assert.deepEqual(deferred, []);
  });

  it("waits a moment after others were recorded, so that they share a commit", async () => {
    const recordedAt: number[] = [];
    complete = async (ids) => {
      recordedAt.push(clock.nowMs());
      return new Set(ids);
    };
    const outcomes = newOutcomes();
    const first = outcomes.record(attempt());
    await clock.runUntil(1);
    await after(Promise.all([first, outcomes.record(attempt()), outcomes.record(attempt())]));
    assert.deepEqual(recordedAt, [0, 50]);
  });

  it("shares a commit up to 2 MiB of kept answers", async () => {
    const of = (bytes: number): CompletedAttempt => ({
      ...attempt(),
      toKeep: { requestBody: false, responseBody: Buffer.alloc(bytes), days: null },
    });
    const without = { ...attempt(), toKeep: null };
    const requestAlone = {
      ...attempt(),
      toKeep: { requestBody: true, responseBody: null, days: null },
    };
    const half = 1024 * 1024;
    const outcomes = newOutcomes();
    const made = [of(half), without, requestAlone, of(half), of(1), of(half)];
    await after(Promise.all(made.map((one) => outcomes.record(one))));
    assert.deepEqual(
      statements.map(([, attempts]) => attempts.length),
      [4, 2],
    );
  });

  it("that the database refuses for good has its dispatch deferred, which counts until a later one is recorded", async () => {
    const outcomes = newOutcomes();
    const refused = attempt();
    complete = () => Promise.reject(refusal());
    const rejected = assert.rejects(outcomes.record(refused), /cannot be recorded/);
    await clock.runUntil(100);
    await rejected;
    assert.deepEqual([deferred, outcomes.refused()], [[refused.dispatch.id], 1]);
    complete = async (ids) => new Set(ids);
    const recorded = outcomes.record(refused);
    await clock.runUntil(200);
    assert.deepEqual([await recorded, outcomes.refused()], [true, 0]);
  });

  it("waits for an outage while any lease of its group lasts, not the shortest alone", async () => {
    const outcomes = newOutcomes();
    complete = async (ids) => {
      if (clock.nowMs() < 1500) throw outage();
      return new Set(ids);
    };
    const recorded = Promise.all([outcomes.record(attempt(1000)), outcomes.record(attempt(5000))]);
    recorded.catch(() => undefined);
    await clock.runUntil(5000);
    assert.deepEqual(await recorded, [true, true]);
  });

  it("that waits for a lock keeps its endpoint waiting until the last of them is recorded", async () => {
    const outcomes = newOutcomes();
    const locks: (() => void)[] = [];
    complete = async (ids, whenLocked) => {
      if (whenLocked === "skip") return new Set();
      await new Promise<void>((resolve) => void locks.push(resolve));
      return new Set(ids);
    };
    const first = outcomes.record(attempt());
    await clock.runUntil(100);
    const second = outcomes.record(attempt());
    await clock.runUntil(200);
    assert.equal(locks.length, 1);
    locks[0]?.();
    assert.equal(await first, true);
    assert.notEqual(outcomes.lockOf(endpointId), undefined);
    await clock.runUntil(300);
    locks[1]?.();
    assert.equal(await second, true);
    assert.equal(outcomes.lockOf(endpointId), undefined);
  });

  it("is recorded as soon as its own lock is free, however long another's that it waited with is held", async () => {
    const [held, other] = [attempt(), attempt()];
    complete = async (ids, whenLocked) => {
      const free = ids.filter(
        (id) => id !== held.dispatch.id && !(whenLocked === "skip" && statements.length <= 2),
      );
      if (whenLocked === "wait" && ids.includes(held.dispatch.id))
        throw Object.assign(new Error("held"), { code: "55P03" });
      return new Set(free);
    };
    const outcomes = newOutcomes();
    const waiting = outcomes.record(held);
    waiting.catch(() => undefined);
    const recorded: boolean[] = [];
    void outcomes.record(other).then((is) => recorded.push(is));
    await clock.runUntil(5000);
    assert.deepEqual(recorded, [true]);
    complete = async (ids) => new Set(ids);
    assert.equal(await after(waiting), true);
  });
});
