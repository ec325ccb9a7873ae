/**
 * The worker: takes dispatches that are due, makes their attempts within the
 * lanes' limits, and records the outcomes in groups. Dispatches come from two
 * sides: handed over by the publisher of the same process, already leased, or
 * claimed from the queue. Either way the row in the queue is the record; what
 * is in memory may be lost at any moment, and its lease then runs out.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Outbox } from "../events/outbox.ts";
import type { OwnLane } from "../events/publish.ts";
import type { Sender } from "../outbound/send.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { idTimeMs } from "../shared/id.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { Lanes, type LaneLimits } from "./lanes.ts";
import { endpointDeleted, makeAttempt } from "./make-attempt.ts";
import { makeOutcomes } from "./outcomes.ts";
import { RatePacer } from "./rate-pacer.ts";
import { makeReturns, type Postponed } from "./returns.ts";
import { ReturnDelays } from "./return-delay.ts";
import type {
  ClaimLimits,
  CompletedAttempt,
  DispatchQueue,
  EventAtEndpoint,
  LeasedDispatch,
} from "./queue.ts";
import type { TargetCache } from "./target-cache.ts";

const CLAIM_LIMITS: ClaimLimits = { dispatches: 500, bodyBytes: 8 * 1024 * 1024 };
/**
 * How often the queue is asked when nobody says that something is due. Retries
 * become due by themselves: asked once a second, those of a busy failing
 * endpoint came as one burst that made its neighbours wait 50 ms.
 */
const POLL_MS = 200;
/** How soon it is asked again after something was due: retries of a busy endpoint trickle on, better in small groups. */
const BUSY_POLL_MS = 50;
/** An attempt that takes longer makes its endpoint's lane narrower. */
const SLOW_ATTEMPT_MS = 3000;
/** An attempt starts only with so much of its lease left: the longest attempt, and a margin to record it. */
const LEASE_RESERVE_MS = 25_000;

export const LANE_LIMITS: LaneLimits = {
  inFlight: 2048,
  inFlightPerTenant: 512,
  inFlightPerEndpoint: 64,
  firstInFlightPerEndpoint: 8,
  leastInFlightPerEndpoint: 4,
  waitingPerEndpoint: 10_000,
  waitingBodySize: 32 * 1024 * 1024,
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
  let wakeUp = Promise.withResolvers<void>();
  let claiming: Promise<void> | null = null;
  let lastLookAt = performance.now();

  const outcomes = makeOutcomes({ queue, log });
  const returns = makeReturns(services);

  function pump(): void {
    while (!stopping.signal.aborted) {
      const dispatch = lanes.next();
      if (dispatch === null) return;
      const startedAt = performance.now();
      const attempt = run(dispatch).finally(() => {
        running.delete(attempt);
        lanes.finished(dispatch, performance.now() - startedAt > SLOW_ATTEMPT_MS);
        pump();
      });
      running.add(attempt);
    }
  }

  async function run(dispatch: LeasedDispatch): Promise<void> {
    try {
      const known = targets.fresh(dispatch);
      const target = known === undefined ? await targets.get(dispatch) : known;
      if (dispatch.leaseEndsMs - performance.now() < LEASE_RESERVE_MS) await returns.late(dispatch);
      else if (target === null) await outcomes.record(endpointDeleted(dispatch));
      else if (!target.enabled) await returns.hold(dispatch);
      else await runAgainst(dispatch, target);
    } catch (error) {
      log.error(
        { err: error, tenantId: dispatch.tenantId, endpointId: dispatch.endpointId, deliveryId: dispatch.id },
        "an attempt could not be made, or its outcome not be recorded; it is due again when its lease ends",
      );
      const reason = error instanceof SecretBoxError ? "secret" : "internal";
      metrics.attemptsTotal.inc({ outcome: "error", reason });
    }
  }

  async function runAgainst(dispatch: LeasedDispatch, target: SendTarget): Promise<void> {
    const waitMs = pacer.waitMs(dispatch.endpointId, target.rateLimit, performance.now());
    if (waitMs > 0) return pauseLane(dispatch, waitMs);
    const { completed, isGone, longResponseBody } = await makeAttempt(dispatch, target, services);
    observe(completed, metrics);
    if (completed.error === "blocked_target") services.blockedTarget(target);
    if (target.keeps !== null) keepBodies(dispatch, target.keeps, longResponseBody);
    await observeHealth(target, completed.status, isGone);
    if (!(await outcomes.record(completed))) {
      log.warn(
        { tenantId: dispatch.tenantId, endpointId: dispatch.endpointId, deliveryId: dispatch.id },
        "the outcome was not recorded: the dispatch had ended or passed to another worker",
      );
      return;
    }
    const { nextDelayMs } = completed;
    if (nextDelayMs !== null && nextDelayMs < POLL_MS)
      setTimeout(() => wakeUp.resolve(), nextDelayMs).unref();
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
    giveBack(
      refused.map((dispatch) => ({
        dispatch,
        delayMs: isStopping ? 0 : Math.random() * returnWithin(dispatch),
      })),
      isStopping ? "stopping" : "no_room",
    );
  }

  function returnWithin(dispatch: LeasedDispatch): number {
    return returnDelays.within(dispatch.endpointId, lanes.progressOf(dispatch), performance.now());
  }

  function giveBack(given: readonly Postponed[], reason: "no_room" | "stopping" | "withdrawn"): void {
    if (given.length === 0) return;
    const returning = returns.giveBack(given, reason).finally(() => running.delete(returning));
    running.add(returning);
  }

  async function claimLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = wakeUp.promise;
      const found = await claimOnce();
      if (found === "more") continue;
      await Promise.race([
        woken,
        delay(found === "some" ? BUSY_POLL_MS : POLL_MS, undefined, { signal: stopping.signal }).catch(
          () => undefined,
        ),
      ]);
      wakeUp = Promise.withResolvers<void>();
    }
  }

  /** What was due: "more" when the rest is to be claimed at once. */
  async function claimOnce(): Promise<"nothing" | "some" | "more"> {
    if (!lanes.hasRoom) {
      // Busy, not stuck.
      lastLookAt = performance.now();
      return "nothing";
    }
    // What SQL published comes first, so that this same look claims it.
    const relayed = await relayOutbox();
    try {
      const { claimed, isAll } = await queue.claim(CLAIM_LIMITS);
      lastLookAt = performance.now();
      take(claimed);
      if (!isAll || relayed === "more") return "more";
      return claimed.length > 0 ? "some" : "nothing";
    } catch (error) {
      log.warn({ err: error }, "nothing could be claimed");
      return "nothing";
    }
  }

  function unsent(): Postponed[] {
    return lanes.takeAll().map((dispatch) => ({ dispatch, delayMs: 0 }));
  }

  async function relayOutbox(): Promise<"all" | "more"> {
    try {
      return await services.outbox.relay();
    } catch (error) {
      log.warn({ err: error }, "the outbox could not be relayed");
      return "all";
    }
  }

  return {
    start() {
      claiming ??= claimLoop();
    },
    wake: () => wakeUp.resolve(),
    withdraw(superseded) {
      giveBack(
        lanes.withdraw(superseded).map((dispatch) => ({ dispatch, delayMs: 0 })),
        "withdrawn",
      );
    },
    hasRoom: () => lanes.hasRoom && !stopping.signal.aborted,
    take,
    lastLookAt: () => lastLookAt,
    async stop() {
      stopping.abort();
      wakeUp.resolve();
      await claiming;
      giveBack(unsent(), "stopping");
      // What ends now may leave more behind: an attempt that was only to wait for its turn.
      while (running.size > 0) {
        await Promise.all(running);
        giveBack(unsent(), "stopping");
      }
    },
  };
}

function observe(completed: CompletedAttempt, metrics: Metrics): void {
  const reason = completed.error ?? (completed.status === "delivered" ? "none" : "status");
  metrics.attemptsTotal.inc({ outcome: completed.status, reason });
  metrics.attemptDuration.observe(completed.latencyMs / 1000);
  if (completed.status === "delivered" && completed.dispatch.attempt === 1) {
    metrics.deliveryLatency.observe(Math.max(0, Date.now() - idTimeMs(completed.dispatch.eventId)) / 1000);
  }
}
