/** Leases that a worker gives back without an attempt, and why. */
import { GroupCommit } from "../shared/group-commit.ts";
import type { Clock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { DispatchQueue, LeasedDispatch } from "../queue/queue.ts";

export type ReturnReason = "no_room" | "late" | "stopping" | "withdrawn";

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

const MOST_AT_ONCE = 1000;

export function makeReturns(services: {
  queue: Pick<DispatchQueue, "release" | "hold">;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "dispatchesReturned">;
}): Returns {
  const { queue, clock, log, metrics } = services;
  const holds = inGroups((dispatches) => queue.hold(dispatches));
  const released = {
    claimable: inGroups((dispatches) => queue.release(dispatches, "claimable")),
    parked: inGroups((dispatches) => queue.release(dispatches, "parked")),
  };

  /** One statement for all that is asked while the one before runs; nothing is answered but that it is done. */
  function inGroups(work: (items: LeasedDispatch[]) => Promise<void>): GroupCommit<LeasedDispatch, void> {
    const flush = async (items: LeasedDispatch[]): Promise<void[]> => {
      await work(items);
      return items.map(() => undefined);
    };
    return new GroupCommit(flush, { maxItems: MOST_AT_ONCE, maxConcurrent: 1 }, clock);
  }

  return {
    async hold(dispatch) {
      await holds.add(dispatch);
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
