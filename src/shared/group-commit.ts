import { systemClock, type Clock } from "./clock.ts";

type Entry<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/**
 * A pause of `ms` after a flush of `from` items or more. Callers who send their
 * next item once they have the answer then come into one group, instead of two
 * that take turns: half as many flushes, each of which has a cost of its own.
 */
export type Rest = {
  ms: number;
  from: number;
  /** Ends once as many wait as were answered: all senders that could return have. */
  endsWhenBack?: true;
};
const NO_REST: Rest = { ms: 0, from: 1 };

/** How much a group may have. With `weigh` it weighs `most` at most, or is one item. */
export type GroupSize<Item> = {
  maxItems: number;
  weigh?: { of: (item: Item) => number; most: number };
};

/** How many of the items, from the first on, make up a group at most. */
export function countFitting<Item>(items: Iterable<Item>, { maxItems, weigh }: GroupSize<Item>): number {
  if (weigh === undefined) return maxItems;
  let weight = 0;
  let count = 0;
  for (const item of items) {
    weight += weigh.of(item);
    if (count === maxItems || (count > 0 && weight > weigh.most)) break;
    count++;
  }
  return count;
}

/**
 * Gathers what callers ask for one by one and flushes it in groups: while one
 * flush runs, the next group gathers, so the group grows with the load and an
 * idle service adds no waiting.
 */
export class GroupCommit<Item, Result> {
  readonly #flush: (items: Item[]) => Promise<Result[]>;
  readonly #size: GroupSize<Item>;
  readonly #maxConcurrent: number;
  readonly #rest: Rest;
  readonly #clock: Clock;
  #waiting: Entry<Item, Result>[] = [];
  #flushing = 0;
  /** With `endsWhenBack`, the last one: to end it again changes nothing. */
  #resting: { until: number; end: () => void } | null = null;

  /**
   * `flush` answers one result for each item, in their order; when it throws,
   * every item of the group fails. See {@link Rest}.
   */
  constructor(
    flush: (items: Item[]) => Promise<Result[]>,
    limits: GroupSize<Item> & { maxConcurrent: number; rest?: Rest },
    clock: Clock = systemClock,
  ) {
    this.#clock = clock;
    this.#flush = flush;
    this.#size = limits;
    this.#maxConcurrent = limits.maxConcurrent;
    this.#rest = limits.rest ?? NO_REST;
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    // Not at once: requests that arrive in the same turn of the event loop share the first group.
    if (this.#waiting.length === 1) this.#clock.after(0, () => this.#start());
    if (this.#resting !== null && this.#waiting.length >= this.#resting.until) this.#resting.end();
    return promise;
  }

  #start(): void {
    while (this.#flushing < this.#maxConcurrent && this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#nextSize());
      this.#flushing++;
      void this.#run(group);
    }
  }

  /** How many waiting items make up the next group. */
  #nextSize(): number {
    return countFitting(
      this.#waiting.values().map(({ item }) => item),
      this.#size,
    );
  }

  async #run(group: Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#flush(group.map((entry) => entry.item));
      if (results.length !== group.length) throw new Error("a flush must answer one result for each item");
      for (const [index, result] of results.entries()) group[index]?.resolve(result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
    if (this.#rest.ms > 0 && group.length >= this.#rest.from) await this.#takeRest(group.length);
    this.#flushing--;
    this.#start();
  }

  #takeRest(answered: number): Promise<void> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    if (this.#rest.endsWhenBack === true) this.#resting = { until: this.#waiting.length + answered, end };
    this.#clock.after(this.#rest.ms, end);
    return promise;
  }
}
