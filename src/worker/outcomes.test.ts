/** Outcomes that the database does not take at once: what becomes of them, and of those beside and behind them. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { completed } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CompletedAttempt } from "../queue/queue.ts";
import { newDeliveryId, newEndpointId, newEventId, type DeliveryId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeOutcomes } from "./outcomes.ts";

const tenantId = tenant("acme");
const endpointId = newEndpointId();

function attempt(leaseEndsMs = 60_000): CompletedAttempt {
  const made = completed({ tenantId, endpointId, eventId: newEventId(), leasedId: newDeliveryId() });
  return { ...made, dispatch: { ...made.dispatch, leaseEndsMs } };
}

type Complete = (ids: DeliveryId[], whenLocked: "skip" | "wait") => Promise<Set<DeliveryId>>;

describe("an outcome", () => {
  let clock: VirtualClock;
  let complete: Complete;
  let deferred: DeliveryId[];

  beforeEach(() => {
    [clock, deferred, complete] = [new VirtualClock(), [], async (ids) => new Set(ids)];
  });

  const newOutcomes = () =>
    makeOutcomes({
      queue: {
        complete: (attempts, whenLocked) =>
          complete(
            attempts.map(({ dispatch }) => dispatch.id),
            whenLocked,
          ),
        defer: async ({ id }) => void deferred.push(id),
      },
      clock,
      log: makeLog("silent"),
      metrics: makeMetrics(),
    });

  it("that the database refuses for good has its dispatch deferred, which counts until a later one is recorded", async () => {
    const outcomes = newOutcomes();
    const refused = attempt();
    complete = () => Promise.reject(Object.assign(new Error("no"), { code: "22021" }));
    const refusal = assert.rejects(outcomes.record(refused), /cannot be recorded/);
    await clock.runUntil(100);
    await refusal;
    assert.deepEqual([deferred, outcomes.refused()], [[refused.dispatch.id], 1]);
    complete = async (ids) => new Set(ids);
    const recorded = outcomes.record(refused);
    await clock.runUntil(200);
    assert.deepEqual([await recorded, outcomes.refused()], [true, 0]);
  });

  it("waits for an outage while any lease of its group lasts, not the shortest alone", async () => {
    const outcomes = newOutcomes();
    complete = async (ids) => {
      if (clock.nowMs() < 1500) throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
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
});
