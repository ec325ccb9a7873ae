/** Releases leases without an attempt, and counts the reasons. */
import { isLockConflict } from "../database/passing-errors.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { Clock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { DispatchQueue, LeasedDispatch } from "../queue/queue.ts";

export type ReturnReason = "no_room" | "late" | "unseen" | "stopping" | "withdrawn" | "moved";

export type Returns = {
  /** Its endpoint is disabled, or pull. */
  hold(dispatch: LeasedDispatch): Promise<void>;
  /** Never rejects: leases that cannot be released end by themselves. */
  release(
    dispatches: readonly LeasedDispatch[],
    to: "claimable" | "parked",
    reason: ReturnReason,
  ): Promise<void>;
};

/** False where its row is locked or its lease was lost; an error where another transaction holds its lock for long. */
type Held = boolean | Error;

/** While one statement runs, the next batch gathers. */
const LIMITS = { maxItems: 1000, maxConcurrent: 1 };

export function makeReturns(services: {
  queue: Pick<DispatchQueue, "release" | "hold">;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "dispatchesReturned">;
  /** From then on nothing waits for a lock anew. */
  stopping: AbortSignal;
}): Returns {
  const { queue, clock, log, metrics, stopping } = services;
  const released = { claimable: releasesInGroups("claimable"), parked: releasesInGroups("parked") };
  const tell = warnSeldom(log, "leases could not be released; they expire by themselves");
  const unlocked = holdsInGroups("skip");
  const locked = holdsInGroups("wait");

  function releasesInGroups(to: "claimable" | "parked"): GroupCommit<LeasedDispatch, void> {
    const flush = async (given: LeasedDispatch[]): Promise<void[]> => {
      try {
        await queue.release(given, to);
      } catch (error) {
        // One that another transaction has locked for long ends by itself, and alone.
        if (isLockConflict(error)) await queue.release(given, to, "skip");
        throw error;
      }
      return given.map(() => undefined);
    };
    return new GroupCommit(flush, LIMITS, clock);
  }

  function holdsInGroups(whenLocked: "skip" | "wait"): GroupCommit<LeasedDispatch, Held> {
    return new GroupCommit((given) => holdFree(queue, given, whenLocked), LIMITS, clock);
  }

  async function holdLocked(dispatch: LeasedDispatch): Promise<void> {
    const held = await locked.add(dispatch);
    if (typeof held === "boolean") return;
    if (stopping.aborted || clock.nowMs() > dispatch.leaseEndsMs) throw held;
    return holdLocked(dispatch);
  }

  return {
    async hold(dispatch) {
      // A dispatch that was skipped is locked, or its lease was lost. Waiting for the lock finds out.
      if ((await unlocked.add(dispatch)) !== true) await holdLocked(dispatch);
      metrics.dispatchesReturned.inc({ reason: "held" });
    },
    async release(dispatches, to, reason) {
      try {
        await Promise.all(dispatches.map((dispatch) => released[to].add(dispatch)));
        metrics.dispatchesReturned.inc({ reason }, dispatches.length);
      } catch (error) {
        tell(error);
      }
    },
  };
}

async function holdFree(
  queue: Pick<DispatchQueue, "hold">,
  given: readonly LeasedDispatch[],
  whenLocked: "skip" | "wait",
): Promise<Held[]> {
  try {
    const held = await queue.hold(given, whenLocked);
    return given.map(({ id }) => held.has(id));
  } catch (error) {
    if (!(error instanceof Error && isLockConflict(error))) throw error;
    // One lock that is held for long must not keep all that waited with it.
    const free = await queue.hold(given, "skip");
    return given.map(({ id }) => (free.has(id) ? true : error));
  }
}
