/**
 * A worker's slots: takes its part of them, gives back what others should have,
 * and says at each moment for which endpoints this worker may start attempts.
 * `../queue/slots.ts` says why no slot has two such workers.
 *
 * To this worker a slot is *foreign* until it takes it in the table. Then it is
 * *arriving*: the lanes learn what is parked for its endpoints, so that nothing
 * younger overtakes it. Once *owned*, its attempts start. Before it is given
 * back it is *leaving*: no attempt starts any more, and the dispatches in memory
 * return to the table. When the worker's presence had a break, what it knows is
 * *lapsed*: it takes the slot again, or finds that another has it.
 *
 * Looks after each confirmation of the presence, and when others say that slots
 * changed.
 */
import assert from "node:assert/strict";
import type { EndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { Clock } from "../shared/clock.ts";
import type { Presence } from "../queue/queue.ts";
import {
  NO_SLOTS,
  slotOf,
  SlotSet,
  type InFlight,
  type Slot,
  type SlotStore,
  type TakenSlot,
} from "../queue/slots.ts";
import { SilentWorkers } from "./silent-workers.ts";
import { planSlots } from "./slot-plan.ts";

type SlotState = "foreign" | "arriving" | "owned" | "leaving" | "lapsed";
type SlotEvent = "took" | "ready" | "leave" | "left" | "lapse" | "lost";

const NEXT: Readonly<Record<SlotState, Partial<Record<SlotEvent, SlotState>>>> = {
  foreign: { took: "arriving" },
  arriving: { ready: "owned", lapse: "lapsed", lost: "foreign" },
  owned: { leave: "leaving", lapse: "lapsed", lost: "foreign" },
  leaving: { left: "foreign", lapse: "lapsed", lost: "foreign" },
  lapsed: { took: "arriving", lost: "foreign" },
};

/** What the worker does as its slots come and go. */
export type SlotHolder = {
  /** Attempts of these slots start after this; the former owners may still have some in flight. */
  arrive(slots: readonly TakenSlot[]): Promise<void>;
  /** These slots are ready: there may be something to claim. */
  ready(): void;
  /** No attempt of these slots starts any more. Ends when they are empty but for the attempts that it answers. */
  leave(isLeaving: (slot: Slot) => boolean): Promise<InFlight[]>;
};

type SlotKeeperServices = {
  store: SlotStore;
  presence: Presence;
  clock: Clock;
  log: Log;
};

type Known = { state: SlotState; term: number };

export class SlotKeeper {
  readonly #services: SlotKeeperServices;
  readonly #holder: SlotHolder;
  readonly #tell: (error: unknown) => void;
  readonly #known = new Map<Slot, Known>();
  readonly #silent = new SilentWorkers();
  #owned = NO_SLOTS;
  /** The unbroken presence on which all knowledge rests. */
  #sinceMs = NaN;
  #looking: Promise<void> | null = null;
  #mustLookAgain = false;
  #hasAsked = false;
  #isStopping = false;
  #isOver = false;

  constructor(services: SlotKeeperServices, holder: SlotHolder) {
    this.#services = services;
    this.#holder = holder;
    this.#tell = warnSeldom(services.log, "the slots of the workers could not be read or changed");
    services.presence.whenConfirmed(() => this.look());
  }

  /** Whether this worker may start an attempt at the endpoint now. */
  owns(endpointId: EndpointId): boolean {
    return this.owned().has(slotOf(endpointId));
  }

  /** The slots of which this worker may start attempts now. */
  owned(): SlotSet {
    const { presence } = this.#services;
    return presence.isConfirmed() && presence.unbrokenSince() === this.#sinceMs ? this.#owned : NO_SLOTS;
  }

  get count(): number {
    return this.#inState("owned").length;
  }

  /** Looks at the table soon, if this worker is confirmed. */
  look(): void {
    if (this.#isOver) return;
    if (this.#looking !== null) {
      this.#mustLookAgain = true;
      return;
    }
    this.#looking = this.#lookAsOftenAsAsked();
  }

  /** Gives all slots back. The worker may be confirmed after that: then nothing looks any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.look();
    await this.#looking;
    this.#isOver = true;
  }

  async #lookAsOftenAsAsked(): Promise<void> {
    do {
      this.#mustLookAgain = false;
      await this.#lookOnce();
    } while (this.#mustLookAgain);
    this.#looking = null;
  }

  async #lookOnce(): Promise<void> {
    const { presence } = this.#services;
    if (!presence.isConfirmed()) {
      this.#silent.forget();
      return;
    }
    try {
      await this.#agree(presence.unbrokenSince());
    } catch (error) {
      this.#tell(error);
    }
  }

  /** One look at the table, and what follows from it. */
  async #agree(sinceMs: number): Promise<void> {
    const { store, clock } = this.#services;
    if (sinceMs !== this.#sinceMs) {
      this.#silent.forget();
      this.#lapse([...this.#known.keys()]);
      this.#sinceMs = sinceMs;
    }
    const askedAtMs = clock.nowMs();
    const table = await store.read();
    const silent = this.#silent.note(table.workers, { askedAtMs, answeredAtMs: clock.nowMs() });
    const owners = new Map(table.slots.map(({ slot, owner }) => [slot, owner]));
    await this.#lose([...this.#known.keys()].filter((slot) => owners.get(slot) !== store.workerId));
    if (this.#isStopping) return this.#retire();
    const held = new Set(
      [...this.#known].filter(([, { state }]) => state !== "lapsed").map(([slot]) => slot),
    );
    const plan = planSlots(table, store.workerId, { held, silent });
    if (plan.take.length > 0) await this.#take(plan.take, sinceMs);
    if (plan.leave.length > 0) await this.#leave(plan.leave);
    if (plan.isShort && !this.#hasAsked) await store.ask();
    this.#hasAsked = plan.isShort;
  }

  async #take(slots: Parameters<SlotStore["take"]>[0], sinceMs: number): Promise<void> {
    const taken = await this.#services.store.take(slots);
    // What was taken on a presence that had a break since is found in the table by the next look.
    if (this.#services.presence.unbrokenSince() !== sinceMs) return;
    for (const { slot, term } of taken) this.#known.set(slot, { state: this.#nextOf(slot, "took"), term });
    await this.#orLapse(taken, () => this.#holder.arrive(taken));
    for (const { slot } of taken) this.#move(slot, "ready");
    this.#refresh();
    this.#holder.ready();
  }

  async #leave(slots: readonly Slot[]): Promise<void> {
    for (const slot of slots) this.#move(slot, "leave");
    this.#refresh();
    const leaving = new SlotSet(slots);
    const termed = slots.map((slot) => ({ slot, term: this.#known.get(slot)?.term ?? -1 }));
    await this.#orLapse(termed, async () => {
      const inFlight = await this.#holder.leave((slot) => leaving.has(slot));
      await this.#services.store.leave(
        termed,
        Map.groupBy(inFlight, ({ endpointId }) => slotOf(endpointId)),
      );
    });
    for (const slot of slots) this.#move(slot, "left");
  }

  /** Others have taken them, after this worker was silent. */
  async #lose(slots: readonly Slot[]): Promise<void> {
    if (slots.length === 0) return;
    for (const slot of slots) this.#move(slot, "lost");
    this.#refresh();
    const lost = new SlotSet(slots);
    this.#services.log.warn(
      { slots: slots.length },
      "other workers took slots of this one while it was silent",
    );
    await this.#holder.leave((slot) => lost.has(slot));
  }

  async #retire(): Promise<void> {
    const owned = this.#inState("owned");
    if (owned.length > 0) await this.#leave(owned);
    // Only then: others take what an owner has that takes no slots.
    await this.#services.store.retire();
  }

  /** Work after which it is known what became of the slots. If it fails, the next look finds out. */
  async #orLapse(slots: readonly { slot: Slot }[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#lapse(slots.map(({ slot }) => slot));
      throw error;
    }
  }

  #lapse(slots: readonly Slot[]): void {
    for (const slot of slots) if (this.#known.get(slot)?.state !== "lapsed") this.#move(slot, "lapse");
    this.#refresh();
  }

  #move(slot: Slot, event: SlotEvent): void {
    const state = this.#nextOf(slot, event);
    const known = this.#known.get(slot);
    if (state === "foreign" || known === undefined) this.#known.delete(slot);
    else this.#known.set(slot, { ...known, state });
  }

  #nextOf(slot: Slot, event: SlotEvent): SlotState {
    const state = this.#known.get(slot)?.state ?? "foreign";
    const next = NEXT[state][event];
    assert.ok(next !== undefined, `a slot that is ${state} cannot be ${event}`);
    return next;
  }

  #inState(wanted: SlotState): Slot[] {
    return [...this.#known].filter(([, { state }]) => state === wanted).map(([slot]) => slot);
  }

  #refresh(): void {
    this.#owned = new SlotSet(this.#inState("owned"));
  }
}
