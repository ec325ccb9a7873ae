/**
 * How many events a relay takes from the outbox at once. They are accepted in one
 * statement, whose length depends on how many endpoints their tenants have, and
 * the worker claims nothing meanwhile. So a long relay is followed by a smaller
 * one, and so is one that failed: the database may have cancelled it for its length.
 */

/** As long as the look for due dispatches may be kept waiting. */
const LONG_MS = 250;
const SMALLER_AFTER_FAILURE = 8;

export class TakeSize {
  readonly #most: number;
  #events: number;

  constructor(most: number) {
    this.#most = most;
    this.#events = most;
  }

  get events(): number {
    return this.#events;
  }

  /** A relay of so many milliseconds. One of half the time or less may be followed by one twice as large. */
  took(ms: number): void {
    if (ms > LONG_MS) this.#set((this.#events * LONG_MS) / ms);
    else if (ms <= LONG_MS / 2) this.#set(this.#events * 2);
  }

  failed(): void {
    this.#set(this.#events / SMALLER_AFTER_FAILURE);
  }

  #set(events: number): void {
    this.#events = Math.max(1, Math.min(this.#most, Math.floor(events)));
  }
}
