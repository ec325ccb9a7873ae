/**
 * Batches outcomes: while one statement runs, the next batch gathers. Outcomes
 * of a locked endpoint, or with locked dispatches, go into a separate batch, so
 * they don't delay the rest.
 *
 * An outcome that the database refuses for good is recorded without headers and
 * bodies, since a receiver decides what is in most of them. If the database
 * refuses that too, the dispatch is deferred: the attempt is made again, after a
 * delay that grows to an hour.
 */
import { LRUCache } from "lru-cache";
import { isLockConflict, isPassing } from "../database/passing-errors.ts";
import { sleep, type Clock } from "../shared/clock.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { DeliveryId, EndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import { DEFER_MS, type CompletedAttempt, type DispatchQueue, type LeasedDispatch } from "../queue/queue.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The pause after a passing error of the database. */
const RETRY_MS = 500;
/** A refused outcome comes again within the longest delay and the time that its attempt waits for its turn. */
const REMEMBERED_MS = 2 * DEFER_MS.longest;
const MOST_REMEMBERED = 1000;
/**
 * No caller waits for an outcome, and each group is a commit that shares the
 * disk with publishers' commits: so a rest between two. It bounds how many
 * attempts a crash repeats, too, so it is no longer than that.
 */
const LIMITS = {
  maxItems: 500,
  maxConcurrent: 1,
  rest: { ms: 50, from: 1 },
  // Answers that are kept whole: a statement spells them out, at twice their size.
  weigh: {
    of: ({ toKeep }: CompletedAttempt) => toKeep?.responseBody?.length ?? 0,
    most: 2 * 1024 * 1024,
  },
};

/** Result per dispatch: `true` if recorded, an Error if it can't be. No entry if the row is locked or its lease was lost. */
type Completed = Map<DeliveryId, Recorded>;
/** `again`: another transaction holds its lock for long. */
type Recorded = true | "again" | Error;

export type Outcomes = {
  /**
   * False when the dispatch had ended meanwhile, or passed to another worker.
   * Rejects when the outcome cannot be recorded: then the attempt is made again
   * later.
   */
  record(attempt: CompletedAttempt): Promise<boolean>;
  /**
   * Ends when the outcomes that wait for a lock of the endpoint's are recorded;
   * undefined when none does. The endpoint's next attempts wait until then:
   * otherwise its outcomes would pile up until they fill the memory.
   */
  lockOf(endpointId: EndpointId): Promise<unknown> | undefined;
  /** How many dispatches are deferred because their outcome was refused. */
  refused(): number;
};

type OutcomeServices = {
  queue: Pick<DispatchQueue, "complete" | "defer">;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "outcomesRefused">;
};

type Completing = OutcomeServices & { tellThatTheyWait: ReturnType<typeof warnSeldom> };

export function makeOutcomes(services: OutcomeServices): Outcomes {
  const tellThatTheyWait = warnSeldom(services.log, "outcomes could not be recorded yet");
  const completing = { ...services, tellThatTheyWait };
  const unlocked = inGroups("skip");
  const locked = makeLocked(inGroups("wait"));

  function inGroups(whenLocked: "skip" | "wait"): GroupCommit<CompletedAttempt, Recorded | false> {
    return new GroupCommit(
      async (attempts) => {
        const completed = await completeUntilDone(completing, attempts, whenLocked);
        return attempts.map((attempt) => completed.get(attempt.dispatch.id) ?? false);
      },
      LIMITS,
      services.clock,
    );
  }

  const refused = new LRUCache<DeliveryId, true>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS });

  async function deferRefused(dispatch: LeasedDispatch): Promise<void> {
    refused.set(dispatch.id, true);
    services.metrics.outcomesRefused.inc({ handling: "deferred" });
    await services.queue.defer(dispatch).catch((error: unknown) => {
      services.log.warn({ err: error, deliveryId: dispatch.id }, "a dispatch could not be deferred");
    });
  }

  return {
    async record(attempt) {
      const tried = await unlocked.add(attempt);
      const recorded = tried === false || tried === "again" ? await locked.record(attempt) : tried;
      if (recorded instanceof Error) {
        await deferRefused(attempt.dispatch);
        throw recorded;
      }
      if (refused.size > 0) refused.delete(attempt.dispatch.id);
      return recorded;
    },
    refused() {
      refused.purgeStale();
      return refused.size;
    },
    lockOf: (endpointId) => locked.of(endpointId)?.catch(() => undefined),
  };
}

/** Those that wait for locks, by endpoint. */
function makeLocked(groups: GroupCommit<CompletedAttempt, Recorded | false>) {
  const waiting = new Map<EndpointId, Promise<boolean | Error>>();

  async function untilRecorded(attempt: CompletedAttempt): Promise<boolean | Error> {
    const recorded = await groups.add(attempt);
    return recorded === "again" ? untilRecorded(attempt) : recorded;
  }

  return {
    of: (endpointId: EndpointId) => waiting.get(endpointId),
    /** A skipped outcome's row is locked, or its lease was lost. Waiting for the lock finds out. */
    async record(attempt: CompletedAttempt): Promise<boolean | Error> {
      const { endpointId } = attempt.dispatch;
      const recording = untilRecorded(attempt);
      // Recorded in order, so the last one covers those before it.
      waiting.set(endpointId, recording);
      try {
        return await recording;
      } finally {
        if (waiting.get(endpointId) === recording) waiting.delete(endpointId);
      }
    },
  };
}

/**
 * An outage of the database loses no outcome while the leases last. A refused
 * outcome is found by halving the batch, so that the others are recorded.
 */
async function completeUntilDone(
  services: Completing,
  attempts: readonly CompletedAttempt[],
  whenLocked: "skip" | "wait",
): Promise<Completed> {
  const { queue, clock, tellThatTheyWait } = services;
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
      tellThatTheyWait(error, { attempts: attempts.length });
      await sleep(clock, RETRY_MS);
      if (whenLocked === "wait" && isLockConflict(error)) return completeUnlocked(services, attempts);
    }
  }
}

/** One lock that is held for long must not keep all that waited with it. */
async function completeUnlocked(
  services: Completing,
  attempts: readonly CompletedAttempt[],
): Promise<Completed> {
  const free = await completeUntilDone(services, attempts, "skip");
  return new Map(attempts.map(({ dispatch: { id } }) => [id, free.get(id) ?? "again"]));
}

async function completeHalves(
  services: Completing,
  attempts: readonly CompletedAttempt[],
  whenLocked: "skip" | "wait",
  error: unknown,
): Promise<Completed> {
  const [attempt] = attempts;
  if (attempt !== undefined && attempts.length === 1) {
    if (isBare(attempt)) {
      return new Map([[attempt.dispatch.id, new Error("an outcome cannot be recorded", { cause: error })]]);
    }
    const completed = await completeUntilDone(services, [bare(attempt)], whenLocked);
    if (completed.get(attempt.dispatch.id) === true) {
      const { tenantId, endpointId, id: deliveryId } = attempt.dispatch;
      services.metrics.outcomesRefused.inc({ handling: "recorded_bare" });
      services.log.error(
        { err: error, tenantId, endpointId, deliveryId },
        "the database refused an outcome, which is logged without its headers and body, and nothing of it is kept",
      );
    }
    return completed;
  }
  const middle = Math.floor(attempts.length / 2);
  const first = await completeUntilDone(services, attempts.slice(0, middle), whenLocked);
  const second = await completeUntilDone(services, attempts.slice(middle), whenLocked);
  return new Map([...first, ...second]);
}

function bare(attempt: CompletedAttempt): CompletedAttempt {
  return { ...attempt, requestHeaders: {}, responseHeaders: null, responseBody: null, toKeep: null };
}

function isBare({ requestHeaders, responseHeaders, responseBody, toKeep }: CompletedAttempt): boolean {
  const hasHeaders = Object.keys(requestHeaders).length > 0 || responseHeaders !== null;
  return !hasHeaders && responseBody === null && toKeep === null;
}
