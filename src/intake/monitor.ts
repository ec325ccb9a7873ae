/** How the intake's stream is, for readiness and the metrics. */
import { messageOf } from "../shared/message-of.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { IntakeStream } from "./stream.ts";

const STATUS_LIMIT_MS = 3000;

export type IntakeMonitor = {
  /** Brings the gauges up to date. Why the stream takes no events, with what to do; null where it does. */
  look(): Promise<string | null>;
};

type Gauges = Pick<Metrics, "intakeMessages" | "intakeOldestAge" | "intakeReplicas">;

const noAnswer = () => new Error("no answer");

export function makeIntakeMonitor(stream: Pick<IntakeStream, "status">, metrics: Gauges): IntakeMonitor {
  return {
    async look() {
      try {
        const status = await withinLimit(stream.status(), STATUS_LIMIT_MS, noAnswer);
        const taken = status.taken ?? 0;
        metrics.intakeMessages.set({ state: "taken" }, taken);
        metrics.intakeMessages.set({ state: "ready" }, Math.max(status.messages - taken, 0));
        const { oldestAtMs } = status;
        metrics.intakeOldestAge.set(oldestAtMs === null ? 0 : Math.max(Date.now() - oldestAtMs, 0) / 1000);
        metrics.intakeReplicas.set(status.current);
        if (status.leader !== null && status.current > status.replicas / 2) return null;
        return "the intake's stream has no majority of its replicas: start the missing NATS servers";
      } catch (error) {
        metrics.intakeReplicas.set(0);
        return `the intake's stream does not answer (${messageOf(error)}): check INTAKE_URL and the NATS servers`;
      }
    },
  };
}
