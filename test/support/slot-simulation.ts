/**
 * Workers that share slots, on a clock of the simulation's own: the real keepers
 * and plans, and the table in memory. Workers start, stop, are killed, stand
 * still and lose their sessions, and statements take long, as chance decides
 * from one seed.
 */
import assert from "node:assert/strict";
import { pino } from "pino";
import { SLOT_COUNT } from "../../src/queue/slots.ts";
import { sleep } from "../../src/shared/clock.ts";
import { SlotKeeper } from "../../src/worker/slot-keeper.ts";
import { MemorySlots } from "./memory-slots.ts";
import { SimulatedPresence } from "./simulated-presence.ts";
import { PausableClock, VirtualClock } from "./virtual-clock.ts";

const CHECK_EVERY_MS = 20;

export class SimulatedWorker {
  readonly id: string;
  readonly clock: PausableClock;
  readonly keeper: SlotKeeper;
  readonly #slots: MemorySlots;
  readonly presence: SimulatedPresence;
  readonly #heard = (): void => {
    this.clock.after(0, () => this.keeper.look());
  };
  isOver = false;

  constructor(id: string, slots: MemorySlots, clock: VirtualClock, errors: string[]) {
    this.id = id;
    this.#slots = slots;
    this.clock = new PausableClock(clock);
    this.presence = new SimulatedPresence(id, slots, this.clock);
    const log = pino({
      level: "warn",
      hooks: {
        // Slots that others took from a silent worker are no fault here.
        logMethod: ([what]) =>
          void (what instanceof Object && "err" in what && errors.push(String(what.err))),
      },
    });
    this.keeper = new SlotKeeper(
      {
        store: slots.storeOf(id, { clock: this.clock }),
        presence: this.presence,
        clock: this.clock,
        log,
      },
      {
        arrive: () => sleep(this.clock, 5),
        ready: () => undefined,
        leave: async () => {
          await sleep(this.clock, 20);
          return [];
        },
      },
    );
    slots.listeners.add(this.#heard);
  }

  /** Whether an attempt of the slot may start here now. */
  mayStart(slot: number): boolean {
    return !this.isOver && this.keeper.owned().has(slot);
  }

  kill(): void {
    this.isOver = true;
    this.presence.loseSession();
    this.clock.pause();
    this.#slots.killed(this.id);
    this.#slots.listeners.delete(this.#heard);
  }

  async stop(): Promise<void> {
    await this.keeper.stop();
    this.kill();
    this.#slots.workers.delete(this.id);
  }
}

export class SlotSimulation {
  readonly clock = new VirtualClock();
  readonly slots = new MemorySlots(this.clock);
  readonly errors: string[] = [];
  /** The longest time for which a slot had no worker that may start its attempts. */
  longestUnownedMs = 0;
  readonly #ownedAtMs: number[] = Array.from({ length: SLOT_COUNT }, () => 0);
  workers: SimulatedWorker[] = [];
  #count = 0;

  constructor() {
    this.#checkLater();
  }

  start(): SimulatedWorker {
    const worker = new SimulatedWorker(`worker-${this.#count++}`, this.slots, this.clock, this.errors);
    this.workers.push(worker);
    return worker;
  }

  run(ms: number): Promise<void> {
    this.workers = this.workers.filter(({ isOver }) => !isOver);
    return this.clock.runUntil(this.clock.nowMs() + ms);
  }

  /** How many slots each living worker may start attempts of. */
  parts(): number[] {
    const living = this.workers.filter(({ isOver }) => !isOver);
    return living.map((worker) => count((slot) => worker.mayStart(slot)));
  }

  #checkLater(): void {
    this.clock.after(CHECK_EVERY_MS, () => {
      this.check();
      this.#checkLater();
    });
  }

  check(): void {
    const nowMs = this.clock.nowMs();
    // Read once for all slots: nothing changes meanwhile, and this is most of what a simulation does.
    const living = this.workers
      .filter(({ isOver }) => !isOver)
      .map(({ id, keeper }) => ({ id, owned: keeper.owned() }));
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const owners = living.filter(({ owned }) => owned.has(slot));
      if (owners.length > 1) {
        assert.fail(`slot ${slot} has the owners ${owners.map(({ id }) => id).join(", ")} at ${nowMs} ms`);
      }
      if (owners.length > 0) this.#ownedAtMs[slot] = nowMs;
      this.longestUnownedMs = Math.max(this.longestUnownedMs, nowMs - (this.#ownedAtMs[slot] ?? 0));
    }
  }
}

function count(isWanted: (slot: number) => boolean): number {
  return Array.from({ length: SLOT_COUNT }, (_, slot) => slot).filter(isWanted).length;
}
