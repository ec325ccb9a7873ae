/**
 * Commits events with idempotency keys in groups, so that a key which an open
 * transaction of a producer holds makes only publishes with that very key wait.
 *
 * A group waits for a key only for a moment. Then its events are committed one
 * by one in a lane beside the groups; one whose key is still held is tried
 * again after a pause, in which it holds no connection. Until it is committed,
 * its key goes straight to that lane and delays no group.
 */
import { isLockTimeout } from "../database/passing-errors.ts";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import { sleep, systemClock, type Clock } from "../shared/clock.ts";
import { GroupCommit, type Rest } from "../shared/group-commit.ts";

/** How long a group waits for its keys: longer than concurrent requests with one key take to commit. */
const GROUP_WAIT_MS = 100;
const SINGLE_WAIT_MS = 20;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
/** A key that is held for longer is the caller's to try again. */
const PATIENCE_MS = 5000;

/** The event, or undefined where its key was used before. Throws the database's lock timeout. */
export type AcceptKeyed = (
  events: readonly NewEvent[],
  lockWaitMs: number,
) => Promise<(AcceptedEvent | undefined)[]>;

type Committed = { accepted: AcceptedEvent | undefined } | "locked";

/**
 * Under load, a commit of twice as many events costs less than two. Few callers
 * at a time never wait for it.
 */
export const PUBLISHING_REST: Rest = { ms: 2, from: 4, endsWhenBack: true };

export type KeyedCommits = { add(event: NewEvent): Promise<AcceptedEvent | undefined> };

export function makeKeyedCommits(
  accept: AcceptKeyed,
  maxItems: number,
  clock: Clock = systemClock,
): KeyedCommits {
  const heldKeys = new Map<string, number>();
  const singles = new GroupCommit(
    (events: NewEvent[]) => accept(events, SINGLE_WAIT_MS),
    {
      maxItems: 1,
      maxConcurrent: 1,
    },
    clock,
  );
  const groups = new GroupCommit(
    async (events: NewEvent[]): Promise<Committed[]> => {
      try {
        return (await accept(events, GROUP_WAIT_MS)).map((accepted) => ({ accepted }));
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        return events.map(() => "locked");
      }
    },
    { maxItems, maxConcurrent: 1, rest: PUBLISHING_REST },
    clock,
  );

  async function addAlone(event: NewEvent): Promise<AcceptedEvent | undefined> {
    const key = keyOf(event);
    let isHeld = false;
    try {
      return await untilUnlocked(() => singles.add(event), {
        met() {
          if (!isHeld) heldKeys.set(key, (heldKeys.get(key) ?? 0) + 1);
          isHeld = true;
        },
        clock,
      });
    } finally {
      const left = (heldKeys.get(key) ?? 0) - (isHeld ? 1 : 0);
      if (left > 0) heldKeys.set(key, left);
      else heldKeys.delete(key);
    }
  }

  return {
    async add(event) {
      if (heldKeys.has(keyOf(event))) return addAlone(event);
      const committed = await groups.add(event);
      return committed === "locked" ? addAlone(event) : committed.accepted;
    },
  };
}

/**
 * Does the work again, after growing pauses, while it meets a lock. `met` is
 * called each time. Throws the lock's error after {@link PATIENCE_MS}.
 */
export async function untilUnlocked<T>(
  work: (lockWaitMs: number) => Promise<T>,
  { met, clock = systemClock }: { met?: () => void; clock?: Clock } = {},
): Promise<T> {
  const endsAt = clock.nowMs() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await work(SINGLE_WAIT_MS);
    } catch (error) {
      if (!isLockTimeout(error) || clock.nowMs() > endsAt) throw error;
      met?.();
      await sleep(clock, pauseMs);
    }
  }
}

function keyOf({ tenantId, idempotencyKey }: NewEvent): string {
  return `${tenantId}/${idempotencyKey}`;
}
