import { withinLimit } from "./time-limit.ts";

/**
 * Turns at something scarce, such as connections, shared by many keys, such as
 * tenants. No key has more than its share at once, and waiting keys are
 * served in turn, so one key's hundred requests delay another's first by no
 * more than the turns that are under way.
 */
export type FairTurns<Key> = {
  /** Runs the work when it is its key's turn; answers or fails as it does. */
  run<T>(key: Key, work: () => Promise<T>): Promise<T>;
};

/** How long one waits for its turn, and the error of one that waited in vain. */
export type Patience = { ms: number; late: () => Error };

export function makeFairTurns<Key>(
  { total, share }: { total: number; share: number },
  patience?: Patience,
): FairTurns<Key> {
  // Keys with waiting requests in the order of their next turns; a key that was served goes to the end.
  const waiting = new Map<Key, (() => void)[]>();
  const running = new Map<Key, number>();
  let free = total;

  function startNext(): void {
    for (const [key, requests] of waiting) {
      if (free === 0) return;
      if ((running.get(key) ?? 0) >= share) continue;
      waiting.delete(key);
      const start = requests.shift();
      if (requests.length > 0) waiting.set(key, requests);
      free--;
      running.set(key, (running.get(key) ?? 0) + 1);
      start?.();
    }
  }

  function end(key: Key): void {
    free++;
    const left = (running.get(key) ?? 1) - 1;
    if (left === 0) running.delete(key);
    else running.set(key, left);
    startNext();
  }

  function leave(key: Key, start: () => void): void {
    const left = (waiting.get(key) ?? []).filter((other) => other !== start);
    if (left.length > 0) waiting.set(key, left);
    else waiting.delete(key);
  }

  return {
    async run(key, work) {
      const { promise: turn, resolve: start } = Promise.withResolvers<void>();
      const requests = waiting.get(key) ?? [];
      requests.push(start);
      waiting.set(key, requests);
      startNext();
      if (patience === undefined) await turn;
      else
        await withinLimit(turn, patience.ms, () => {
          // At once: a turn that came to one that waits no more would never end.
          leave(key, start);
          return patience.late();
        });
      try {
        return await work();
      } finally {
        end(key);
      }
    },
  };
}
