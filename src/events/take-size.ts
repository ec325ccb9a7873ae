/**
 * How many events a relay takes from the outbox at once. They are accepted in one
 * statement, whose length depends on how many endpoints their tenants have, and
 * the worker claims nothing meanwhile. So a long relay is followed by a smaller
 * one, and so is one that failed: the database may have cancelled it for its length.
 */

/** As long as the look for due dispatches may be kept waiting. */
const LONG_MS = 250;
/** A database that answers late is so for every relay: with fewer events each, they would only fall behind. */
const FEW = 20;
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

  /** A relay of so many milliseconds: the next one takes what would have been short enough, up to twice as much. */
  took(ms: number): void {
    const fitting = this.#events * Math.min(2, LONG_MS / ms);
    this.#set(Math.max(fitting, Math.min(this.#events, FEW)));
  }

  failed(): void {
    this.#set(this.#events / SMALLER_AFTER_FAILURE);
  }

  #set(events: number): void {
    this.#events = Math.max(1, Math.min(this.#most, Math.round(events)));
  }
}
