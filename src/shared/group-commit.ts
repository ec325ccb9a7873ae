import { systemClock, type Clock } from "./clock.ts";

type Entry<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/**
 * Gathers what callers ask for one by one and flushes it in groups: while one
 * flush runs, the next group gathers, so the group grows with the load and an
 * idle service adds no waiting.
 */
export class GroupCommit<Item, Result> {
  readonly #flush: (items: Item[]) => Promise<Result[]>;
  readonly #maxItems: number;
  readonly #maxConcurrent: number;
  readonly #restMs: number;
  readonly #weigh: { of: (item: Item) => number; most: number } | null;
  readonly #clock: Clock;
  #waiting: Entry<Item, Result>[] = [];
  #flushing = 0;

  /**
   * `flush` answers one result for each item, in their order; when it throws,
   * every item of the group fails. With `weigh` a
   * group weighs so much at most, or is one item. With `restMs` the next flush waits so long
   * after one has ended: fewer and larger groups, where nobody waits for them.
   */
  constructor(
    flush: (items: Item[]) => Promise<Result[]>,
    limits: {
      maxItems: number;
      maxConcurrent: number;
      restMs?: number;
      weigh?: { of: (item: Item) => number; most: number };
    },
    clock: Clock = systemClock,
  ) {
    this.#clock = clock;
    this.#flush = flush;
    this.#maxItems = limits.maxItems;
    this.#maxConcurrent = limits.maxConcurrent;
    this.#restMs = limits.restMs ?? 0;
    this.#weigh = limits.weigh ?? null;
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    // Not at once: requests that arrive in the same turn of the event loop share the first group.
    if (this.#waiting.length === 1) this.#clock.after(0, () => this.#start());
    return promise;
  }

  #start(): void {
    while (this.#flushing < this.#maxConcurrent && this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#nextSize());
      this.#flushing++;
      void this.#run(group);
    }
  }

  /** How many of those that wait make up the next group. */
  #nextSize(): number {
    if (this.#weigh === null) return this.#maxItems;
    let weight = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      weight += this.#weigh.of(item);
      if (count === this.#maxItems || (count > 0 && weight > this.#weigh.most)) break;
      count++;
    }
    return count;
  }

  async #run(group: Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#flush(group.map((entry) => entry.item));
      if (results.length !== group.length) throw new Error("a flush must answer one result for each item");
      for (const [index, result] of results.entries()) group[index]?.resolve(result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
    const goOn = (): void => {
      this.#flushing--;
      this.#start();
    };
    if (this.#restMs > 0) this.#clock.after(this.#restMs, goOn);
    else goOn();
  }
}
