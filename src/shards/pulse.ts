/**
 * Whether a shard answers. While it does not, its tenants' callers are refused at
 * once, also if they already wait, so no caller waits out a PostgreSQL timeout.
 */
import { makeRepeated, type Background } from "../shared/every.ts";
import { Refusal } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";

const LOOK_EVERY_MS = 1000;
/** Far above what a busy database takes, or a busy process to hear it. */
const LIMIT_MS = 3000;
/** One look in vain may be the doing of this process. */
const LOOKS_IN_VAIN = 2;
const RETRY_AFTER_S = 2;

export type Pulse = Background & {
  isAway(): boolean;
  /** Does the work; refuses with `unavailable` once the shard does not answer. */
  guard<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * @param ask resolves if the shard answers.
 * @param joined of a shard that was not there at the start: it is away until it
 * is known to be the one that SHARDS means, whoever answers.
 */
export function makePulse(
  ask: () => Promise<unknown>,
  tell: (isAway: boolean) => void,
  joined?: Promise<void>,
): Pulse {
  let isJoined = joined === undefined;
  void joined?.then(() => (isJoined = true));
  let inVain = 0;
  const waiting = new Set<(refusal: Refusal) => void>();

  async function look(): Promise<void> {
    await withinLimit(ask(), LIMIT_MS, () => new Error("no answer"));
    if (inVain >= LOOKS_IN_VAIN) tell(false);
    inVain = 0;
  }

  function failed(): void {
    inVain++;
    if (inVain === LOOKS_IN_VAIN) tell(true);
    if (isAway()) for (const refuse of waiting) refuse(unavailable());
  }

  function isAway(): boolean {
    return !isJoined || inVain >= LOOKS_IN_VAIN;
  }

  return {
    ...makeRepeated(LOOK_EVERY_MS, look, failed),
    isAway,
    async guard(work) {
      if (isAway()) throw unavailable();
      const refused = Promise.withResolvers<never>();
      waiting.add(refused.reject);
      try {
        return await Promise.race([work(), refused.promise]);
      } finally {
        waiting.delete(refused.reject);
      }
    },
  };
}

function unavailable(): Refusal {
  return new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S });
}
