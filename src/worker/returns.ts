/** Leases that a worker gives back without an attempt, and why. */
import { GroupCommit } from "../shared/group-commit.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { DispatchQueue, LeasedDispatch } from "../queue/queue.ts";

export type Postponed = { dispatch: LeasedDispatch; delayMs: number };

export type Returns = {
  /** Too late to be sure of the lease: whoever claims it next makes the attempt. */
  late(dispatch: LeasedDispatch): Promise<void>;
  /** Its endpoint is disabled. */
  hold(dispatch: LeasedDispatch): Promise<void>;
  /** Each may be claimed again after its delay. Never rejects: leases that cannot be given back end by themselves. */
  giveBack(given: readonly Postponed[], reason: "no_room" | "stopping" | "withdrawn"): Promise<void>;
};

/** One statement for all that is asked while the one before runs. */
const LIMITS = { maxItems: 1000, maxConcurrent: 1 };

export function makeReturns(services: {
  queue: Pick<DispatchQueue, "postpone" | "hold">;
  log: Log;
  metrics: Metrics;
}): Returns {
  const { queue, log, metrics } = services;
  const late = new GroupCommit<Postponed, void>(async (given) => {
    await queue.postpone(given);
    return given.map(() => undefined);
  }, LIMITS);
  const unlocked = holdsInGroups("skip");
  const locked = holdsInGroups("wait");

  function holdsInGroups(whenLocked: "skip" | "wait"): GroupCommit<LeasedDispatch, boolean> {
    return new GroupCommit(async (given) => {
      const held = await queue.hold(given, whenLocked);
      return given.map((dispatch) => held.has(dispatch.id));
    }, LIMITS);
  }

  return {
    async late(dispatch) {
      await late.add({ dispatch, delayMs: 0 });
      metrics.dispatchesReturned.inc({ reason: "late" });
    },
    async hold(dispatch) {
      // What is left over is locked, or not this worker's any more: to wait tells which.
      if (!(await unlocked.add(dispatch))) await locked.add(dispatch);
      metrics.dispatchesReturned.inc({ reason: "held" });
    },
    async giveBack(given, reason) {
      try {
        await queue.postpone(given);
        metrics.dispatchesReturned.inc({ reason }, given.length);
      } catch (error) {
        log.warn({ err: error }, "leases could not be given back; they end by themselves");
      }
    },
  };
}
