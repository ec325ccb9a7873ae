/**
 * Records outcomes in groups: while one statement runs, the next group gathers.
 * What somebody else has locked, an endpoint that is being changed or its
 * dispatches, waits in a second lane, so that nobody else's outcomes wait with it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isConnectionLoss, isOutOfTime } from "../database/pool.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { DeliveryId, EndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import type { CompletedAttempt, DispatchQueue } from "./queue.ts";

/** After a failure, the database gets a moment. */
const RETRY_MS = 500;
/**
 * Nobody waits for an outcome, and each group is a commit that publishers'
 * commits have to share the disk with: so a few milliseconds of rest between two.
 */
const LIMITS = { maxItems: 500, maxConcurrent: 1, restMs: 5 };

export type Outcomes = {
  /** False when the dispatch had ended meanwhile, or passed to another worker. */
  record(attempt: CompletedAttempt): Promise<boolean>;
  /**
   * Ends when what waits for a lock of the endpoint's is recorded; undefined
   * when nothing does. Whoever makes attempts for it waits until then: its
   * outcomes would pile up, until there is room for nobody's.
   */
  lockOf(endpointId: EndpointId): Promise<unknown> | undefined;
};

export function makeOutcomes({ queue, log }: { queue: Pick<DispatchQueue, "complete">; log: Log }): Outcomes {
  const unlocked = lane("skip");
  const locked = lane("wait");

  function lane(whenLocked: "skip" | "wait"): GroupCommit<CompletedAttempt, boolean> {
    return new GroupCommit(async (attempts) => {
      const completed = await completeUntilDone(attempts, whenLocked);
      return attempts.map((attempt) => completed.has(attempt.dispatch.id));
    }, LIMITS);
  }

  /**
   * A database that is away for a while costs no outcome: the leases are this
   * process's until they end. An outcome that it will not take is found by
   * halves, so that it costs none of the others.
   */
  async function completeUntilDone(
    attempts: readonly CompletedAttempt[],
    whenLocked: "skip" | "wait",
  ): Promise<Set<DeliveryId>> {
    const lastLeaseEndsMs = Math.max(...attempts.map((attempt) => attempt.dispatch.leaseEndsMs));
    for (;;) {
      try {
        return await queue.complete(attempts, whenLocked);
      } catch (error) {
        if (performance.now() > lastLeaseEndsMs) throw error;
        if (!isConnectionLoss(error) && !isOutOfTime(error)) {
          return completeHalves(attempts, whenLocked, error);
        }
        log.warn({ err: error, attempts: attempts.length }, "outcomes could not be recorded yet");
        await delay(RETRY_MS);
      }
    }
  }

  async function completeHalves(
    attempts: readonly CompletedAttempt[],
    whenLocked: "skip" | "wait",
    error: unknown,
  ): Promise<Set<DeliveryId>> {
    const [attempt] = attempts;
    if (attempt !== undefined && attempts.length === 1) {
      const { tenantId, endpointId, id } = attempt.dispatch;
      log.error(
        { err: error, tenantId, endpointId, deliveryId: id },
        "the outcome cannot be recorded; the attempt is due again when its lease ends",
      );
      return new Set();
    }
    const middle = Math.floor(attempts.length / 2);
    const first = await completeUntilDone(attempts.slice(0, middle), whenLocked);
    return first.union(await completeUntilDone(attempts.slice(middle), whenLocked));
  }

  const waiting = new Map<EndpointId, Promise<boolean>>();

  /** What is left over is locked, or not this worker's any more: to wait tells which. */
  async function recordLocked(attempt: CompletedAttempt): Promise<boolean> {
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
    record: async (attempt) => (await unlocked.add(attempt)) || recordLocked(attempt),
    lockOf: (endpointId) => waiting.get(endpointId)?.catch(() => undefined),
  };
}
