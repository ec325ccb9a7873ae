/**
 * Records outcomes in groups: while one statement runs, the next group gathers.
 * What somebody else has locked, an endpoint that is being changed or its
 * dispatches, waits in groups of its own, so that nobody else's outcomes wait with it.
 */
import { isPassing } from "../database/passing-errors.ts";
import { sleep, type Clock } from "../shared/clock.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { DeliveryId, EndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import type { CompletedAttempt, DispatchQueue } from "../queue/queue.ts";

/** After a failure, the database gets a moment. */
const RETRY_MS = 500;
/**
 * Nobody waits for an outcome, and each group is a commit that publishers'
 * commits have to share the disk with: so a few milliseconds of rest between two.
 */
const LIMITS = { maxItems: 500, maxConcurrent: 1, restMs: 15 };

/** By dispatch: recorded, or why it cannot be; none for what is locked, or not this worker's any more. */
type Completed = Map<DeliveryId, true | Error>;

export type Outcomes = {
  /**
   * False when the dispatch had ended meanwhile, or passed to another worker.
   * Rejects when the outcome cannot be recorded: then the attempt is due again
   * when its lease ends.
   */
  record(attempt: CompletedAttempt): Promise<boolean>;
  /**
   * Ends when what waits for a lock of the endpoint's is recorded; undefined
   * when nothing does. Whoever makes attempts for it waits until then: its
   * outcomes would pile up, until there is room for nobody's.
   */
  lockOf(endpointId: EndpointId): Promise<unknown> | undefined;
};

type OutcomeServices = { queue: Pick<DispatchQueue, "complete">; clock: Clock; log: Log };

export function makeOutcomes(services: OutcomeServices): Outcomes {
  const unlocked = inGroups("skip");
  const locked = inGroups("wait");

  function inGroups(whenLocked: "skip" | "wait"): GroupCommit<CompletedAttempt, boolean | Error> {
    return new GroupCommit(
      async (attempts) => {
        const completed = await completeUntilDone(services, attempts, whenLocked);
        return attempts.map((attempt) => completed.get(attempt.dispatch.id) ?? false);
      },
      LIMITS,
      services.clock,
    );
  }

  const waiting = new Map<EndpointId, Promise<boolean | Error>>();

  /** What is left over is locked, or not this worker's any more: to wait tells which. */
  async function recordLocked(attempt: CompletedAttempt): Promise<boolean | Error> {
    const { endpointId } = attempt.dispatch;
    const recording = locked.add(attempt);
    // Recorded in the order in which they come, so the last stands for those before it.
    waiting.set(endpointId, recording);
    try {
      return await recording;
    } finally {
      if (waiting.get(endpointId) === recording) waiting.delete(endpointId);
    }
  }

  return {
    async record(attempt) {
      const recorded = (await unlocked.add(attempt)) || (await recordLocked(attempt));
      if (recorded instanceof Error) throw recorded;
      return recorded;
    },
    lockOf: (endpointId) => waiting.get(endpointId)?.catch(() => undefined),
  };
}

/**
 * A database that is away for a while costs no outcome: the leases are this
 * process's until they end. An outcome that it will not take is found by
 * halves, so that it costs none of the others.
 */
async function completeUntilDone(
  services: OutcomeServices,
  attempts: readonly CompletedAttempt[],
  whenLocked: "skip" | "wait",
): Promise<Completed> {
  const { queue, clock, log } = services;
  const lastLeaseEndsMs = Math.max(...attempts.map((attempt) => attempt.dispatch.leaseEndsMs));
  for (;;) {
    try {
      const recorded = await queue.complete(attempts, whenLocked);
      return new Map(Array.from(recorded, (id) => [id, true]));
    } catch (error) {
      if (clock.nowMs() > lastLeaseEndsMs) throw error;
      if (!isPassing(error)) {
        return completeHalves(services, attempts, whenLocked, error);
      }
      log.warn({ err: error, attempts: attempts.length }, "outcomes could not be recorded yet");
      await sleep(clock, RETRY_MS);
    }
  }
}

async function completeHalves(
  services: OutcomeServices,
  attempts: readonly CompletedAttempt[],
  whenLocked: "skip" | "wait",
  error: unknown,
): Promise<Completed> {
  const [attempt] = attempts;
  if (attempt !== undefined && attempts.length === 1) {
    return new Map([[attempt.dispatch.id, new Error("an outcome cannot be recorded", { cause: error })]]);
  }
  const middle = Math.floor(attempts.length / 2);
  const first = await completeUntilDone(services, attempts.slice(0, middle), whenLocked);
  const second = await completeUntilDone(services, attempts.slice(middle), whenLocked);
  return new Map([...first, ...second]);
}
