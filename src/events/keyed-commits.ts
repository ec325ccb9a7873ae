/**
 * Commits events with idempotency keys in groups, so that a key which an open
 * transaction of a producer holds makes only publishes with that very key wait:
 * a group waits for a key only for a moment.
 */
import { isLockTimeout } from "../database/passing-errors.ts";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import { sleep, systemClock, type Clock } from "../shared/clock.ts";
import { GroupCommit, type GroupSize, type Rest } from "../shared/group-commit.ts";
import { HeldKeys, LOCK_WAIT_MS, PATIENCE_MS, type AcceptKeyed } from "./held-keys.ts";
import { pauseAfter } from "./held-line.ts";

/** How long a group waits for its keys: longer than concurrent requests with one key take to commit. */
const GROUP_WAIT_MS = 100;

/** A promise is of an event whose group met a key that is held. */
type Committed = { accepted: AcceptedEvent | undefined | Promise<AcceptedEvent | undefined> };

/**
 * Under load, a commit of twice as many events costs less than two. Few callers
 * at a time never wait for it.
 */
export const PUBLISHING_REST: Rest = { ms: 2, from: 4, endsWhenBack: true };

export type KeyedCommits = { add(event: NewEvent): Promise<AcceptedEvent | undefined> };

export function makeKeyedCommits(
  accept: AcceptKeyed,
  size: GroupSize<NewEvent>,
  clock: Clock = systemClock,
): KeyedCommits {
  const held = new HeldKeys(accept, size, clock);
  const groups = new GroupCommit(
    async (events: NewEvent[]): Promise<Committed[]> => {
      try {
        return (await accept(events, GROUP_WAIT_MS)).map((accepted) => ({ accepted }));
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        return held.addGroup(events).map((accepted) => ({ accepted }));
      }
    },
    { ...size, maxConcurrent: 1, rest: PUBLISHING_REST },
    clock,
  );
  return {
    add: async (event) =>
      held.concerns(event.tenantId) ? held.add(event) : (await groups.add(event)).accepted,
  };
}

/** Does the work again, after growing pauses, while it meets a lock. Throws the lock's error after {@link PATIENCE_MS}. */
export async function untilUnlocked<T>(
  work: (lockWaitMs: number) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const endsAt = clock.nowMs() + PATIENCE_MS;
  for (let pauseMs = pauseAfter(null); ; pauseMs = pauseAfter(pauseMs)) {
    try {
      return await work(LOCK_WAIT_MS);
    } catch (error) {
      if (!isLockTimeout(error) || clock.nowMs() > endsAt) throw error;
      await sleep(clock, pauseMs);
    }
  }
}
