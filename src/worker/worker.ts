/**
 * The worker: takes dispatches that are due, makes their attempts within the
 * lanes' limits, and records the outcomes in groups. Dispatches come from two
 * sides: handed over by the publisher of the same process, already leased, or
 * claimed from the queue. Either way the row in the queue is the record; what
 * is in memory may be lost at any moment, and its lease then runs out.
 */
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Outbox } from "../events/outbox.ts";
import type { Sender } from "../outbound/send.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { idTimeMs, type EndpointId } from "../shared/id.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeClaims, POLL_MS } from "./claims.ts";
import { Lanes, type LaneLimits } from "./lanes.ts";
import { endpointDeleted, eventGone, makeAttempt } from "./attempt.ts";
import { makeOutcomes } from "./outcomes.ts";
import { RatePacer } from "./pacer.ts";
import { makeReturns, type Postponed } from "./returns.ts";
import { returnDelay, ReturnDelays } from "./return-times.ts";
import type {
  CompletedAttempt,
  CrowdedEndpoint,
  DispatchQueue,
  EventAtEndpoint,
  LeasedDispatch,
  OwnLane,
} from "../queue/queue.ts";
import type { TargetCache } from "./target-cache.ts";

/** An attempt that takes longer makes its endpoint's lane narrower. */
const SLOW_ATTEMPT_MS = 3000;
/** An attempt starts only with so much of its lease left: the longest attempt, and a margin to record it. */
const LEASE_RESERVE_MS = 25_000;

/** Attempts in flight, and outcomes that are being recorded. */
const MOST_RUNNING = 4096;

export const LANE_LIMITS: LaneLimits = {
  inFlight: 2048,
  inFlightPerTenant: 512,
  inFlightPerEndpoint: 64,
  firstInFlightPerEndpoint: 8,
  leastInFlightPerEndpoint: 4,
  waitingPerEndpoint: 10_000,
  waitingBodySize: 32 * 1024 * 1024,
  waitingBodySizePerTenant: 16 * 1024 * 1024,
  waitingBodySizePerEndpoint: 8 * 1024 * 1024,
};

export type Worker = OwnLane & {
  start(): void;
  /** Something is due now: claim without waiting for the next poll. */
  wake(): void;
  /** A person delivered the event: what waits of it here is not sent. */
  withdraw(superseded: EventAtEndpoint): void;
  /** Starts nothing more, lets attempts in flight finish, and gives the other leases back. */
  stop(): Promise<void>;
  /** When it last looked for work, on the monotonic clock in milliseconds. */
  lastLookAt(): number;
};

export type WorkerServices = {
  queue: DispatchQueue;
  targets: TargetCache;
  sender: Sender;
  health: EndpointHealth;
  /** Told of each attempt that was not made because its target is not public. */
  blockedTarget: (target: SendTarget) => void;
  outbox: Outbox;
  artifacts: Pick<ArtifactKeeper, "keep">;
  scheduleMs: readonly number[];
  log: Log;
  metrics: Metrics;
};

export function makeWorker(services: WorkerServices): Worker {
  const { queue, targets, log, metrics } = services;
  const lanes = new Lanes(LANE_LIMITS);
  metrics.watchLanes(lanes);
  const pacer = new RatePacer();
  const returnDelays = new ReturnDelays();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const outcomes = makeOutcomes({ queue, log });
  const returns = makeReturns(services);
  const hasRoom = (): boolean => lanes.hasRoom && !stopping.signal.aborted;
  const claims = makeClaims({
    ...services,
    hasRoom,
    take,
    withoutEvent: (dispatches) => dispatches.forEach(endWithoutEvent),
    crowded: () => lanes.crowded().map(crowdedEndpoint),
    turnedAway,
  });

  function pump(): void {
    while (!stopping.signal.aborted && running.size < MOST_RUNNING) {
      const dispatch = lanes.next();
      if (dispatch === null) return;
      void track(carryOut(dispatch)).then(pump);
    }
  }

  /** Work that never rejects, for which a stop waits. */
  function track(work: Promise<unknown>): Promise<void> {
    const tracked = work.then(() => void running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  async function carryOut(dispatch: LeasedDispatch): Promise<void> {
    try {
      const completed = await inLane(dispatch);
      if (completed !== null) await record(completed);
    } catch (error) {
      log.error(
        { err: error, tenantId: dispatch.tenantId, endpointId: dispatch.endpointId, deliveryId: dispatch.id },
        "an attempt could not be made, or its outcome not be recorded; it is due again when its lease ends",
      );
      const reason = error instanceof SecretBoxError ? "secret" : "internal";
      metrics.attemptsTotal.inc({ outcome: "error", reason });
    }
  }

  /** The lane goes on when the attempt is over: its endpoint need not wait until the outcome is recorded. */
  async function inLane(dispatch: LeasedDispatch): Promise<CompletedAttempt | null> {
    let wasSlow = false;
    try {
      const completed = await attempt(dispatch);
      wasSlow = completed !== null && completed.latencyMs > SLOW_ATTEMPT_MS;
      return completed;
    } finally {
      lanes.finished(dispatch, wasSlow);
      pump();
    }
  }

  /** Null when the dispatch was given back. */
  async function attempt(dispatch: LeasedDispatch): Promise<CompletedAttempt | null> {
    const lock = outcomes.lockOf(dispatch.endpointId);
    if (lock !== undefined) await lock;
    const known = targets.fresh(dispatch);
    const target = known === undefined ? await targets.get(dispatch) : known;
    if (dispatch.leaseEndsMs - performance.now() < LEASE_RESERVE_MS) await returns.late(dispatch);
    else if (target === null) return endpointDeleted(dispatch);
    else if (!target.enabled) await returns.hold(dispatch);
    else return attemptAt(target, dispatch);
    return null;
  }

  async function attemptAt(target: SendTarget, dispatch: LeasedDispatch): Promise<CompletedAttempt | null> {
    const waitMs = pacer.waitMs(dispatch.endpointId, target.rateLimit, performance.now());
    if (waitMs > 0) {
      pauseLane(dispatch, waitMs);
      return null;
    }
    const { completed, isGone, longResponseBody } = await makeAttempt(dispatch, target, services);
    observe(completed, metrics);
    if (completed.error === "blocked_target") services.blockedTarget(target);
    if (target.keeps !== null) keepBodies(dispatch, target.keeps, longResponseBody);
    await observeHealth(target, completed.status, isGone);
    return completed;
  }

  async function record(completed: CompletedAttempt): Promise<void> {
    if (!(await outcomes.record(completed))) {
      const { tenantId, endpointId, id } = completed.dispatch;
      log.warn(
        { tenantId, endpointId, deliveryId: id },
        "the outcome was not recorded: the dispatch had ended or passed to another worker",
      );
      return;
    }
    const { nextDelayMs } = completed;
    if (nextDelayMs !== null && nextDelayMs < POLL_MS) setTimeout(() => claims.wake(), nextDelayMs).unref();
  }

  /** Beside recording: neither waits for the other. */
  function keepBodies(dispatch: LeasedDispatch, keeps: KeptBodies, longResponseBody: Buffer | null): void {
    const { tenantId, id: deliveryId, attempt, body: requestBody } = dispatch;
    services.artifacts.keep({ tenantId, deliveryId, attempt, requestBody, longResponseBody, keeps });
  }

  /** Before the outcome is recorded, for its next attempt must find the endpoint as this one left it. */
  async function observeHealth(
    target: SendTarget,
    status: "delivered" | "failed",
    isGone: boolean,
  ): Promise<void> {
    try {
      if (await services.health.observe(target, { status, isGone })) targets.forget(target);
    } catch (error) {
      // The next attempt observes again; the outcome of this one must not be lost over it.
      log.warn({ err: error, endpointId: target.endpointId }, "the endpoint's health could not be noted");
    }
  }

  function pauseLane(dispatch: LeasedDispatch, waitMs: number): void {
    lanes.putBackAndPause(dispatch);
    setTimeout(() => {
      lanes.unpause(dispatch);
      pump();
    }, waitMs).unref();
  }

  function take(dispatches: readonly LeasedDispatch[]): void {
    const isStopping = stopping.signal.aborted;
    const refused = dispatches.filter((dispatch) => isStopping || !lanes.offer(dispatch));
    pump();
    if (isStopping) giveBack(withoutDelay(refused), "stopping");
    else giveBack(refused.map(inLine), "no_room");
  }

  /** Never by what Postern does; it must not keep others from being claimed all the same. */
  function endWithoutEvent(dispatch: LeasedDispatch): void {
    const { tenantId, endpointId, id, eventId } = dispatch;
    log.error(
      { tenantId, endpointId, deliveryId: id, eventId },
      "an event that is due is gone; its delivery ends",
    );
    metrics.attemptsTotal.inc({ outcome: "error", reason: "internal" });
    void track(
      outcomes
        .record(eventGone(dispatch))
        .catch((error: unknown) =>
          log.error({ err: error, deliveryId: id }, "its end could not be recorded"),
        ),
    );
  }

  function inLine(dispatch: LeasedDispatch): Postponed {
    const { endpointId, returns: times } = crowdedEndpoint(dispatch.endpointId);
    returnDelays.turnedAway(endpointId, 1, times, performance.now());
    return { dispatch, delayMs: returnDelay(times) };
  }

  function crowdedEndpoint(endpointId: EndpointId): CrowdedEndpoint {
    const returns = returnDelays.timesFor(endpointId, lanes.progressOf(endpointId), performance.now());
    return { endpointId, returns };
  }

  function turnedAway({ endpointId, returns }: CrowdedEndpoint, count: number): void {
    returnDelays.turnedAway(endpointId, count, returns, performance.now());
    metrics.dispatchesReturned.inc({ reason: "no_room" }, count);
  }

  function giveBack(given: readonly Postponed[], reason: "no_room" | "stopping" | "withdrawn"): void {
    if (given.length === 0) return;
    void track(returns.giveBack(given, reason));
  }

  return {
    start: () => claims.start(),
    wake: () => claims.wake(),
    withdraw(superseded) {
      giveBack(withoutDelay(lanes.withdraw(superseded)), "withdrawn");
    },
    hasRoom,
    take,
    lastLookAt: () => claims.lastLookAt(),
    async stop() {
      stopping.abort();
      await claims.stop();
      giveBack(withoutDelay(lanes.takeAll()), "stopping");
      // What ends now may leave more behind: an attempt that was only to wait for its turn.
      while (running.size > 0) {
        await Promise.all(running);
        giveBack(withoutDelay(lanes.takeAll()), "stopping");
      }
    },
  };
}

function withoutDelay(dispatches: readonly LeasedDispatch[]): Postponed[] {
  return dispatches.map((dispatch) => ({ dispatch, delayMs: 0 }));
}

function observe(completed: CompletedAttempt, metrics: Metrics): void {
  const reason = completed.error ?? (completed.status === "delivered" ? "none" : "status");
  metrics.attemptsTotal.inc({ outcome: completed.status, reason });
  metrics.attemptDuration.observe(completed.latencyMs / 1000);
  if (completed.status === "delivered" && completed.dispatch.attempt === 1) {
    metrics.deliveryLatency.observe(Math.max(0, Date.now() - idTimeMs(completed.dispatch.eventId)) / 1000);
  }
}
