/** One attempt: sign what is due with what the endpoint is now, send it, and judge the outcome. */
import type { SendTarget } from "../endpoints/send-target.ts";
import { longBodyOf } from "../outbound/response.ts";
import { buildRequestHeaders, headersForLog, withoutDerived } from "../outbound/request-headers.ts";
import type { Sender } from "../outbound/send.ts";
import { VERSION } from "../shared/version.ts";
import { judgeAttempt, type AttemptVerdict } from "./verdict.ts";
import type { CompletedAttempt, LeasedDispatch } from "../queue/queue.ts";

export type AttemptResult = {
  completed: CompletedAttempt;
  isGone: boolean;
  /** All that was read of the answer, where the tenant keeps it and it is more than the log does. */
  longResponseBody: Buffer | null;
};

export type AttemptServices = { sender: Pick<Sender, "send">; scheduleMs: readonly number[] };

export async function makeAttempt(
  dispatch: LeasedDispatch,
  target: SendTarget,
  services: AttemptServices,
): Promise<AttemptResult> {
  const sentAt = new Date();
  const headers = buildRequestHeaders({
    version: VERSION,
    eventType: dispatch.eventType,
    deliveryLabel: dispatch.id,
    webhookId: dispatch.eventId,
    timestampSeconds: Math.floor(sentAt.getTime() / 1000),
    body: dispatch.body,
    signingKeys: target.signingKeys,
    staticHeaders: target.headers,
  });
  const outcome = await services.sender.send({
    url: target.url,
    headers,
    body: dispatch.body,
    keepsWholeBody: target.keeps !== null && target.keeps.responseBodies,
  });
  const verdict = judgeAttempt(outcome, dispatch.attempt, {
    scheduleMs: services.scheduleMs,
    random: Math.random(),
    now: new Date(),
  });
  const { isGone, ...recorded } = verdict;
  return {
    completed: { dispatch, sentAt, requestHeaders: withoutDerived(headersForLog(headers)), ...recorded },
    isGone,
    longResponseBody: longBodyOf(outcome),
  };
}

/** For an endpoint that was deleted after its dispatch was leased: the attempt ends without a request. */
export function endpointDeleted(dispatch: LeasedDispatch): CompletedAttempt {
  return failedUnsent(dispatch, "endpoint_deleted");
}

/** For an event that is gone: there is nothing left to send, now or later. */
export function eventGone(dispatch: LeasedDispatch): CompletedAttempt {
  return failedUnsent(dispatch, null);
}

function failedUnsent(dispatch: LeasedDispatch, error: "endpoint_deleted" | null): CompletedAttempt {
  const nothing: Omit<AttemptVerdict, "isGone"> = {
    status: "failed",
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    latencyMs: 0,
    error,
    nextDelayMs: null,
  };
  return { dispatch, sentAt: null, requestHeaders: {}, ...nothing };
}
