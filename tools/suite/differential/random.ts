/** A seeded source of choices: the same seed makes the same inputs on every machine. */
import { fromMs, toMs } from "../../../src/storage/rules/instants.ts";

export const NOW = "2026-03-10T12:00:00.000Z";

/** Distances from now at which some rule changes its mind, and their neighbours. */
const STEPS_MS = [0, 1_000, 900_000, 7_200_000, 86_400_000, 604_800_000];

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from min to max, both included (mulberry32). */
  integer(min: number, max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const unit = ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    return min + Math.floor(unit * (max - min + 1));
  }

  /** True once in `times` on average. */
  once(times: number): boolean {
    return this.integer(1, times) === 1;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.integer(0, items.length - 1)] ?? items[0];
  }

  /** The usual value, now and then another. */
  mostly<Item>(usual: Item, ...others: readonly [Item, ...Item[]]): Item {
    return this.once(15) ? this.pick(others) : usual;
  }

  list<Item>(max: number, make: (index: number) => Item): Item[] {
    return Array.from({ length: this.integer(0, max) }, (_, index) => make(index));
  }

  /** An instant near one at which a rule turns, seldom far away. */
  instant(): string {
    if (this.once(20)) return this.pick(["2000-01-01T00:00:00.000Z", "2099-12-31T23:59:59.999Z"]);
    const [first = 0, ...rest] = STEPS_MS;
    const step = this.pick([first, ...rest]) * this.pick([-1, 1]);
    return fromMs(toMs(NOW) + step + this.pick([-1, 0, 0, 1, 499]));
  }

  /** As {@link instant}, but mostly long enough ago that things have settled. */
  past(): string {
    if (this.once(6)) return this.instant();
    return fromMs(toMs(NOW) - this.pick([900_000, 7_200_000, 86_400_000]) - this.pick([0, 0, 1, 499]));
  }

  nullable<Item>(make: () => Item): Item | null {
    return this.once(4) ? null : make();
  }
}
