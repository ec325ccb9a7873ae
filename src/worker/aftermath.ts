/** The side effects of an attempt: the endpoint's health, refused targets, metrics. */
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import { idTimeMs } from "../shared/id.ts";
import type { CompletedAttempt } from "../queue/queue.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { AttemptResult } from "./attempt.ts";
import type { TargetCache } from "./target-cache.ts";

export type AftermathServices = {
  targets: Pick<TargetCache, "forget">;
  health: EndpointHealth;
  /** Called for each attempt that was not made because its target is not public. */
  blockedTarget: (target: SendTarget) => void;
  log: Log;
  metrics: Pick<Metrics, "attemptsTotal" | "attemptDuration" | "deliveryLatency">;
};

export type Aftermath = (target: SendTarget, result: AttemptResult) => Promise<void>;

/** Ends before the outcome is recorded, because the next attempt must find the endpoint as this one left it. */
export function makeAftermath(services: AftermathServices): Aftermath {
  const { targets, health, log, metrics } = services;
  const tell = warnSeldom(log, "the endpoint's health could not be recorded");

  async function observeHealth(target: SendTarget, { completed, isGone }: AttemptResult): Promise<void> {
    try {
      if (await health.observe(target, { status: completed.status, isGone })) targets.forget(target);
    } catch (error) {
      // The next attempt observes again. The outcome of this one must not be lost because of it.
      tell(error, { endpointId: target.endpointId });
    }
  }

  return async (target, result) => {
    const { completed } = result;
    count(completed, metrics);
    if (completed.error === "blocked_target") services.blockedTarget(target);
    await observeHealth(target, result);
  };
}

function count(completed: CompletedAttempt, metrics: AftermathServices["metrics"]): void {
  const reason = completed.error ?? (completed.status === "delivered" ? "none" : "status");
  metrics.attemptsTotal.inc({ outcome: completed.status, reason });
  metrics.attemptDuration.observe(completed.latencyMs / 1000);
  const { attempt, once, eventId } = completed.dispatch;
  if (completed.status === "delivered" && attempt === 1 && !once) {
    metrics.deliveryLatency.observe(Math.max(0, Date.now() - idTimeMs(eventId)) / 1000);
  }
}
