/**
 * Places for what lasts, such as waiting clients, shared by many keys, such as
 * tenants. When all are taken, the key that has most gives up the one it has
 * had for longest to a key that would still have fewer. So no key finds all
 * places taken by others who have more than it wants.
 */
export class Places<Key> {
  readonly #total: number;
  readonly #ofKey: number;
  /** What tells each to leave, longest first. */
  readonly #taken = new Map<Key, Set<() => void>>();
  #count = 0;

  constructor({ total, ofKey }: { total: number; ofKey: number }) {
    this.#total = total;
    this.#ofKey = ofKey;
  }

  /**
   * Null where there is none; otherwise what gives it back, which may be done twice.
   * `leave` is called when another key needs the place, which it has from then on.
   */
  take(key: Key, leave: () => void): (() => void) | null {
    const had = this.#taken.get(key)?.size ?? 0;
    if (had >= this.#ofKey) return null;
    if (this.#count >= this.#total && !this.#free(had)) return null;
    const own = this.#taken.get(key) ?? new Set();
    // Its own object, as one function may be given for several places.
    const told = (): void => leave();
    this.#taken.set(key, own.add(told));
    this.#count++;
    return () => this.#giveBack(key, told);
  }

  /** Whether a key that has two more places than this could give one up. */
  #free(had: number): boolean {
    let largest: { key: Key; own: Set<() => void> } | null = null;
    for (const [key, own] of this.#taken)
      if (own.size > (largest?.own.size ?? had + 1)) largest = { key, own };
    const [longest] = largest?.own ?? [];
    if (largest === null || longest === undefined) return false;
    this.#giveBack(largest.key, longest);
    longest();
    return true;
  }

  #giveBack(key: Key, told: () => void): void {
    const own = this.#taken.get(key);
    if (own?.delete(told) !== true) return;
    this.#count--;
    if (own.size === 0) this.#taken.delete(key);
  }
}
