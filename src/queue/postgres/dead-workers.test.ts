/** When a worker counts as dead, and that its leases are freed once it does. The table is a list. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { makeLog } from "../../telemetry/log.ts";
import { makeMetrics, type Metrics } from "../../telemetry/metrics.ts";
import { FREE_LEASES_EVERY_MS, makeDeadWorkers } from "./dead-workers.ts";
import type { UnheldWorker } from "./presence-store.ts";

describe("workers without a lock", () => {
  let clock: VirtualClock;
  let metrics: Metrics;
  let steps: string[];
  let warned: unknown[];
  let unheld: UnheldWorker[];
  let isConfirmed: boolean;
  let isAway: boolean;
  let isMarked: boolean;
  let look: () => Promise<void>;

  beforeEach(() => {
    [clock, metrics, steps, warned] = [new VirtualClock(), makeMetrics(), [], []];
    unheld = [{ firstLeaseId: "a", seenAt: "1", isDead: false }];
    [isConfirmed, isAway, isMarked] = [true, false, true];
    const slices = [true, true, false];
    const table = {
      async findUnheld() {
        if (isAway) throw new Error("the database is away");
        return unheld;
      },
      async markDead(id: string, silentMs: number) {
        steps.push(`${id} is silent for ${silentMs}`);
        return isMarked;
      },
      async freeSome(id: string) {
        steps.push(`some of ${id}`);
        return slices.shift() === true;
      },
      async removeDead(id: string) {
        steps.push(`${id} is removed`);
      },
    };
    const presence = {
      isConfirmed: () => isConfirmed,
      unbrokenSince: () => 0,
      whenConfirmed: () => undefined,
      covers: () => true,
    };
    const log = Object.assign(makeLog("silent"), { warn: (about: unknown) => void warned.push(about) });
    const dead = makeDeadWorkers({ table, presence, clock, log, metrics });
    look = () => dead.look();
  });

  const FREED = ["some of a", "some of a", "some of a", "a is removed"];

  /** Looks every half a second from now on, so long. */
  async function watch(ms: number): Promise<void> {
    for (const endMs = clock.nowMs() + ms; clock.nowMs() < endMs;) {
      await look();
      await clock.runUntil(clock.nowMs() + FREE_LEASES_EVERY_MS);
    }
  }

  const counted = async () => (await metrics.deadWorkers.get()).values[0]?.value;

  it("are declared dead after four seconds of silence, and all that they leased is freed", async () => {
    await watch(4000);
    assert.deepEqual(steps, []);
    await look();
    assert.deepEqual(steps, ["a is silent for 4000", ...FREED]);
    assert.deepEqual([await counted(), warned], [1, [{ worker: "a" }]]);
  });

  it("are let be where the database finds that they live", async () => {
    isMarked = false;
    await watch(4500);
    assert.deepEqual([steps, await counted()], [["a is silent for 4000"], 0]);
  });

  it("are observed from the beginning after this worker's own presence or the database was away", async () => {
    for (const meanwhile of ["unconfirmed", "away"]) {
      await watch(3000);
      [isConfirmed, isAway] = [meanwhile === "away", meanwhile === "away"];
      if (isAway) await assert.rejects(look(), /the database is away/);
      else await look();
      [isConfirmed, isAway] = [true, false];
      await watch(4000);
      assert.deepEqual(steps, []);
      unheld = [{ firstLeaseId: "a", seenAt: "2", isDead: false }];
    }
  });

  it("are freed by whoever comes after the worker that found them dead", async () => {
    unheld = [{ firstLeaseId: "a", seenAt: "1", isDead: true }];
    await look();
    assert.deepEqual([steps, await counted()], [FREED, 0]);
  });
});
