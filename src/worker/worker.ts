/**
 * The worker: takes due dispatches, makes their attempts within the lanes'
 * limits, and records the outcomes in batches. Dispatches have two sources: the
 * publisher of the same process, which hands them over leased, and claims from
 * the queue. In both cases the row in the queue is the record. The memory may be
 * lost at any moment; the leases then end.
 */
import type { Outbox } from "../events/outbox.ts";
import type {
  Acceptance,
  DispatchQueue,
  EventAtEndpoint,
  LeasedDispatch,
  OwnLane,
  Presence,
  Unleased,
} from "../queue/queue.ts";
import { slotOf, type SlotStore } from "../queue/slots.ts";
import type { EndpointId, EndpointKey } from "../shared/id.ts";
import { keepIn } from "../shared/keep-in.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { CarryOut, type CarryOutServices } from "./carry-out.ts";
import { CatchUp } from "./catch-up.ts";
import { makeClaims, type Claims } from "./claims.ts";
import { makeHandOver } from "./hand-over.ts";
import { Lanes, SHARES } from "./lanes.ts";
import { makeOutcomes, type Outcomes } from "./outcomes.ts";
import { makeReturns, type ReturnReason, type Returns } from "./returns.ts";
import { SlotKeeper } from "./slot-keeper.ts";

/** Attempts in flight and outcomes being recorded. */
const MOST_RUNNING = 4096;
/** How often lanes are checked for dispatches that they cannot send soon. */
const TEND_MS = 200;

export type Worker = OwnLane & {
  start(): void;
  /** Claims without waiting for the next poll, if it has slots of the group. */
  wake(group?: number): void;
  /** Other workers have changed their slots, or want some. */
  slotsChanged(): void;
  /** A person delivered the event: its dispatch, if one waits here, is not sent. */
  withdraw(superseded: EventAtEndpoint): void;
  /** Starts no more attempts, waits for those in flight, and releases the other leases. */
  stop(): Promise<void>;
  /** False while even an endpoint that holds nothing would be refused. */
  hasRoom(): boolean;
  /** When it last looked for work, on the clock in milliseconds. */
  lastLookAt(): number;
  /** How many attempts are made again because the database refuses their outcome. */
  refusedOutcomes(): number;
  /** Of how many endpoints the signing secret did not open of late. */
  unusableSecrets(): number;
};

export type WorkerServices = CarryOutServices & {
  queue: DispatchQueue;
  outbox: Outbox;
  presence: Presence;
  slots: SlotStore;
  metrics: Pick<Metrics, "watchLanes" | "watchSlots" | "dispatchesReturned" | "outcomesRefused">;
};

export function makeWorker(services: WorkerServices): Worker {
  return new LaneWorker(services);
}

class LaneWorker implements Worker {
  readonly #services: WorkerServices;
  readonly #lanes = new Lanes(SHARES);
  readonly #catchUp = new CatchUp();
  readonly #returns: Returns;
  readonly #outcomes: Outcomes;
  readonly #carryOut: CarryOut;
  readonly #claims: Claims;
  readonly #slots: SlotKeeper;
  readonly #running = new Set<Promise<void>>();
  /** Acceptances under way, and dispatches on their way back to the table. */
  readonly #accepting = new Set<Promise<unknown>>();
  readonly #returning = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(services: WorkerServices) {
    this.#services = services;
    const lanes = this.#lanes;
    services.metrics.watchLanes(lanes);
    this.#returns = makeReturns({ ...services, stopping: this.#stopping.signal });
    this.#slots = this.#makeSlots();
    services.metrics.watchSlots(this.#slots);
    const slots = this.#slots;
    this.#outcomes = makeOutcomes(services);
    this.#carryOut = new CarryOut(services, {
      lanes,
      slots,
      outcomes: this.#outcomes,
      returns: this.#returns,
      pump: () => this.#pump(),
      wake: () => this.wake(),
    });
    this.#claims = makeClaims({
      ...services,
      lanes,
      slots,
      catchUp: this.#catchUp,
      take: (dispatches) => this.#takeLeased(dispatches),
      park: (dispatches) => this.#park(dispatches),
      pulled: () => this.#pump(),
      withoutEvent: (dispatches) =>
        dispatches.forEach((dispatch) => void this.#track(this.#carryOut.endWithoutEvent(dispatch))),
    });
  }

  start(): void {
    this.#claims.start();
    this.#tend();
  }

  wake(group?: number): void {
    if (group === undefined || this.#slots.owned().hasSomeOf(group)) this.#claims.wake();
  }

  slotsChanged(): void {
    this.#slots.look();
  }

  withdraw(superseded: EventAtEndpoint): void {
    const waiting = this.#catchUp.withdraw(superseded);
    const inLane = this.#lanes.withdraw(superseded, this.#services.clock.nowMs());
    this.#giveBack([...waiting, ...inLane], "withdrawn");
  }

  hasRoom(): boolean {
    return this.#lanes.hasRoom && !this.#stopping.signal.aborted;
  }

  async accept(...[work, tenants]: Parameters<OwnLane["accept"]>): Promise<Acceptance> {
    const own = this.#slots.owned();
    const lease = this.hasRoom() && !own.isEmpty ? own : null;
    const accepting = work({ lease, parked: this.#lanes.backlogged(own, tenants) }).then((accepted) => {
      this.#take(accepted);
      return accepted;
    });
    return keepIn(this.#accepting, accepting);
  }

  async acceptUnleased<T extends Unleased>(work: (parked: EndpointId[]) => Promise<T>): Promise<T> {
    const accepted = await work(this.#lanes.backlogged(this.#slots.owned()));
    // A lane that was backlogged may have been opened meanwhile, by a pull that had found all.
    this.#lineUpBehind(accepted.parked);
    this.#catchUp.note(accepted.unleased, this.#slots.owned());
    return accepted;
  }

  lastLookAt(): number {
    return this.#claims.lastLookAt();
  }

  refusedOutcomes(): number {
    return this.#outcomes.refused();
  }

  unusableSecrets(): number {
    return this.#carryOut.unusableSecrets();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // First, so that others go on with its endpoints while its attempts in flight end.
    await this.#slots.stop();
    await this.#claims.stop();
    await this.#giveBackAll();
  }

  /** Work that never rejects, for which a stop waits. */
  #track(work: Promise<unknown>): Promise<void> {
    const tracked = work.then(() => void this.#running.delete(tracked));
    this.#running.add(tracked);
    return tracked;
  }

  #pump(): void {
    const { clock } = this.#services;
    // Tending the lanes pumps again soon after the worker is confirmed again.
    const mayStart = (): boolean => !this.#slots.owned().isEmpty && !this.#stopping.signal.aborted;
    while (mayStart() && this.#running.size < MOST_RUNNING) {
      const next = this.#lanes.next(clock.nowMs());
      if (next === null) return;
      if (next.kind === "start")
        void this.#track(this.#carryOut.attempt(next.dispatch)).then(() => this.#pump());
      else this.#carryOut.resumeAt(next.endpointId, next.untilMs);
    }
  }

  #take({ leased, parked, unleased }: Acceptance): void {
    this.#lineUpBehind(parked);
    const { entering, refused } = this.#catchUp.enter(leased);
    this.#park(refused);
    this.#takeLeased(entering);
    if (entering.length < leased.length) this.#claims.wake();
    this.#catchUp.note(unleased, this.#slots.owned());
  }

  /** What comes later to these endpoints starts behind what is parked. */
  #lineUpBehind(parked: readonly EndpointKey[]): void {
    const own = this.#slots.owned();
    for (const endpoint of parked) {
      if (own.has(slotOf(endpoint.endpointId)))
        this.#lanes.foundBacklog(endpoint, this.#services.clock.nowMs());
    }
  }

  #park(dispatches: readonly LeasedDispatch[]): void {
    for (const dispatch of dispatches) this.#lanes.foundBacklog(dispatch, this.#services.clock.nowMs());
    this.#takeLeased(dispatches);
  }

  #takeLeased(dispatches: readonly LeasedDispatch[]): void {
    const { clock } = this.#services;
    if (this.#stopping.signal.aborted) return this.#giveBack(dispatches, "stopping");
    const own = this.#slots.owned();
    const moved = dispatches.filter(({ endpointId }) => !own.has(slotOf(endpointId)));
    const refused = dispatches.filter(
      (dispatch) => own.has(slotOf(dispatch.endpointId)) && !this.#lanes.offer(dispatch, clock.nowMs()),
    );
    this.#pump();
    this.#giveBack(moved, "moved");
    this.#giveBack(refused, "no_room");
  }

  #makeSlots(): SlotKeeper {
    const { slots: store } = this.#services;
    const holder = makeHandOver({
      ...this.#services,
      store,
      lanes: this.#lanes,
      catchUp: this.#catchUp,
      giveBack: (dispatches) =>
        this.#giveBack(dispatches, this.#stopping.signal.aborted ? "stopping" : "moved"),
      settled: async () => {
        await Promise.allSettled([...this.#accepting, this.#claims.underWay()]);
        await Promise.allSettled(this.#returning);
      },
      pump: () => this.#pump(),
      wake: () => this.#claims.wake(),
      stopping: this.#stopping.signal,
    });
    return new SlotKeeper({ ...this.#services, store }, holder);
  }

  #giveBack(dispatches: readonly LeasedDispatch[], reason: ReturnReason): void {
    if (dispatches.length === 0) return;
    const isNoRoom = reason === "no_room";
    const released = keepIn(
      this.#returning,
      this.#returns.release(dispatches, isNoRoom ? "parked" : "claimable", reason),
    );
    void this.#track(isNoRoom ? released.then(() => this.#lanes.parked(dispatches)) : released);
  }

  #tend(): void {
    const { clock } = this.#services;
    if (this.#stopping.signal.aborted) return;
    this.#giveBack(this.#lanes.tend(clock.nowMs()), "no_room");
    this.#pump();
    clock.after(TEND_MS, () => this.#tend());
  }

  /** An attempt that ends now may put a dispatch back in its lane, so this repeats. */
  async #giveBackAll(): Promise<void> {
    const { clock } = this.#services;
    const left = this.#lanes.leave(() => true, clock.nowMs());
    this.#giveBack([...this.#catchUp.leave(() => true), ...left], "stopping");
    if (this.#running.size === 0) return;
    await Promise.all(this.#running);
    await this.#giveBackAll();
  }
}
