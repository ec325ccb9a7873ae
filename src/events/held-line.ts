/**
 * One tenant's events beside the groups, because of idempotency keys that open
 * transactions hold. Pure: the time is an argument.
 *
 * Three kinds take turns, so that none waits for much of another: events that
 * were not tried yet, parts of groups that met a key, and keys that are held.
 */
import type { NewEvent } from "../queue/queue.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** Until a key that is held is tried again, from the pause before; null for the first. */
export function pauseAfter(pauseMs: number | null): number {
  return pauseMs === null ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
}

export type Waiting = {
  event: NewEvent;
  /** Until then it is tried again. */
  endsAtMs: number;
  reject: (error: unknown) => void;
};

/** Events that wait for one key. While they are tried, it has only those that came since. */
type HeldKey<Entry> = { entries: Entry[]; pauseMs: number; isResting: boolean; refusal: unknown };

export class HeldLine<Entry extends Waiting> {
  #fresh: Entry[] = [];
  readonly #parts: Entry[][] = [];
  readonly #held = new Map<string | null, HeldKey<Entry>>();
  readonly #due: (string | null)[] = [];
  /** Of the kinds, the one whose turn it is. */
  #turn = 0;

  get isEmpty(): boolean {
    return this.#fresh.length === 0 && this.#parts.length === 0 && this.#held.size === 0;
  }

  add(entry: Entry): void {
    (this.#held.get(entry.event.idempotencyKey)?.entries ?? this.#fresh).push(entry);
  }

  /** Of a group that met a key; it may be one of these. */
  addPart(part: Entry[]): void {
    this.#parts.push(part);
  }

  /** Events of a key that is held. After how many milliseconds to {@link wake} it; null where that is known. */
  hold(entries: Entry[], refusal: unknown): number | null {
    const key = keyOf(entries);
    const known = this.#held.get(key);
    if (known?.isResting === true) {
      known.entries.push(...entries);
      return null;
    }
    const pauseMs = pauseAfter(known?.pauseMs ?? null);
    const together = [...entries, ...(known?.entries ?? [])];
    this.#held.set(key, { entries: together, pauseMs, isResting: true, refusal });
    return pauseMs;
  }

  /** The pause of a key is over. */
  wake(key: string | null): void {
    this.#due.push(key);
  }

  /** What was taken is accepted, or refused for good. */
  finish(group: readonly Entry[]): void {
    for (const { event } of group) {
      const known = this.#held.get(event.idempotencyKey);
      if (known === undefined || known.isResting) continue;
      this.#held.delete(event.idempotencyKey);
      this.#fresh.push(...known.entries);
    }
  }

  /** What to try next; null while all rest. `countFitting`: how many of the events, from the first on, may be tried at once. */
  take(
    countFitting: (entries: readonly Entry[]) => number,
    nowMs: number,
  ): { group: Entry[]; isFresh: boolean } | null {
    const kinds = [
      () => this.#takeFresh(countFitting),
      () => this.#takeLargestPart(),
      () => this.#takeDue(nowMs),
    ];
    for (let n = 0; n < kinds.length; n++) {
      const isFresh = this.#turn === 0;
      const group = kinds[this.#turn]?.() ?? null;
      this.#turn = (this.#turn + 1) % kinds.length;
      if (group !== null) return { group, isFresh };
    }
    return null;
  }

  #takeFresh(countFitting: (entries: readonly Entry[]) => number): Entry[] | null {
    return this.#fresh.length === 0 ? null : this.#fresh.splice(0, countFitting(this.#fresh));
  }

  /** The largest has most that need not wait. */
  #takeLargestPart(): Entry[] | null {
    const largest = this.#parts.reduce((most, { length }) => Math.max(most, length), 0);
    const place = this.#parts.findIndex(({ length }) => length === largest);
    return this.#parts.splice(place, 1)[0] ?? null;
  }

  #takeDue(nowMs: number): Entry[] | null {
    for (let key = this.#due.shift(); key !== undefined; key = this.#due.shift()) {
      const known = this.#held.get(key);
      if (known === undefined) continue;
      const { late = [], entries = [] } = Object.groupBy(known.entries, ({ endsAtMs }) =>
        endsAtMs < nowMs ? "late" : "entries",
      );
      for (const { reject } of late) reject(known.refusal);
      if (entries.length === 0) {
        this.#held.delete(key);
        continue;
      }
      known.entries = [];
      known.isResting = false;
      return entries;
    }
    return null;
  }
}

function keyOf([first]: readonly Waiting[]): string | null {
  return first?.event.idempotencyKey ?? null;
}
