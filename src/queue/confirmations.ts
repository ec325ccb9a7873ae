/** What follows from the confirmations of a worker's presence, on a given clock. Pure. */

/** An attempt starts for so long after a confirmation: for less than others take to find a worker dead or silent. */
const CONFIRMED_FOR_MS = 3000;

export class Confirmations {
  #confirmedAtMs = -Infinity;
  #unbrokenSinceMs = -Infinity;
  #registered: string | null = null;
  #registeredAtMs = Infinity;

  isConfirmed(nowMs: number): boolean {
    return nowMs - this.#confirmedAtMs < CONFIRMED_FOR_MS;
  }

  /** When the confirmations began that have followed each other without a break since. */
  get unbrokenSinceMs(): number {
    return this.#unbrokenSinceMs;
  }

  /** When it asked for the first confirmation of its present registration. */
  get registeredAtMs(): number {
    return this.#registeredAtMs;
  }

  /**
   * An answer came, to what was asked at a time. False when the worker was
   * registered anew, because others had taken it for dead.
   */
  note(registered: string, { askedAtMs, nowMs }: { askedAtMs: number; nowMs: number }): boolean {
    const isSame = registered === this.#registered;
    const isFirst = this.#registered === null;
    // An answer that comes after the last one has run out continues nothing.
    if (!isSame || !this.isConfirmed(nowMs)) this.#unbrokenSinceMs = askedAtMs;
    if (!isSame) this.#registeredAtMs = askedAtMs;
    this.#registered = registered;
    this.#confirmedAtMs = askedAtMs;
    return isSame || isFirst;
  }

  /** Its session ended. */
  lose(): void {
    this.#confirmedAtMs = -Infinity;
  }
}
