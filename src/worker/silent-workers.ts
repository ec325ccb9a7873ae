/**
 * Which workers have been silent for longer than a confirmation of their
 * presence lasts, as one observer saw it: then they start no attempt. Pure.
 */
import type { SlotWorker } from "../queue/slots.ts";

/** Longer than a worker starts attempts after its last confirmation. */
const SILENT_AFTER_MS = 4000;

/** The observer's clock before it asked and after it had the answer: what it read was true in between. */
export type Moment = { askedAtMs: number; answeredAtMs: number };

export class SilentWorkers {
  #since = new Map<string, { seenAt: string; atMs: number }>();

  /** Notes the workers as they were read; returns the ids of silent ones. */
  note(workers: readonly SlotWorker[], { askedAtMs, answeredAtMs }: Moment): Set<string> {
    const earlier = this.#since;
    this.#since = new Map();
    const silent = new Set<string>();
    for (const { id, seenAt, isGone } of workers) {
      const known = earlier.get(id);
      const atMs = known?.seenAt === seenAt ? known.atMs : answeredAtMs;
      this.#since.set(id, { seenAt, atMs });
      if (isGone || askedAtMs - atMs >= SILENT_AFTER_MS) silent.add(id);
    }
    return silent;
  }

  /** What the observer saw before does not count: its own view may have had a break. */
  forget(): void {
    this.#since.clear();
  }
}
