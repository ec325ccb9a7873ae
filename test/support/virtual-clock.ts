/** A clock that a simulation owns: nothing passes but what it lets pass. */
import type { Clock } from "../../src/shared/clock.ts";

/** The clock of a process that may be stopped, as by SIGSTOP: what is due meanwhile happens as it goes on. */
export class PausableClock implements Clock {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];
  isPaused = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  after(ms: number, work: () => void): () => void {
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled) work();
    };
    this.#clock.after(ms, () => {
      if (this.isPaused) this.#waiting.push(run);
      else run();
    });
    return () => {
      isCancelled = true;
    };
  }

  pause(): void {
    this.isPaused = true;
  }

  goOn(): void {
    this.isPaused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  }
}

type Timer = { atMs: number; order: number; work: (() => void) | null };

export class VirtualClock implements Clock {
  #nowMs = 0;
  #order = 0;
  /** A binary heap, the earliest first. */
  readonly #timers: Timer[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, work: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + ms, order: this.#order++, work };
    this.#add(timer);
    return () => {
      timer.work = null;
    };
  }

  /** Time goes by within a turn, as on a busy machine. */
  pass(ms: number): void {
    this.#nowMs += ms;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets time pass, timer by timer; what each sets off in promises is done before the next. */
  async runUntil(endMs: number): Promise<void> {
    await settled();
    for (let timer = this.#timers[0]; timer !== undefined && timer.atMs <= endMs; timer = this.#timers[0]) {
      this.#takeFirst();
      if (timer.work === null) continue;
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      timer.work();
      await settled();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #add(timer: Timer): void {
    const heap = this.#timers;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isEarlier(above, timer)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = timer;
  }

  #takeFirst(): void {
    const heap = this.#timers;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isEarlier(right, left)) child++;
      const below = heap[child];
      if (below === undefined || isEarlier(last, below)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** Every promise that is resolved has done what follows from it. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
