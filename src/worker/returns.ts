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

export function makeReturns(services: {
  queue: Pick<DispatchQueue, "postpone" | "hold">;
  log: Log;
  metrics: Metrics;
}): Returns {
  const { queue, log, metrics } = services;
  const late = inGroups((given: Postponed[]) => queue.postpone(given));
  const holds = inGroups((given: LeasedDispatch[]) => queue.hold(given));

  return {
    async late(dispatch) {
      await late.add({ dispatch, delayMs: 0 });
      metrics.dispatchesReturned.inc({ reason: "late" });
    },
    async hold(dispatch) {
      await holds.add(dispatch);
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

/** One statement for all that is asked while the one before runs; nothing is answered but that it is done. */
function inGroups<Item>(work: (items: Item[]) => Promise<void>): GroupCommit<Item, void> {
  return new GroupCommit<Item, void>(
    async (items) => {
      await work(items);
      return items.map(() => undefined);
    },
    { maxItems: 1000, maxConcurrent: 1 },
  );
}
