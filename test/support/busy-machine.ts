/** A simulated machine whose cores others use too: time goes by within a turn, and what is read takes its time. */
import type { SendTarget } from "../../src/endpoints/send-target.ts";
import type { DispatchQueue } from "../../src/queue/queue.ts";
import type { EndpointId, EndpointKey } from "../../src/shared/id.ts";
import type { TargetCache } from "../../src/worker/target-cache.ts";
import { PausableClock, type VirtualClock } from "./virtual-clock.ts";

const FRESH_MS = 500;
const LONGEST_READ_MS = 400;
const LONGEST_LOCK_MS = 1500;
/** For so long others have the core. */
export const PAUSE_MS = 40;

/** Of a process that is taken off its core now and then: whoever reads it finds it later than the turn began. */
export class BusyClock extends PausableClock {
  readonly #time: VirtualClock;
  readonly #random: () => number;

  constructor(time: VirtualClock, random: () => number) {
    super(time);
    this.#time = time;
    this.#random = random;
  }

  override nowMs(): number {
    const chance = this.#random();
    if (chance < 0.002) this.#time.pass(PAUSE_MS);
    else if (chance < 0.05) this.#time.pass(1);
    return super.nowMs();
  }
}

/** As a worker's own cache, with reads on a simulated clock. */
export class SlowTargets implements TargetCache {
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  readonly #read: (endpointId: EndpointId) => SendTarget;
  readonly #known = new Map<EndpointId, { target: SendTarget; untilMs: number }>();
  readonly #loading = new Map<EndpointId, Promise<SendTarget>>();

  constructor(clock: VirtualClock, random: () => number, read: (endpointId: EndpointId) => SendTarget) {
    this.#clock = clock;
    this.#random = random;
    this.#read = read;
  }

  fresh({ endpointId }: EndpointKey): SendTarget | undefined {
    const entry = this.#known.get(endpointId);
    return entry !== undefined && entry.untilMs > this.#clock.nowMs() ? entry.target : undefined;
  }

  async get(key: EndpointKey): Promise<SendTarget> {
    return this.fresh(key) ?? (await this.#loadOnce(key.endpointId));
  }

  forget({ endpointId }: EndpointKey): void {
    this.#known.delete(endpointId);
  }

  #loadOnce(endpointId: EndpointId): Promise<SendTarget> {
    const loading = this.#loading.get(endpointId) ?? this.#load(endpointId);
    this.#loading.set(endpointId, loading);
    return loading;
  }

  async #load(endpointId: EndpointId): Promise<SendTarget> {
    await this.#clock.wait(1 + this.#random() * LONGEST_READ_MS);
    const target = this.#read(endpointId);
    this.#known.set(endpointId, { target, untilMs: this.#clock.nowMs() + FRESH_MS });
    this.#loading.delete(endpointId);
    return target;
  }
}

/** Endpoints whose rows somebody locks now and then, as who changes them: their outcomes wait for that. */
export function withLocks(queue: DispatchQueue, clock: VirtualClock, random: () => number): DispatchQueue {
  const freeAtMs = new Map<EndpointId, number>();
  const isLocked = (endpointId: EndpointId): boolean => (freeAtMs.get(endpointId) ?? 0) > clock.nowMs();
  return {
    ...queue,
    async complete(attempts, whenLocked) {
      const endpoints = new Set(attempts.map(({ dispatch }) => dispatch.endpointId));
      for (const endpointId of endpoints) {
        if (whenLocked === "wait")
          await clock.wait(Math.max(0, (freeAtMs.get(endpointId) ?? 0) - clock.nowMs()));
        else if (random() < 0.05) freeAtMs.set(endpointId, clock.nowMs() + random() * LONGEST_LOCK_MS);
      }
      const free = attempts.filter(({ dispatch }) => whenLocked === "wait" || !isLocked(dispatch.endpointId));
      return queue.complete(free, whenLocked);
    },
  };
}
