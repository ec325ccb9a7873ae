/** Leases that are given back: where to, how they are counted, and what becomes of those that a lock keeps. */
import assert from "node:assert/strict";
import { beforeEach, describe, it, type TestContext } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { type DeliveryId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { makeReturns, type Returns } from "./returns.ts";

describe("leases that are given back", () => {
  let statements: [verb: string, count: number, how: string][];
  let locked: Set<DeliveryId>;
  let waitedFor: DeliveryId[];
  let isAway: boolean;
  let metrics: Metrics;
  let clock: VirtualClock;
  let returns: Returns;
  const log = makeLog("silent");

  beforeEach(() => {
    [statements, locked, waitedFor, isAway] = [[], new Set(), [], false];
    metrics = makeMetrics();
    clock = new VirtualClock();
    const queue = {
      async release(given: readonly LeasedDispatch[], to: string) {
        statements.push(["release", given.length, to]);
        if (isAway) throw new Error("the database is away");
      },
      async hold(given: readonly LeasedDispatch[], whenLocked: string) {
        statements.push(["hold", given.length, whenLocked]);
        if (whenLocked === "wait") waitedFor.push(...given.map(({ id }) => id));
        const held = whenLocked === "wait" ? given : given.filter(({ id }) => !locked.has(id));
        return new Set(held.map(({ id }) => id));
      },
    };
    returns = makeReturns({ queue, clock, log, metrics, stopping: new AbortController().signal });
  });

  async function counts(): Promise<Record<string, number>> {
    const { values } = await metrics.dispatchesReturned.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.reason), value]));
  }

  async function done(work: Promise<unknown>): Promise<void> {
    await clock.runUntil(clock.nowMs() + 1000);
    await work;
  }

  it("go to where they may be claimed, or are parked, in one statement each, and are counted by reason", async () => {
    const given = [leasedDispatch(), leasedDispatch(), leasedDispatch()];
    await done(
      Promise.all([
        returns.release(given.slice(0, 2), "claimable", "stopping"),
        returns.release(given.slice(2), "claimable", "late"),
        returns.release([leasedDispatch()], "parked", "no_room"),
      ]),
    );
    assert.deepEqual(
      statements.toSorted(([, one], [, other]) => one - other),
      [
        ["release", 1, "parked"],
        ["release", 3, "claimable"],
      ],
    );
    assert.deepEqual(await counts(), { stopping: 2, late: 1, no_room: 1 });
  });

  it("end by themselves where the database is away, which is told and not counted", async (test) => {
    const told = warningsOf(test);
    isAway = true;
    await done(returns.release([leasedDispatch()], "claimable", "stopping"));
    assert.deepEqual([told(), await counts()], [["the database is away"], {}]);
    isAway = false;
    await done(returns.release([leasedDispatch()], "claimable", "stopping"));
    assert.deepEqual([told().length, await counts()], [1, { stopping: 1 }]);
  });

  it("are held together; only a locked one waits for its lock", async () => {
    const [free, kept] = [leasedDispatch(), leasedDispatch()];
    locked.add(kept.id);
    await done(Promise.all([returns.hold(free), returns.hold(kept)]));
    assert.deepEqual(statements, [
      ["hold", 2, "skip"],
      ["hold", 1, "wait"],
    ]);
    assert.deepEqual(waitedFor, [kept.id]);
    assert.deepEqual(await counts(), { held: 2 });
  });

  it("are not held, and not counted, where the database refuses, and the caller is told", async () => {
    const refused = makeReturns({
      queue: { release: async () => undefined, hold: () => Promise.reject(new Error("away")) },
      clock,
      log,
      metrics,
      stopping: new AbortController().signal,
    });
    const held = assert.rejects(refused.hold(leasedDispatch()), /away/);
    await done(held);
    assert.deepEqual(await counts(), {});
  });

  function warningsOf(test: TestContext): () => string[] {
    const warn = test.mock.method(log, "warn", () => undefined);
    return () =>
      warn.mock.calls.map(({ arguments: [fields] }) => {
        const given: unknown = fields;
        assert.ok(typeof given === "object" && given !== null && "err" in given);
        return given.err instanceof Error ? given.err.message : "";
      });
  }
});
