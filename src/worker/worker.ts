/**
 * The worker: takes due dispatches, makes their attempts within the lanes'
 * limits, and records the outcomes in batches. Dispatches have two sources: the
 * publisher of the same process, which hands them over leased, and claims from
 * the queue. In both cases the row in the queue is the record. The memory may be
 * lost at any moment; the leases then end.
 */
import type { Outbox } from "../events/outbox.ts";
import type { DispatchQueue, EventAtEndpoint, LeasedDispatch, OwnLane, Presence } from "../queue/queue.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { CarryOut, type CarryOutServices } from "./carry-out.ts";
import { makeClaims, type Claims } from "./claims.ts";
import { Lanes, SHARES } from "./lanes.ts";
import { makeOutcomes, type Outcomes } from "./outcomes.ts";
import { makeReturns, type ReturnReason, type Returns } from "./returns.ts";

/** Attempts in flight and outcomes being recorded. */
const MOST_RUNNING = 4096;
/** How often lanes are checked for dispatches that they cannot send soon. */
const TEND_MS = 200;

export type Worker = OwnLane & {
  start(): void;
  /** Claims without waiting for the next poll. */
  wake(): void;
  /** A person delivered the event: its dispatch, if one waits here, is not sent. */
  withdraw(superseded: EventAtEndpoint): void;
  /** Starts no more attempts, waits for those in flight, and releases the other leases. */
  stop(): Promise<void>;
  /** When it last looked for work, on the clock in milliseconds. */
  lastLookAt(): number;
  /** How many attempts are made again because the database refuses their outcome. */
  refusedOutcomes(): number;
};

export type WorkerServices = CarryOutServices & {
  queue: DispatchQueue;
  outbox: Outbox;
  presence: Presence;
  metrics: Pick<Metrics, "watchLanes" | "dispatchesReturned" | "outcomesRefused">;
};

export function makeWorker(services: WorkerServices): Worker {
  return new LaneWorker(services);
}

class LaneWorker implements Worker {
  readonly #services: WorkerServices;
  readonly #lanes = new Lanes(SHARES);
  readonly #returns: Returns;
  readonly #outcomes: Outcomes;
  readonly #carryOut: CarryOut;
  readonly #claims: Claims;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(services: WorkerServices) {
    this.#services = services;
    const lanes = this.#lanes;
    services.metrics.watchLanes(lanes);
    this.#returns = makeReturns(services);
    this.#outcomes = makeOutcomes(services);
    this.#carryOut = new CarryOut(services, {
      lanes,
      outcomes: this.#outcomes,
      returns: this.#returns,
      pump: () => this.#pump(),
      wake: () => this.wake(),
    });
    this.#claims = makeClaims({
      ...services,
      lanes,
      take: (dispatches) => this.#takeLeased(dispatches),
      pulled: () => this.#pump(),
      withoutEvent: (dispatches) =>
        dispatches.forEach((dispatch) => void this.#track(this.#carryOut.endWithoutEvent(dispatch))),
    });
  }

  start(): void {
    this.#claims.start();
    this.#tend();
  }

  wake(): void {
    this.#claims.wake();
  }

  withdraw(superseded: EventAtEndpoint): void {
    this.#giveBack(this.#lanes.withdraw(superseded, this.#services.clock.nowMs()), "withdrawn");
  }

  hasRoom(): boolean {
    return this.#lanes.hasRoom && !this.#stopping.signal.aborted;
  }

  backlogged(): ReturnType<OwnLane["backlogged"]> {
    return this.#lanes.backlogged();
  }

  take({ leased, parked }: Parameters<OwnLane["take"]>[0]): void {
    const { clock } = this.#services;
    for (const endpoint of parked) this.#lanes.foundBacklog(endpoint, clock.nowMs());
    this.#takeLeased(leased);
  }

  lastLookAt(): number {
    return this.#claims.lastLookAt();
  }

  refusedOutcomes(): number {
    return this.#outcomes.refused();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
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
    const { clock, presence } = this.#services;
    // Tending the lanes pumps again soon after the worker is confirmed again.
    const mayStart = (): boolean => presence.isConfirmed() && !this.#stopping.signal.aborted;
    while (mayStart() && this.#running.size < MOST_RUNNING) {
      const next = this.#lanes.next(clock.nowMs());
      if (next === null) return;
      if (next.kind === "start")
        void this.#track(this.#carryOut.attempt(next.dispatch)).then(() => this.#pump());
      else this.#carryOut.resumeAt(next.endpointId, next.untilMs);
    }
  }

  #takeLeased(dispatches: readonly LeasedDispatch[]): void {
    const { clock } = this.#services;
    const isStopping = this.#stopping.signal.aborted;
    const refused = dispatches.filter(
      (dispatch) => isStopping || !this.#lanes.offer(dispatch, clock.nowMs()),
    );
    this.#pump();
    this.#giveBack(refused, isStopping ? "stopping" : "no_room");
  }

  #giveBack(dispatches: readonly LeasedDispatch[], reason: ReturnReason): void {
    if (dispatches.length === 0) return;
    const isNoRoom = reason === "no_room";
    const released = this.#returns.release(dispatches, isNoRoom ? "parked" : "claimable", reason);
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
    this.#giveBack(this.#lanes.takeAll(clock.nowMs()), "stopping");
    if (this.#running.size === 0) return;
    await Promise.all(this.#running);
    await this.#giveBackAll();
  }
}
