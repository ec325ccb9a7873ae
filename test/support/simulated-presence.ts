/** A worker's presence on a simulated clock, as `src/queue/postgres/presence.ts` keeps it over a session. */
import { Confirmations } from "../../src/queue/confirmations.ts";
import { LEASE_MS, type Presence } from "../../src/queue/queue.ts";
import type { MemorySlots } from "./memory-slots.ts";
import type { PausableClock } from "./virtual-clock.ts";

const CONFIRM_EVERY_MS = 1000;

export class SimulatedPresence implements Presence {
  readonly #id: string;
  readonly #slots: MemorySlots;
  readonly #clock: PausableClock;
  readonly #confirmations = new Confirmations();
  readonly #listeners: (() => void)[] = [];
  #hasSession = true;

  constructor(id: string, slots: MemorySlots, clock: PausableClock) {
    this.#id = id;
    this.#slots = slots;
    this.#clock = clock;
    clock.after(0, () => void this.#confirm());
  }

  isConfirmed(): boolean {
    return this.#confirmations.isConfirmed(this.#clock.nowMs());
  }

  unbrokenSince(): number {
    return this.#confirmations.unbrokenSinceMs;
  }

  whenConfirmed(listener: () => void): void {
    this.#listeners.push(listener);
  }

  covers({ leaseEndsMs }: Parameters<Presence["covers"]>[0]): boolean {
    return leaseEndsMs - LEASE_MS >= this.#confirmations.registeredAtMs;
  }

  loseSession(): void {
    this.#hasSession = false;
    this.#slots.unlock(this.#id);
    this.#confirmations.lose();
  }

  regainSession(): void {
    this.#hasSession = true;
  }

  async #confirm(): Promise<void> {
    const askedAtMs = this.#clock.nowMs();
    if (this.#hasSession) {
      const registered = await this.#slots.statement(this.#clock, () =>
        this.#slots.confirm(this.#id, this.#hasSession),
      );
      if (this.#hasSession && registered !== null) {
        this.#confirmations.note(registered, { askedAtMs, nowMs: this.#clock.nowMs() });
        for (const listener of this.#listeners) listener();
      }
    }
    this.#clock.after(CONFIRM_EVERY_MS, () => void this.#confirm());
  }
}
