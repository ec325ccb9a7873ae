/** A seeded source of choices: the same seed makes the same inputs on every machine. */
import { fromMs, LAST_INSTANT_MS, toMs } from "../../../src/storage/rules/instants.ts";

const USUAL_NOW = "2026-03-10T12:00:00.000Z";
const FIRST_INSTANT_MS = Date.UTC(2000, 0, 1);
/** Around 2^31 seconds, leap days, and both ends of what an instant may be. */
const RARE_NOWS = [
  "2038-01-19T03:14:07.999Z",
  "2038-01-19T03:14:08.000Z",
  "2041-07-01T00:00:00.000Z",
  "2069-12-31T23:59:59.999Z",
  "2028-02-29T12:00:00.000Z",
  "2000-01-08T00:00:00.000Z",
  "2099-12-30T00:00:00.000Z",
] as const;

/** Scalar values of all planes: letters, marks, surrogates' neighbours, private use, beyond 16 bits. */
const PLANES: readonly [readonly [number, number], ...(readonly [number, number])[]] = [
  [0x20, 0x7e],
  [0x00, 0x1f],
  [0x80, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x1fff],
  [0x2000, 0x206f],
  [0x2100, 0xd7ff],
  [0xe000, 0xfffd],
  [0x10000, 0x1ffff],
  [0x20000, 0x10ffff],
];

/** Distances from now at which some rule changes its mind, and their neighbours. */
const STEPS_MS = [0, 1_000, 900_000, 7_200_000, 86_400_000, 604_800_000];

export class Random {
  #state: number;
  #now = USUAL_NOW;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The time of the question that is made. */
  get now(): string {
    return this.#now;
  }

  /** Chooses the time of the next question. */
  begin(): void {
    this.#now = this.once(4) ? this.pick(RARE_NOWS) : USUAL_NOW;
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

  /** How many: mostly few, at times dozens, seldom hundreds. */
  size(few: number, hundreds: number): number {
    if (this.once(40)) return this.integer(Math.min(64, hundreds), hundreds);
    if (this.once(20)) return this.integer(Math.min(100, hundreds), Math.min(170, hundreds));
    return this.once(8) ? this.integer(few, 40) : this.integer(0, few);
  }

  /** Text of one to four characters from anywhere in Unicode. */
  unicode(): string {
    return Array.from({ length: this.integer(1, 4) }, () => {
      const [first, last] = this.pick(PLANES);
      return String.fromCodePoint(this.integer(first, last));
    }).join("");
  }

  /** An instant near one at which a rule turns, seldom far away. */
  instant(): string {
    if (this.once(20)) return this.pick(["2000-01-01T00:00:00.000Z", "2099-12-31T23:59:59.999Z"]);
    const [first = 0, ...rest] = STEPS_MS;
    const step = this.pick([first, ...rest]) * this.pick([-1, 1]);
    return this.#near(step + this.pick([-1, 0, 0, 1, 499]));
  }

  /** As {@link instant}, but mostly long enough ago that things have settled. */
  past(): string {
    if (this.once(6)) return this.instant();
    return this.#near(-this.pick([900_000, 7_200_000, 86_400_000]) - this.pick([0, 0, 1, 499]));
  }

  /** A day ago, by when everything has settled. */
  longAgo(): string {
    return this.#near(-86_400_000);
  }

  #near(distanceMs: number): string {
    const ms = toMs(this.#now) + distanceMs;
    return fromMs(Math.min(Math.max(ms, FIRST_INSTANT_MS), LAST_INSTANT_MS));
  }

  nullable<Item>(make: () => Item): Item | null {
    return this.once(4) ? null : make();
  }
}
