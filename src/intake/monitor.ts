/** How the intake's stream is, for readiness and the metrics. */
import type { Clock } from "../shared/clock.ts";
import { messageOf } from "../shared/message-of.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { StoreWatch } from "./store-watch.ts";
import type { IntakeStream } from "./stream.ts";

const STATUS_LIMIT_MS = 3000;
/** The servers are asked at most once in this time. */
const KEPT_MS = 1000;

export type IntakeMonitor = {
  /** Brings the gauges up to date. Why the stream takes no events, with what to do; null where it does. */
  look(): Promise<string | null>;
};

const noAnswer = () => new Error("no answer");

export function makeIntakeMonitor(
  stream: Pick<IntakeStream, "status"> & { stores: Pick<StoreWatch, "failure"> },
  metrics: Pick<Metrics, "watchIntake" | "intakeOldestAge">,
  clock: Clock,
): IntakeMonitor {
  const gauges = metrics.watchIntake();
  let last: { trouble: Promise<string | null>; endsAtMs: number } | null = null;

  async function measure(): Promise<string | null> {
    try {
      const status = await withinLimit(stream.status(), STATUS_LIMIT_MS, noAnswer);
      const taken = status.taken ?? 0;
      gauges.messages.set({ state: "taken" }, taken);
      gauges.messages.set({ state: "ready" }, Math.max(status.messages - taken, 0));
      const { oldestAtMs } = status;
      metrics.intakeOldestAge.set(oldestAtMs === null ? 0 : Math.max(Date.now() - oldestAtMs, 0) / 1000);
      gauges.replicas.set(status.current);
      if (status.leader === null || status.current <= status.replicas / 2)
        return "the intake's stream has no majority of its replicas: start the missing NATS servers";
      if (status.takesNone !== null)
        return `the intake's stream takes nothing (${status.takesNone}): see \`postern doctor\``;
      const failure = stream.stores.failure();
      if (failure === null) return null;
      return `the intake's stream takes nothing (${failure}): see the logs of the NATS servers, and their disks`;
    } catch (error) {
      gauges.replicas.set(0);
      return `the intake's stream does not answer (${messageOf(error)}): check INTAKE_URL and the NATS servers`;
    }
  }

  return {
    look() {
      if (last === null || clock.nowMs() >= last.endsAtMs)
        last = { trouble: measure(), endsAtMs: clock.nowMs() + KEPT_MS };
      return last.trouble;
    },
  };
}
