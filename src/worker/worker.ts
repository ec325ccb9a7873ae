/**
 * The worker: takes due dispatches, makes their attempts within the lanes'
 * limits, and records the outcomes in groups. Dispatches come from two sides:
 * handed over by the publisher of the same process, already leased, or claimed
 * from the queue. Either way the row in the queue is the record; what is in
 * memory may be lost at any moment, and its lease then ends.
 */
import type { Outbox } from "../events/outbox.ts";
import type { DispatchQueue, EventAtEndpoint, LeasedDispatch, OwnLane, Presence } from "../queue/queue.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { CarryOut, type CarryOutServices } from "./carry-out.ts";
import { makeClaims, type Claims } from "./claims.ts";
import { Lanes, SHARES } from "./lanes.ts";
import { makeOutcomes } from "./outcomes.ts";
import { makeReturns, type ReturnReason } from "./returns.ts";

/** Attempts in flight, and outcomes that are being recorded. */
const MOST_RUNNING = 4096;
/** How often lanes are looked over for what they hold in vain. */
const TEND_MS = 200;

export type Worker = OwnLane & {
  start(): void;
  /** Something is due now: claim without waiting for the next poll. */
  wake(): void;
  /** A person delivered the event: what waits of it here is not sent. */
  withdraw(superseded: EventAtEndpoint): void;
  /** Starts nothing more, lets attempts in flight finish, and gives the other leases back. */
  stop(): Promise<void>;
  /** When it last looked for work, on the clock in milliseconds. */
  lastLookAt(): number;
};

export type WorkerServices = CarryOutServices & {
  queue: DispatchQueue;
  outbox: Outbox;
  presence: Presence;
  metrics: Pick<Metrics, "watchLanes" | "dispatchesReturned">;
};

export function makeWorker(services: WorkerServices): Worker {
  const { clock, presence } = services;
  const lanes = new Lanes(SHARES);
  services.metrics.watchLanes(lanes);
  const outcomes = makeOutcomes(services);
  const returns = makeReturns(services);
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const carryOut = new CarryOut(services, { lanes, outcomes, returns, pump, wake: () => claims.wake() });
  const claims: Claims = makeClaims({
    ...services,
    lanes,
    take,
    pulled: pump,
    withoutEvent: (dispatches) =>
      dispatches.forEach((dispatch) => void track(carryOut.endWithoutEvent(dispatch))),
  });

  /** Work that never rejects, for which a stop waits. */
  function track(work: Promise<unknown>): Promise<void> {
    const tracked = work.then(() => void running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  function pump(): void {
    // Looking over the lanes pumps again soon after it is confirmed again.
    while (presence.isConfirmed() && !stopping.signal.aborted && running.size < MOST_RUNNING) {
      const next = lanes.next(clock.nowMs());
      if (next === null) return;
      if (next.kind === "start") void track(carryOut.attempt(next.dispatch)).then(pump);
      else carryOut.resumeAt(next.endpointId, next.untilMs);
    }
  }

  function take(dispatches: readonly LeasedDispatch[]): void {
    const isStopping = stopping.signal.aborted;
    const refused = dispatches.filter((dispatch) => isStopping || !lanes.offer(dispatch, clock.nowMs()));
    pump();
    giveBack(refused, isStopping ? "stopping" : "no_room");
  }

  function giveBack(dispatches: readonly LeasedDispatch[], reason: ReturnReason): void {
    if (dispatches.length === 0) return;
    const isNoRoom = reason === "no_room";
    const released = returns.release(dispatches, isNoRoom ? "parked" : "claimable", reason);
    void track(isNoRoom ? released.then(() => lanes.parked(dispatches)) : released);
  }

  function tend(): void {
    if (stopping.signal.aborted) return;
    giveBack(lanes.tend(clock.nowMs()), "no_room");
    pump();
    clock.after(TEND_MS, tend);
  }

  /** What ends now may leave more behind: an attempt that was only to wait for its turn. */
  async function giveBackAll(): Promise<void> {
    giveBack(lanes.takeAll(clock.nowMs()), "stopping");
    if (running.size === 0) return;
    await Promise.all(running);
    await giveBackAll();
  }

  return {
    start() {
      claims.start();
      tend();
    },
    wake: () => claims.wake(),
    withdraw: (superseded) => giveBack(lanes.withdraw(superseded, clock.nowMs()), "withdrawn"),
    hasRoom: () => lanes.hasRoom && presence.isConfirmed() && !stopping.signal.aborted,
    backlogged: () => lanes.backlogged(),
    take({ leased, parked }) {
      for (const endpoint of parked) lanes.foundBacklog(endpoint, clock.nowMs());
      take(leased);
    },
    lastLookAt: () => claims.lastLookAt(),
    async stop() {
      stopping.abort();
      await claims.stop();
      await giveBackAll();
    },
  };
}
