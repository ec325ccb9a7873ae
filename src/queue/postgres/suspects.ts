import type { UnheldWorker } from "./presence-store.ts";

/** An observer that has not looked for this long may have missed a worker's return. */
const LONGEST_GAP_MS = 3000;

/**
 * Workers without a lock and without a sign of life, and since when. An outage
 * of the database leaves every worker like that. So a worker counts as dead only
 * when one observer saw it in that state all the time.
 */
export class Suspects {
  readonly #deadAfterMs: number;
  #since = new Map<string, { seenAt: string; atMs: number }>();
  #lookedAtMs = -Infinity;

  constructor(deadAfterMs: number) {
    this.#deadAfterMs = deadAfterMs;
  }

  /** Notes the workers found at a time; returns the ids of workers that were silent for long enough. */
  note(unheld: readonly UnheldWorker[], nowMs: number): string[] {
    if (nowMs - this.#lookedAtMs > LONGEST_GAP_MS) this.forget();
    this.#lookedAtMs = nowMs;
    const earlier = this.#since;
    this.#since = new Map();
    for (const { firstLeaseId, seenAt, isDead } of unheld) {
      if (isDead) continue;
      const known = earlier.get(firstLeaseId);
      const atMs = known?.seenAt === seenAt ? known.atMs : nowMs;
      this.#since.set(firstLeaseId, { seenAt, atMs });
    }
    return [...this.#since].filter(([, { atMs }]) => nowMs - atMs >= this.#deadAfterMs).map(([id]) => id);
  }

  forget(): void {
    this.#since.clear();
  }
}
