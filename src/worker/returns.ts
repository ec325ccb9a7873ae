/** Leases that a worker gives back without an attempt, and why. */
import { GroupCommit } from "../shared/group-commit.ts";
import type { Clock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { DispatchQueue, LeasedDispatch } from "../queue/queue.ts";

export type ReturnReason = "no_room" | "late" | "unseen" | "stopping" | "withdrawn";

export type Returns = {
  /** Its endpoint is disabled. */
  hold(dispatch: LeasedDispatch): Promise<void>;
  /** Never rejects: leases that cannot be given back end by themselves. */
  release(
    dispatches: readonly LeasedDispatch[],
    to: "claimable" | "parked",
    reason: ReturnReason,
  ): Promise<void>;
};

/** One statement for all that is asked while the one before runs. */
const LIMITS = { maxItems: 1000, maxConcurrent: 1 };

export function makeReturns(services: {
  queue: Pick<DispatchQueue, "release" | "hold">;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "dispatchesReturned">;
}): Returns {
  const { queue, clock, log, metrics } = services;
  const released = { claimable: releasesInGroups("claimable"), parked: releasesInGroups("parked") };
  const unlocked = holdsInGroups("skip");
  const locked = holdsInGroups("wait");

  /** Nothing is answered but that it is done. */
  function releasesInGroups(to: "claimable" | "parked"): GroupCommit<LeasedDispatch, void> {
    const flush = async (given: LeasedDispatch[]): Promise<void[]> => {
      await queue.release(given, to);
      return given.map(() => undefined);
    };
    return new GroupCommit(flush, LIMITS, clock);
  }

  function holdsInGroups(whenLocked: "skip" | "wait"): GroupCommit<LeasedDispatch, boolean> {
    const flush = async (given: LeasedDispatch[]): Promise<boolean[]> => {
      const held = await queue.hold(given, whenLocked);
      return given.map((dispatch) => held.has(dispatch.id));
    };
    return new GroupCommit(flush, LIMITS, clock);
  }

  return {
    async hold(dispatch) {
      // What is left over is locked, or not this worker's any more: to wait tells which.
      if (!(await unlocked.add(dispatch))) await locked.add(dispatch);
      metrics.dispatchesReturned.inc({ reason: "held" });
    },
    async release(dispatches, to, reason) {
      try {
        await Promise.all(dispatches.map((dispatch) => released[to].add(dispatch)));
        metrics.dispatchesReturned.inc({ reason }, dispatches.length);
      } catch (error) {
        log.warn({ err: error }, "leases could not be given back; they end by themselves");
      }
    },
  };
}
