/** What follows an attempt beside its outcome: the endpoint's health, a refused target, kept bodies, figures. */
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import { idTimeMs } from "../shared/id.ts";
import type { CompletedAttempt, LeasedDispatch } from "../queue/queue.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { KeptBodies } from "../storage/artifacts/kept-bodies.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { AttemptResult } from "./attempt.ts";
import type { TargetCache } from "./target-cache.ts";

export type AftermathServices = {
  targets: Pick<TargetCache, "forget">;
  health: EndpointHealth;
  /** Told of each attempt that was not made because its target is not public. */
  blockedTarget: (target: SendTarget) => void;
  artifacts: Pick<ArtifactKeeper, "keep">;
  log: Log;
  metrics: Pick<Metrics, "attemptsTotal" | "attemptDuration" | "deliveryLatency">;
};

export type Aftermath = (target: SendTarget, result: AttemptResult) => Promise<void>;

/** Ends before the outcome is recorded, for the next attempt must find the endpoint as this one left it. */
export function makeAftermath(services: AftermathServices): Aftermath {
  const { targets, health, log, metrics } = services;

  async function observeHealth(target: SendTarget, { completed, isGone }: AttemptResult): Promise<void> {
    try {
      if (await health.observe(target, { status: completed.status, isGone })) targets.forget(target);
    } catch (error) {
      // The next attempt observes again; the outcome of this one must not be lost over it.
      log.warn({ err: error, endpointId: target.endpointId }, "the endpoint's health could not be noted");
    }
  }

  /** Beside recording: neither waits for the other. */
  function keepBodies(dispatch: LeasedDispatch, keeps: KeptBodies, longResponseBody: Buffer | null): void {
    const { tenantId, id: deliveryId, attempt, body: requestBody } = dispatch;
    services.artifacts.keep({ tenantId, deliveryId, attempt, requestBody, longResponseBody, keeps });
  }

  return async (target, result) => {
    const { completed, longResponseBody } = result;
    count(completed, metrics);
    if (completed.error === "blocked_target") services.blockedTarget(target);
    if (target.keeps !== null) keepBodies(completed.dispatch, target.keeps, longResponseBody);
    await observeHealth(target, result);
  };
}

function count(completed: CompletedAttempt, metrics: AftermathServices["metrics"]): void {
  const reason = completed.error ?? (completed.status === "delivered" ? "none" : "status");
  metrics.attemptsTotal.inc({ outcome: completed.status, reason });
  metrics.attemptDuration.observe(completed.latencyMs / 1000);
  if (completed.status === "delivered" && completed.dispatch.attempt === 1) {
    metrics.deliveryLatency.observe(Math.max(0, Date.now() - idTimeMs(completed.dispatch.eventId)) / 1000);
  }
}
