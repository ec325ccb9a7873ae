/** What an attempt's outcome means for its event: delivered, tried again, or given up. Pure. */
import { isSuccess } from "../outbound/response.ts";
import type { SendOutcome } from "../outbound/send.ts";
import type { CompletedAttempt } from "../queue/queue.ts";
import { nextDelayMs, parseRetryAfterMs } from "./retry-schedule.ts";

export type AttemptVerdict = Omit<
  CompletedAttempt,
  "dispatch" | "sentAt" | "requestHeaders" | "exhausted" | "toKeep"
> & {
  /** The receiver said that it is gone for good. */
  isGone: boolean;
};

export function judgeAttempt(
  outcome: SendOutcome,
  attempt: number,
  circumstances: { scheduleMs: readonly number[]; random: number; now: Date },
): AttemptVerdict {
  const { scheduleMs, random, now } = circumstances;
  if (outcome.kind !== "answered") {
    return {
      status: "failed",
      responseStatus: null,
      responseHeaders: null,
      responseBody: null,
      latencyMs: outcome.kind === "failed" ? outcome.latencyMs : 0,
      error: outcome.kind === "failed" ? outcome.error : "blocked_target",
      nextDelayMs: nextDelayMs(attempt, scheduleMs, { random, retryAfterMs: null }),
      isGone: false,
    };
  }
  const isDelivered = isSuccess(outcome.status);
  const mayAskToWait = outcome.status === 429 || outcome.status === 503;
  const retryAfterMs = mayAskToWait ? parseRetryAfterMs(outcome.headers["retry-after"], now) : null;
  return {
    status: isDelivered ? "delivered" : "failed",
    responseStatus: outcome.status,
    responseHeaders: outcome.headers,
    responseBody: outcome.body,
    latencyMs: outcome.latencyMs,
    error: null,
    nextDelayMs: isDelivered ? null : nextDelayMs(attempt, scheduleMs, { random, retryAfterMs }),
    isGone: outcome.status === 410,
  };
}
